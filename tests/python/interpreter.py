"""An interpreter of its own, since what is imported stays; and what a thread does meanwhile."""

import os
import pathlib
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def run(
    *words: str, folder: pathlib.Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """This checkout's package, and what is in the folder, can be imported."""
    path = [str(SOURCE / "python"), *([str(folder)] if folder else [])]
    if given := os.environ.get("PYTHONPATH"):
        path.append(given)
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path), **variables},
        capture_output=True,
        text=True,
        timeout=300,
    )


def works(*words: str, folder: pathlib.Path | None = None, **variables: str) -> str:
    """The output; one that fails is an assertion with its errors."""
    done = run(*words, folder=folder, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def counted_while(work: Callable[[], Any]) -> int:
    """How far another thread counts meanwhile. With Python's lock held it is 0, or a few hundred of
    the moments around the call."""
    counted, stop = 0, threading.Event()

    def count() -> None:
        nonlocal counted
        while not stop.is_set():
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    before = counted
    try:
        work()
        return counted - before
    finally:
        stop.set()
        thread.join()
