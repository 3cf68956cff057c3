"""einkorn cache: on caches that are read-only, shared, full, damaged. Without a GPU."""

import functools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest
from conftest import BIN, NO_GPU, clean_environment

# Compiled by the system's C++ compiler, which is everywhere and reads headers.
SOURCE = 'extern "C" void f{number}(float* p) {{ *p = {number}; }}\n'
NOBODY, SOMEBODY = 65534, 65533


class Cache:
    def __init__(self, root: pathlib.Path, folder: pathlib.Path):
        self.root = root
        self.folder = folder
        self.user = None
        self.variables = {}

    def run(self, *words, **variables):
        environment = clean_environment(
            **(NO_GPU | {"EINKORN_CACHE_DIR": str(self.root)} | self.variables | variables)
        )
        user = {} if self.user is None else {
            "user": self.user, "group": self.user, "extra_groups": []
        }  # fmt: skip
        return subprocess.run(
            [str(BIN), *map(str, words)], env=environment, capture_output=True, text=True,
            timeout=120, check=False, cwd=self.folder, **user,
        )  # fmt: skip

    def json(self, *words, status=0):
        done = self.run(*words, "--json")
        assert done.returncode == status, done.stderr
        return json.loads(done.stdout)

    def compile(self, number=1, **variables):
        source = self.folder / f"f{number}.cc"
        if not source.exists():
            source.write_text(SOURCE.format(number=number))
        return self.run("jit", "compile", source, "--cpu", "--entry", f"f{number}", **variables)

    def files(self):
        return [path for path in (self.root / "v1").rglob("*") if path.is_file()]


@pytest.fixture
def cache(tmp_path):
    folder = tmp_path / "sources"
    folder.mkdir()
    return Cache(tmp_path / "cache", folder)


@pytest.fixture
def read_only(cache, tmp_path):
    """Makes the cache a mount where nothing can be written."""
    view = tmp_path / "view"
    view.mkdir()
    mount = shutil.which("mount") or "mount"
    steps = ([mount, "--bind", cache.root, view], [mount, "-o", "remount,ro,bind", view])

    def make():
        for step in steps:
            done = subprocess.run(step, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                pytest.skip(f"no folder can be mounted here: {done.stderr.strip()}")
        cache.root = view

    yield make
    subprocess.run(["umount", view], capture_output=True, check=False)


@pytest.fixture
def two_users(cache, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only user 0 can act as other users")
    # Others reach the cache, which pytest's folders keep them from.
    folder = tmp_path
    while folder.stat().st_uid == 0 and folder.stat().st_mode & 0o005 != 0o005:
        folder.chmod(folder.stat().st_mode | 0o055)
        folder = folder.parent
    cache.folder.chmod(0o777)
    cache.root.mkdir()
    cache.root.chmod(0o1777)
    return cache


def test_a_read_only_cache_serves(cache, read_only):
    assert cache.compile().returncode == 0
    read_only()
    hit = cache.compile(EINKORN_JIT="cache-only")
    assert (hit.returncode, hit.stderr) == (0, "")
    new = cache.compile(2)
    assert new.returncode == 0
    assert "is only read from, what it lacks is kept in memory: Read-only file system" in new.stderr
    assert len(cache.json("cache", "ls")) == 1
    assert cache.json("cache", "stat")["read_only"] == "Read-only file system"
    assert cache.json("cache", "verify")["unsound"] == []
    for verb in ("gc", "clear"):
        done = cache.run("cache", verb)
        assert done.returncode == 1
        assert "expected a folder that can be written to, got one that is only read" in done.stderr


def test_two_users_share_a_trusted_cache(two_users):
    cache = two_users
    cache.variables = {"EINKORN_CACHE_TRUST": "1"}
    for number, user in ((1, NOBODY), (2, SOMEBODY)):
        cache.user = user
        done = cache.compile(number)
        assert (done.returncode, done.stderr) == (0, "")
    served = cache.compile(1, EINKORN_JIT="cache-only")
    assert (served.returncode, served.stderr) == (0, "")
    assert len(cache.json("cache", "ls")) == 2
    assert cache.json("cache", "verify")["unsound"] == []


def test_a_cache_that_cannot_be_read_is_not_called_empty(two_users):
    cache = two_users
    cache.variables = {"EINKORN_CACHE_TRUST": "1"}
    cache.user = NOBODY
    assert cache.compile().returncode == 0
    (cache.root / "v1").chmod(0o700)
    cache.user = SOMEBODY
    reason = f"{cache.root}/v1: cannot be read: Permission denied"
    for verb in ("ls", "stat", "gc"):
        done = cache.run("cache", verb)
        assert done.returncode == 1, verb
        assert reason in done.stderr
    done = cache.run("cache", "verify")
    assert done.returncode == 1
    assert reason in done.stdout


def test_the_cap_holds_for_all_that_is_on_the_disk(cache):
    dead = cache.root / "v1" / "tmp" / "999-dead" / "artifact.bin"
    dead.parent.mkdir(parents=True)
    cache.root.chmod(0o700)
    dead.write_bytes(b"x" * 3_000_000)
    assert cache.json("cache", "stat")["bytes"] >= 3_000_000
    then = time.time() - 3 * 24 * 3600
    os.utime(dead.parent, (then, then))
    for number in range(12):
        assert cache.compile(number, EINKORN_CACHE_MAX="400K").returncode == 0
    assert not dead.parent.exists()
    blocks = sum(path.lstat().st_blocks for path in (cache.root / "v1").rglob("*"))
    assert 512 * blocks <= 400 << 10
    assert cache.json("cache", "ls")
    cache.json("cache", "gc", "--max", "1")
    assert sorted(path.name for path in cache.files()) == ["lock", "size"]


def test_gc_removes_what_verify_finds(cache):
    for number in range(3):
        assert cache.compile(number).returncode == 0
    first, second, _ = (cache.root / "v1").rglob("artifact.bin")
    first.write_bytes(first.read_bytes()[:-1])
    second.with_name("meta.json").write_text("{")
    done = cache.run("cache", "verify")
    assert done.returncode == 1
    assert "3 kernels, 2 unsound\nhint: einkorn cache gc removes what is unsound\n" in done.stdout
    for number in range(3):  # the damaged one goes to quarantine and is built again
        assert cache.compile(number).returncode == 0
    reasons = [one["reason"] for one in cache.json("cache", "verify", status=1)["unsound"]]
    assert sorted(reasons) == ["found damaged by a reader", "meta.json has another form"]
    assert cache.json("cache", "gc")["unsound"] == 1
    assert cache.run("cache", "verify").stdout == "2 kernels, 0 unsound\n"


def test_a_variable_that_means_nothing_is_bad_usage_everywhere(cache, tmp_path):
    verbs = (("cache", "stat"), ("cache", "gc"), ("doctor",), ("jit", "explain-key", "a", "b"),
             ("pack", "--arch", "sm_80", "--output", tmp_path / "pack"))  # fmt: skip
    runs = [functools.partial(cache.run, *words) for words in verbs] + [cache.compile]
    for run in runs:
        done = run(EINKORN_CACHE_MAX="10GB")
        assert done.returncode == 2
        assert done.stderr == (
            "einkorn: error: EINKORN_CACHE_MAX: expected bytes such as 512M or 10G "
            '(units: K, M, G, T), got "10GB"\n'
        )


@pytest.fixture
def slow_compiler(tmp_path):
    """A C++ compiler that takes a minute over what the first process gives it."""
    real = shutil.which("c++")
    if real is None:
        pytest.skip("no c++ is here")
    script = tmp_path / "c++"
    script.write_text(f'#!/bin/sh\n[ -z "$SLOW" ] || case "$*" in *-shared*) sleep 60;; esac\n'
                      f'exec {real} "$@"\n')  # fmt: skip
    script.chmod(0o755)
    return script


def test_a_wait_for_another_process_is_told_and_bounded(cache, slow_compiler):
    cache.variables = {"EINKORN_HOST_CXX": str(slow_compiler)}
    source = cache.folder / "f1.cc"
    source.write_text(SOURCE.format(number=1))
    words = [str(BIN), "jit", "compile", str(source), "--cpu", "--entry", "f1"]
    environment = clean_environment(
        **NO_GPU, SLOW="1", EINKORN_CACHE_DIR=str(cache.root), **cache.variables
    )
    with subprocess.Popen(words, env=environment, start_new_session=True) as other:
        try:
            lock = cache.root / "v1" / "lock"
            while not lock.exists():
                assert other.poll() is None
                time.sleep(0.01)
            time.sleep(0.5)
            start = time.monotonic()
            done = cache.run(*words[1:], "--time-limit", "2")
            assert time.monotonic() - start < 30
        finally:
            os.killpg(other.pid, signal.SIGKILL)
    assert done.returncode == 0, done.stderr
    assert (
        f"f1.cc: process {other.pid} compiles the same kernel; waiting for it, at most 2 s"
        in done.stderr
    )
