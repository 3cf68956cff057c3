"""What a survey says of its entry's declaration and its files' contents, for the later verbs."""

import dataclasses
import hashlib
from collections.abc import Sequence
from typing import Protocol

from einkorn.port.model import Argument, Closure
from einkorn.port.sources.tree import SourceTree


class _Parameter(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def default(self) -> str: ...


class _Function(Protocol):
    @property
    def parameters(self) -> Sequence[_Parameter]: ...


def declared_arguments(entries: Sequence[_Function]) -> list[Argument]:
    """The parameters of the first entry that has any; of overloads the others are in the gaps."""
    for entry in entries:
        named = [one for one in entry.parameters if one.name]
        if named:
            return [Argument(one.name, one.type, one.default) for one in named]
    return []


def hashed(closure: Closure, sources: SourceTree) -> Closure:
    """The same with the sha256 of each file's bytes; "" for one that cannot be read."""
    files = []
    for file in closure.files:
        try:
            digest = hashlib.sha256((sources.root / file.path).read_bytes()).hexdigest()
        except OSError:
            digest = ""
        files.append(dataclasses.replace(file, sha256=digest))
    return dataclasses.replace(closure, files=files)
