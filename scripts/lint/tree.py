"""The files a rule looks at, and what it reports."""

import dataclasses
import functools
import os
import pathlib
import subprocess
from collections.abc import Iterator

SKIPPED_FOLDERS = {".git", ".venv", ".deps", ".whl", "build", "__pycache__", ".ruff_cache"}
# In the styles of others, to be surveyed.
FOREIGN = "tests/port/repos/"


@dataclasses.dataclass(frozen=True)
class Problem:
    path: str
    line: int  # from 1; 0: the file as a whole
    message: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.message}"


class Tree:
    """All files of ours that are tracked or might be, by path relative to the root."""

    def __init__(self, root: pathlib.Path):
        self.root = root

    @functools.cached_property
    def files(self) -> list[str]:
        listed = self._listed() if (self.root / ".git").exists() else self._walked()
        return sorted(name for name in listed if not name.startswith(FOREIGN))

    def _listed(self) -> Iterator[str]:
        command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
        done = subprocess.run(command, cwd=self.root, check=True, capture_output=True, text=True)
        # A file that is deleted but still in the index is listed, too.
        return (name for name in set(done.stdout.splitlines()) if (self.root / name).is_file())

    def _walked(self) -> Iterator[str]:
        for folder, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
            for name in names:
                yield os.path.relpath(os.path.join(folder, name), self.root)

    def matching(self, *endings: str, under: str = "") -> list[str]:
        return [name for name in self.files if name.startswith(under) and name.endswith(endings)]

    def has(self, name: str) -> bool:
        return (self.root / name).is_file()

    def text(self, name: str) -> str:
        return (self.root / name).read_text(encoding="utf-8", errors="replace")

    def lines(self, name: str) -> list[str]:
        return self.text(name).splitlines()


def line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
