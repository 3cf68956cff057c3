"""The files of a surveyed repository: found, read and searched; nothing of it is run or changed.

Symbolic links are followed inside the root only: a link that leads outside would make the survey
depend on what else is on the machine.
"""

import os
import pathlib
import re

from einkorn.port.errors import PortError
from einkorn.port.model import Gap
from einkorn.port.sources import licences, repository

CPP_SUFFIXES = (
    *(".h", ".hh", ".hpp", ".hxx", ".cuh", ".inc", ".inl", ".ipp"),
    *(".c", ".cc", ".cpp", ".cxx", ".cu"),
)
SKIPPED_FOLDERS = {
    ".git",
    ".hg",
    ".svn",
    "build",
    "node_modules",
    "__pycache__",
    ".venv",
    ".mypy_cache",
    ".pytest_cache",
}
_TEST_FILE = re.compile(r"(^|[/_.-])(tests?|unittests?|gtests?)([/_.-]|$)", re.IGNORECASE)
# Larger files are data in a source's clothes, such as embedded tables: no kernel lies there.
_LARGEST_BYTES = 8 << 20


class SourceTree:
    """The regular files under `root`. Raises PortError where `root` is no folder."""

    def __init__(self, root: pathlib.Path) -> None:
        if not root.is_dir():
            raise PortError(
                "root",
                "a folder with the sources to survey",
                f"'{root}'" + ("" if root.exists() else ", which does not exist"),
            )
        self.root = root.resolve()
        self.gaps: list[Gap] = []
        self._texts: dict[str, str] = {}
        self._words: dict[str, frozenset[str]] = {}
        self.files = sorted(self._find())
        self.cpp_files = [file for file in self.files if _suffix(file) in CPP_SUFFIXES]
        self.python_files = [file for file in self.files if _suffix(file) == ".py"]

    def text(self, file: str) -> str:
        """The file's text; "" and a Gap where it can't be read. `file` is relative to the root."""
        if file not in self._texts:
            self._texts[file] = self._read(file)
        return self._texts[file]

    def words(self, file: str) -> frozenset[str]:
        """All identifiers that the file's text holds, comments and strings included."""
        if file not in self._words:
            self._words[file] = frozenset(re.findall(r"[A-Za-z_]\w*", self.text(file)))
        return self._words[file]

    def containing(self, word: str, files: list[str]) -> list[str]:
        """Those of `files` whose text holds `word` as a whole identifier."""
        found = [file for file in files if word in self.text(file)]
        if not re.fullmatch(r"\w+", word):
            return found
        whole = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
        return [file for file in found if whole.search(self.text(file))]

    def is_test(self, file: str) -> bool:
        """Whether the path says so: a folder or a part of the name is `test` or `tests`."""
        return bool(_TEST_FILE.search(file)) or pathlib.PurePosixPath(file).name == "conftest.py"

    def repository(self) -> dict[str, str]:
        """`url`, `commit` and `licence` (SPDX), "" where unknown. Reads .git; runs nothing."""
        found = repository.read(self.root)
        own = [one for one in self.licences([]) if "/" not in one["path"]]
        return {**found, "licence": " AND ".join(sorted({one["spdx"] for one in own} - {""}))}

    def licences(self, files: list[str]) -> list[dict[str, str]]:
        """`path` and `spdx` of licence files at the root and above `files`, and of their headers.

        `spdx` is "" where the text is none that is known.
        """
        found = []
        for file in self.files:
            if licences.is_licence_file(file) and _is_above(file, files):
                found.append({"path": file, "spdx": licences.of_text(self.text(file))})
        for file in files:
            if spdx := licences.of_header(self.text(file)):
                found.append({"path": file, "spdx": spdx})
        return found

    def _read(self, file: str) -> str:
        path = self.root / file
        try:
            if not path.resolve().is_relative_to(self.root):
                raise OSError("leads outside the surveyed folder")
            if path.stat().st_size > _LARGEST_BYTES:
                raise OSError(f"larger than {_LARGEST_BYTES >> 20} MiB")
            data = path.read_bytes()
        except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, Python < 3.13
            self.gaps.append(Gap(f"not read: {getattr(error, 'strerror', None) or error}", file))
            return ""
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            self.gaps.append(Gap("not UTF-8: read as Latin-1", file, line))
            text = data.decode("latin-1")
        return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", " ")

    def _find(self) -> list[str]:
        found: list[str] = []
        seen: set[pathlib.Path] = {self.root}  # real folders entered: ends loops of links
        pending = [self.root]
        while pending:
            folder = pending.pop()
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError as error:
                self._gap(f"folder not read: {error.strerror}", folder)
                continue
            for entry in entries:
                self._visit(entry, found, pending, seen)
        return found

    def _visit(
        self,
        entry: os.DirEntry[str],
        found: list[str],
        pending: list[pathlib.Path],
        seen: set[pathlib.Path],
    ) -> None:
        path = pathlib.Path(entry.path)
        try:
            if entry.is_symlink() and not path.resolve(strict=True).is_relative_to(self.root):
                self._gap("a link that leads outside the surveyed folder: not followed", path)
            elif entry.is_dir():
                real = path.resolve()
                if entry.name not in SKIPPED_FOLDERS and real not in seen:
                    seen.add(real)
                    pending.append(path)
            elif entry.is_file():
                found.append(path.relative_to(self.root).as_posix())
        except (OSError, RuntimeError) as error:
            what = getattr(error, "strerror", None) or str(error)
            self._gap(f"a link that leads nowhere: {what}", path)

    def _gap(self, what: str, path: pathlib.Path) -> None:
        self.gaps.append(Gap(what, path.relative_to(self.root).as_posix()))


def _suffix(file: str) -> str:
    return pathlib.PurePosixPath(file).suffix.lower()


def _is_above(licence: str, files: list[str]) -> bool:
    folder = pathlib.PurePosixPath(licence).parent
    above = str(folder) == "." or folder.name.upper() == "LICENSES"
    return above or any(folder in pathlib.PurePosixPath(file).parents for file in files)
