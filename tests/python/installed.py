"""The package as a wheel installs it, in an environment of its own.

What CMake installs as the component `python` is what a wheel holds; taking it from the build folder
compiles nothing anew.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("EINKORN_BUILD_DIR", SOURCE / "build")).resolve()
# What the package needs at run time, and NVRTC.
NEEDED = ("tvm_ffi", "typing_extensions.py", "numpy", "numpy.libs", "nvidia")


def cmake() -> str:
    text = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
    return re.search(r"^CMAKE_COMMAND:INTERNAL=(.*)$", text, re.M)[1]


class Installed:
    """An environment with einkorn, `needed`, and nothing else. Nobody activates it."""

    def __init__(self, root: pathlib.Path, needed: tuple[str, ...] = NEEDED) -> None:
        self.python = root / "venv" / "bin" / "python"
        self.elsewhere = root / "elsewhere"
        self.elsewhere.mkdir()
        subprocess.run(
            [sys.executable, "-m", "venv", "--without-pip", str(root / "venv")], check=True
        )
        minor = f"python{sys.version_info.major}.{sys.version_info.minor}"
        self.site = root / "venv" / "lib" / minor / "site-packages"
        self.package = self.site / "einkorn"
        own = pathlib.Path(sysconfig.get_path("purelib"))
        for name in needed:
            if (own / name).exists():
                (self.site / name).symlink_to(own / name)
        command = [cmake(), "--install", str(BUILD), "--component", "python"]
        subprocess.run([*command, "--prefix", str(self.site)], check=True, capture_output=True)

    def run(self, *words: str) -> str:
        """Output of this environment's Python; one that fails is an assertion with its errors."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("EINKORN_", "PYTHON", "CUDA_")) and name != "VIRTUAL_ENV"
        }
        kept["EINKORN_CACHE_DIR"] = str(self.elsewhere / "cache")
        # Not what a toolkit on this machine has.
        kept.pop("LD_LIBRARY_PATH", None)
        done = subprocess.run(
            [str(self.python), *words],
            cwd=self.elsewhere,
            env=kept,
            capture_output=True,
            text=True,
            timeout=300,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def dynamic(self, file: pathlib.Path, tag: str) -> list[str]:
        """Values of a tag in a shared object's dynamic section."""
        words = [shutil.which("readelf") or "readelf", "-dW", str(file)]
        text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        return re.findall(rf"\({tag}\).*\[(.*)\]", text)
