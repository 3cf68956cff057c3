"""Variants that installed packages bring: the entry points of the group einkorn.variants.

Each test has an interpreter of its own, and packages as pip would leave them, on its path.
"""

from interpreter import works

KERNELS = """
import einkorn, numpy as np

@einkorn.variant("rms_norm", "{name}", arrays="numpy")
def ones(x, weight, residual, *, eps, offset, rounding):
    return np.ones_like(x)
"""
# As an entry point that is called.
CALLABLE = """
import einkorn, numpy as np

def register():
    @einkorn.variant("rms_norm", "{name}", arrays="numpy")
    def ones(x, weight, residual, *, eps, offset, rounding):
        return np.ones_like(x)
"""
NAMES = """
import einkorn
def names(): return {row["name"] for row in einkorn.variants("rms_norm")}
"""


def package(folder, name, code, target):
    """The distribution `name`, with a module of that name with - as _."""
    (folder / f"{name.replace('-', '_')}.py").write_text(code)
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[einkorn.variants]\nmine = {target}\n")


def run(folder, *words, **variables):
    return works(*words, folder=folder, **{"EINKORN_ENTRY_POINTS": "on", **variables})


def test_variants_of_packages_are_there(tmp_path):
    package(tmp_path, "as-module", KERNELS.format(name="of_module"), "as_module")
    package(tmp_path, "as-callable", CALLABLE.format(name="of_call"), "as_callable:register")
    run(
        tmp_path,
        "-c",
        NAMES + "assert {'python/of_module_v1', 'python/of_call_v1'} <= names(), names()\n"
        "import numpy as np\n"
        "assert (einkorn.ops.rms_norm(np.zeros((2, 8), 'f4')) == 0).all()\n",
    )


def test_a_call_finds_them_first(tmp_path):
    package(tmp_path, "as-module", KERNELS.format(name="mine"), "as_module")
    run(
        tmp_path,
        "-c",
        "import einkorn, numpy as np\nx = np.zeros((2, 8), 'f4')\n"
        "assert (einkorn.ops.rms_norm(x, variant='python/mine_v1') == 1).all()",
    )


def test_the_command_lists_them(tmp_path):
    package(tmp_path, "as-module", KERNELS.format(name="mine"), "as_module")
    words = ("-m", "einkorn", "list", "variants")
    assert "python/mine_v1" in run(tmp_path, *words)
    assert "python/mine_v1" not in run(tmp_path, *words, EINKORN_ENTRY_POINTS="off")


def test_off_leaves_them_out(tmp_path):
    package(tmp_path, "broken", "raise RuntimeError('not to be imported')", "broken")
    code = NAMES + "import sys\nassert not {one for one in names() if one.startswith('python/')}\n"
    code += "assert 'broken' not in sys.modules"
    run(tmp_path, "-c", code, EINKORN_ENTRY_POINTS="off")


def test_one_that_raises_is_named_and_may_be_repaired(tmp_path):
    """Those before it are not called a second time, for their names would be taken."""
    package(tmp_path, "broken", "raise OSError('libnpu.so: no such file')", "broken")
    for one in ("aa", "zz"):
        package(tmp_path, one, CALLABLE.format(name=one), f"{one}:register")
    run(
        tmp_path,
        "-c",
        NAMES
        + """
import pathlib, sys, numpy as np
x = np.zeros((2, 8), "f4")
for use in (names, einkorn.dump, lambda: einkorn.explain("rms_norm"),
            lambda: einkorn.OpConfig({"rms_norm": "auto"}).check(),
            lambda: einkorn.ops.rms_norm(x)):
    try:
        use()
    except ImportError as error:
        text = str(error)
        for part in ("'mine'", "package broken", "libnpu.so: no such file", "broken.py", "line 1",
                     "EINKORN_ENTRY_POINTS=off"):
            assert part in text, (part, text)
        assert isinstance(error.__cause__, OSError), repr(error.__cause__)
    else:
        raise AssertionError("nothing raised")
pathlib.Path("broken.py").write_text('''"""
        + KERNELS.format(name="repaired")
        + """''')
assert {"python/aa_v1", "python/repaired_v1", "python/zz_v1"} <= names(), names()
assert (einkorn.ops.rms_norm(x, variant="python/repaired_v1") == 1).all()
""",
        PYTHONDONTWRITEBYTECODE="1",
    )
