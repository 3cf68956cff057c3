"""provenance.json of an op: where it came from, by content, and what of that has to be tested.

It lies in the op's folder and stays there for the op's life: `verify` compares its hashes with a
later state of the source, and its rows with the tests.
"""

import dataclasses
import hashlib
import json
import pathlib
import re
from typing import Any

from einkorn.port.errors import PortError
from einkorn.port.model import Contract, Survey

FILE = "provenance.json"
VERSION = 1


@dataclasses.dataclass(frozen=True)
class SourceFile:
    path: str  # relative to the upstream root
    lines: int
    sha256: str


@dataclasses.dataclass(frozen=True)
class Row:
    """A requirement of the original that a boundary test has to show."""

    id: str  # stable: "act_alignment_2"; part of the test's name
    argument: str
    property: str
    condition: str
    side: str
    hidden: bool  # the launcher states it, and no public function does
    places: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Provenance:
    op: str
    entry: str
    url: str
    commit: str
    licence: str
    use: str  # re-expressed or copied
    files: tuple[SourceFile, ...]
    rows: tuple[Row, ...]

    def to_json(self) -> str:
        data = {"version": VERSION, **dataclasses.asdict(self)}
        return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def read_provenance(path: pathlib.Path) -> Provenance:
    """PortError for a file that is missing, of another form or version, or names odd paths."""
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PortError("provenance", f"a readable file {path}", str(error.strerror)) from error
    except ValueError as error:
        raise PortError("provenance", f"JSON in {path}", str(error)) from error
    version = data.get("version") if isinstance(data, dict) else None
    if version != VERSION:
        raise PortError("provenance", f"version {VERSION} in {path}", repr(version))
    del data["version"]
    try:
        data["files"] = tuple(SourceFile(**one) for one in data["files"])
        data["rows"] = tuple(Row(**{**one, "places": tuple(one["places"])}) for one in data["rows"])
        found = Provenance(**data)
    except (KeyError, TypeError) as error:
        raise PortError("provenance", f"all fields in {path}", str(error)) from error
    for file in found.files:
        parts = pathlib.PurePosixPath(file.path).parts
        if not parts or parts[0] == "/" or ".." in parts:
            raise PortError("provenance", "paths inside the upstream folder", repr(file.path))
    return found


def sha256_of(path: pathlib.Path) -> str:
    """Of the file's bytes, in hexadecimal; OSError where it cannot be read."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def source_files(
    survey: Survey, paths: list[str], upstream: pathlib.Path | None
) -> tuple[SourceFile, ...]:
    """The files with their hashes: the survey's own, or of what lies in `upstream` now. PortError
    where a hash is known from neither.
    """
    known = {one.path: one for one in survey.closure.files}
    out = []
    for path in paths:
        file = known.get(path)
        digest = file.sha256 if file else ""
        if not digest and upstream is not None:
            try:
                digest = sha256_of(upstream / path)
            except OSError as error:
                got = f"{error.strerror}"
                raise PortError(f"provenance: {path}", f"it in {upstream}", got) from error
        if not digest:
            raise PortError(
                f"provenance: {path}",
                "a sha256 in the survey",
                "none",
                "give the surveyed folder: --upstream <folder>",
            )
        out.append(SourceFile(path, file.lines if file else 0, digest))
    return tuple(out)


def rows_of(survey: Survey) -> tuple[Row, ...]:
    """One row for each different requirement, whatever the number of places that state it."""

    def key(one: Contract) -> tuple[str, str, str]:
        return one.argument, one.property, " ".join(one.condition.split())

    hidden = {key(one) for one in survey.hidden}
    merged: dict[tuple[str, str, str], list[Contract]] = {}
    for one in [*survey.contracts, *survey.hidden]:
        merged.setdefault(key(one), []).append(one)
    counts: dict[str, int] = {}
    out = []
    for (argument, what, condition), stated in merged.items():
        stem = re.sub(r"\W+", "_", f"{argument}_{what}".lower()).strip("_") or "call"
        counts[stem] = counts.get(stem, 0) + 1
        places = dict.fromkeys(f"{one.file}:{one.line}" for one in stated)
        side = "public" if any(one.side == "public" for one in stated) else "launcher"
        is_hidden = (argument, what, condition) in hidden
        name = f"{stem}_{counts[stem]}"
        out.append(Row(name, argument, what, condition, side, is_hidden, tuple(places)))
    return tuple(out)
