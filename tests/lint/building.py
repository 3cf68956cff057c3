"""What the tests of the tree share: where source and build are, and how the build compiles."""

import os
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("EINKORN_BUILD_DIR", SOURCE / "build")).resolve()
CXX = os.environ.get("EINKORN_CXX", "c++")

sys.path.insert(0, str(SOURCE / "scripts"))


def cache() -> dict[str, str]:
    """The build's settings."""
    text = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
    return dict(re.findall(r"^(\w+):\w+=(.*)$", text, re.M))


def built_arches() -> list[str]:
    known = re.findall(r"^EK_ARCH\((\w+)", (SOURCE / "ops/arches.inc").read_text(), re.M)
    wanted = cache().get("EK_ARCHES", "all")
    return known if wanted == "all" else wanted.split(";")


def compile_flags() -> list[str]:
    """For a source that includes einkorn's private headers."""
    settings = cache()
    known = re.findall(r"^EK_ARCH\((\w+)", (SOURCE / "ops/arches.inc").read_text(), re.M)
    built = built_arches()
    flags = ["-std=c++20", "-O0", *sanitizer_flags()]
    flags += [f"-DEK_BUILT_{name}={int(name in built)}" for name in known]
    flags += ["-I", str(SOURCE / "include"), "-I", str(SOURCE)]
    flags += ["-isystem", settings["EK_fmt_INCLUDE"], "-isystem", settings["EK_dlpack_INCLUDE"]]
    return flags


def link_flags() -> list[str]:
    """For an executable linked against the static library."""
    settings = cache()
    libraries = [settings[f"EK_{name}_LIBRARY"] for name in ("fmt", "hwy", "tbb", "b2")]
    folders = {str(pathlib.Path(path).parent) for path in libraries}
    paths = [f"-Wl,-rpath,{folder}" for folder in sorted(folders)]
    return [*sanitizer_flags(), str(BUILD / "libeinkorn.a"), *libraries, *paths, "-ldl", "-pthread"]


def sanitizer_flags() -> list[str]:
    sanitizers = cache().get("EK_SANITIZE", "")
    return [f"-fsanitize={sanitizers}"] if sanitizers else []
