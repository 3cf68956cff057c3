"""What a wheel holds works where it is installed, and says of itself what is so."""

import importlib
import json
import re
import tomllib

import pytest
from installed import BUILD, SOURCE, Installed
from packaging.requirements import Requirement
from packaging.version import Version

PROJECT = tomllib.loads((SOURCE / "pyproject.toml").read_text(encoding="utf-8"))
METADATA = PROJECT["project"]

CALL = """
import json, sys
import einkorn, numpy as np
x = np.arange(1, 9, dtype=np.float32).reshape(2, 4)
y = einkorn.ops.rms_norm(x, None, eps=1e-6)
want = x / np.sqrt((x.astype(np.float64) ** 2).mean(-1, keepdims=True) + 1e-6)
print(json.dumps({"from": einkorn.__file__, "version": einkorn.__version__,
                  "error": float(abs(y - want).max()), "torch": "torch" in sys.modules}))
"""

KERNEL = 'extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }\n'


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Installed:
    return Installed(tmp_path_factory.mktemp("installed"))


def package_sources():
    paths = (SOURCE / "python" / "einkorn").rglob("*.py*")
    return [path for path in paths if path.suffix in (".py", ".pyi")]


def project_version() -> str:
    text = (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"^project\(einkorn VERSION ([0-9.]+) ", text, re.M)[1]


def test_it_holds_the_package_the_library_and_what_they_need(installed):
    modules = {str(path.relative_to(SOURCE / "python")) for path in package_sources()}
    held = {
        str(path.relative_to(installed.site))
        for path in installed.package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in held if name.endswith((".py", ".pyi"))} == modules
    library = {name.rsplit("/")[-1] for name in held if name.startswith("einkorn/lib/")}
    assert {"libeinkorn_python.so", "einkorn_jit_worker"} <= library
    other = held - modules - {f"einkorn/lib/{name}" for name in library} - {"einkorn/py.typed"}
    assert all(name.startswith("einkorn/licenses/") for name in other), other
    # Whoever's code is inside: linked, or compiled in from headers.
    for name in ("fmt", "hwy", "b2", "muparser", "nlohmann", "tomlplusplus", "cli11", "d3"):
        assert any(name in licence for licence in other), name


def test_nothing_in_it_knows_where_it_was_built(installed):
    folder = installed.package / "lib"
    own = [folder / "libeinkorn_python.so", folder / "einkorn_jit_worker"]
    beside = {path.name for path in folder.iterdir()}
    system = re.compile(r"lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+)\.so\.\d+|ld-linux.*\.so\.\d+")
    for file in own:
        assert installed.dynamic(file, "R(?:UN)?PATH") == ["$ORIGIN"]
        needed = installed.dynamic(file, "NEEDED")
        assert [name for name in needed if not system.fullmatch(name) and name not in beside] == []
        content = file.read_bytes()
        assert str(SOURCE).encode() not in content and str(BUILD).encode() not in content


def test_a_call_from_elsewhere(installed):
    found = json.loads(installed.run("-c", CALL))
    assert found["from"].startswith(str(installed.package))
    assert Version(found["version"].split()[0]).base_version == project_version()
    assert found["error"] < 1e-6
    assert not found["torch"]


def test_the_command(installed):
    module, function = METADATA["scripts"]["einkorn"].split(":")
    assert callable(getattr(importlib.import_module(module), function))
    # What the script of an entry point does.
    script = f"import sys; from {module} import {function}; sys.exit({function}())"
    rows = json.loads(installed.run("-c", script, "list", "--json"))
    assert any("rms_norm/cpu/rows_v1" in json.dumps(row) for row in rows)
    text = installed.run("-m", "einkorn", "explain", "rms_norm", "rows=7", "cols=33")
    assert "rms_norm/cpu/rows_v1" in text


def test_it_finds_nvrtc_beside_itself_and_compiles(installed):
    if not (installed.site / "nvidia").exists():
        pytest.skip("nvidia-cuda-nvrtc is not installed")
    source = installed.elsewhere / "twice.cu"
    source.write_text(KERNEL, encoding="utf-8")
    words = ("jit", "compile", str(source), "--entry", "twice", "--arch", "sm_90a", "--json")
    made = json.loads(installed.run("-m", "einkorn", *words))
    assert "compiled" in json.dumps(made)
    doctor = json.loads(installed.run("-m", "einkorn", "doctor", "--json"))
    nvrtc = next(row for row in doctor["libraries"] if row["library"] == "libnvrtc")
    assert str(installed.site) in json.dumps(nvrtc)


# Metadata


def test_the_version_is_that_of_cmake():
    (settings,) = PROJECT["tool"]["dynamic-metadata"]
    assert settings["field"] == "version"
    text = (SOURCE / settings["input"]).read_text(encoding="utf-8")
    assert re.search(settings["regex"], text, re.M)["value"] == project_version()
    assert METADATA["dynamic"] == ["version"]


def test_the_pins_are_within_what_the_package_asks_for():
    pins = {}
    for name in ("requirements.txt", "requirements-frameworks.txt"):
        text = (SOURCE / "scripts" / name).read_text(encoding="utf-8")
        pins.update(re.findall(r"^([\w.-]+)==([^\s#]+)", text, re.M))
    asked = [*METADATA["dependencies"], *PROJECT["build-system"]["requires"]]
    for extra in METADATA["optional-dependencies"].values():
        asked += extra
    for requirement in map(Requirement, asked):
        assert requirement.specifier.contains(pins[requirement.name]), requirement


def test_files_named_in_the_metadata_exist():
    assert (SOURCE / METADATA["readme"]).is_file()
    assert all((SOURCE / name).is_file() for name in METADATA["license-files"])
