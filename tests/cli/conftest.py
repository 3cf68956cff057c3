"""Runs the command as a user would: EINKORN_BIN names it (default build/einkorn)."""

import atexit
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = SOURCE / "tests" / "golden" / "cli"
BIN = pathlib.Path(os.environ.get("EINKORN_BIN", SOURCE / "build" / "einkorn")).resolve()
# Compiled kernels of this run: neither those of the user nor those of an earlier run.
CACHE = tempfile.mkdtemp(prefix="einkorn-test-cache-")
atexit.register(shutil.rmtree, CACHE, ignore_errors=True)


@dataclasses.dataclass
class Result:
    status: int
    out: str
    err: str

    def json(self):
        return json.loads(self.out)


def clean_environment(**extra: str) -> dict[str, str]:
    """The environment without variables of ours, so that a developer's do not decide tests."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("EINKORN_")}
    return {**kept, "EINKORN_CACHE_DIR": CACHE, **extra}


def run_einkorn(*arguments: str, cwd=None, timeout: float = 300, **extra: str) -> Result:
    done = subprocess.run(
        [str(BIN), *arguments],
        env=clean_environment(**extra),
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
    )
    return Result(done.returncode, done.stdout, done.stderr)


# A driver that is named and missing: the machine has no GPU for the command.
NO_GPU = {"EINKORN_LIBCUDA": "/nonexistent/libcuda.so.1"}


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden/cli")


@pytest.fixture
def einkorn():
    return run_einkorn


@pytest.fixture
def alone(tmp_path):
    """Runs the command in tmp_path, with a cache below it and without a GPU."""

    def run(*words, timeout: float = 120, **variables):
        environment = clean_environment(
            **(NO_GPU | {"EINKORN_CACHE_DIR": str(tmp_path / "cache")} | variables)
        )
        return subprocess.run(
            [str(BIN), *map(str, words)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
        )

    return run


@pytest.fixture
def golden(request):
    """Compares a text with a file of tests/golden/cli, or writes it with --update-golden."""

    def compare(name: str, text: str):
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), f"{path} differs; see --update-golden"

    return compare


def is_sanitized() -> bool:
    """Sanitizers bring their run-time libraries, which makes every start slow."""
    content = BIN.read_bytes()
    return any(mark in content for mark in (b"__asan_init", b"__tsan_init", b"__ubsan_handle"))
