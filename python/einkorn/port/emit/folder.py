"""The output folder of an emission: what is in it, what of that is ours, and writing to it.

Ours is what the folder's own record names, with the bytes that were written then. All else is
foreign, edited files too, and stays unless it is forced.
"""

import dataclasses
import difflib
import hashlib
import json
import os
import pathlib
from collections.abc import Sequence
from typing import Any, Literal

from einkorn.port.errors import PortError

RECORD = "provenance.json"
VERSION = 1
Action = Literal["create", "update", "same", "foreign", "stale"]


@dataclasses.dataclass(frozen=True)
class Copy:
    """What one file of the folder is to be, and what it was in the surveyed root."""

    path: str  # within the folder
    source: str  # within the root
    data: bytes
    original: bytes


@dataclasses.dataclass(frozen=True)
class Change:
    """One file of the output folder."""

    path: str  # within the folder
    action: Action  # foreign: there, and not ours; stale: ours, and no more part of the closure
    source: str = ""  # in the surveyed root
    difference: str = ""  # unified; from the original, or from what lies there now


def read_record(folder: pathlib.Path) -> dict[str, Any]:
    """The record of an earlier emission into this folder; {} where none can be read."""
    try:
        data = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    known = isinstance(data, dict) and data.get("emitted") == VERSION
    return data if known and isinstance(data.get("files"), list) else {}


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Folder:
    """PortError where `path` is a file or a link."""

    def __init__(self, path: pathlib.Path) -> None:
        if path.is_symlink() or (path.exists() and not path.is_dir()):
            kind = "a link" if path.is_symlink() else "a file"
            raise PortError("out", "a folder, new or of an earlier run", f"'{path}', {kind}")
        self.path = path
        files = read_record(path).get("files", [])
        self._ours = {
            str(one.get("path")): str(one.get("written_sha256"))
            for one in files
            if isinstance(one, dict)
        }

    def changes(self, copies: Sequence[Copy]) -> list[Change]:
        """What writing `copies` would do, in the order of their paths; without the record."""
        found = []
        for copy in sorted(copies, key=lambda one: one.path):
            there = self._read(copy.path)
            if there == copy.data:
                action: Action = "same"
            elif there is None:
                action = "create"
            else:
                action = "update" if self._ours.get(copy.path) == sha256(there) else "foreign"
            before = there if there is not None and there != copy.data else copy.original
            difference = _difference(copy.path, before, copy.data)
            found.append(Change(copy.path, action, copy.source, difference))
        for path in sorted(self._ours.keys() - {one.path for one in copies} - {RECORD}):
            if _is_inside(path) and self._read(path) is not None:
                found.append(Change(path, "stale"))
        return found

    def write(
        self, changes: Sequence[Change], copies: Sequence[Copy], record: str, force: bool
    ) -> None:
        """Makes the changes, then the record. PortError for foreign files unless forced, and then
        nothing is written.
        """
        foreign = [one.path for one in changes if one.action == "foreign"]
        there = self._read(RECORD)
        if there is not None and not read_record(self.path):
            foreign.append(RECORD)
        if foreign and not force:
            hint = "move them away, choose another folder, or --force to write over them"
            raise PortError(
                "out", "no files but of earlier runs, unchanged", ", ".join(foreign), hint
            )
        for path in [RECORD, *(one.path for one in changes if one.action != "same")]:
            self._check_place(path)
        data = {one.path: one.data for one in copies}
        for change in changes:
            if change.action in ("create", "update", "foreign"):
                self._put(change.path, data[change.path])
        if there != record.encode():
            self._put(RECORD, record.encode())

    def _read(self, path: str) -> bytes | None:
        """What lies there; None for nothing. A link or a folder in the place is foreign."""
        target = self.path / path
        if target.is_symlink() or target.is_dir():
            return b"\0" + str(target).encode()
        try:
            return target.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise PortError("out", f"a readable '{path}'", f"{error.strerror}") from error

    def _check_place(self, path: str) -> None:
        """A link on the way could lead outside of the folder; a folder is nothing to write over."""
        target = self.path / path
        for folder in target.relative_to(self.path).parents:
            if (self.path / folder).is_symlink():
                raise PortError("out", "folders", f"'{folder}', a link")
        if target.is_dir() and not target.is_symlink():
            raise PortError("out", f"a file '{path}'", "a folder")

    def _put(self, path: str, data: bytes) -> None:
        target = self.path / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            # Whole or not at all; and a link in the place is replaced, not followed.
            part = target.with_name(target.name + ".part")
            part.unlink(missing_ok=True)
            part.write_bytes(data)
            os.replace(part, target)
        except OSError as error:
            raise PortError("out", f"'{path}' to be written", f"{error.strerror}") from error


def _is_inside(path: str) -> bool:
    """A record may have been edited; what it names has to lie in the folder."""
    return not pathlib.PurePosixPath(path).is_absolute() and ".." not in path.split("/")


def _difference(path: str, before: bytes, after: bytes) -> str:
    if before == after:
        return ""
    old = before.decode("utf-8", "replace").splitlines(keepends=True)
    new = after.decode("utf-8", "replace").splitlines(keepends=True)
    lines = difflib.unified_diff(old, new, f"a/{path}", f"b/{path}", n=1)
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)
