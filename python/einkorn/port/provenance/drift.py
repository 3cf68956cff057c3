"""What changed upstream since an op was brought over, by the hashes recorded then."""

import dataclasses
import pathlib
from typing import Literal

from einkorn.port.errors import PortError
from einkorn.port.provenance import record as provenance

Kind = Literal["changed", "missing", "unreadable"]


@dataclasses.dataclass(frozen=True)
class Change:
    kind: Kind
    path: str
    was: str  # sha256
    now: str  # sha256, or why there is none

    def __str__(self) -> str:
        if self.kind == "changed":
            return f"{self.path}: changed, from sha256 {self.was[:12]} to {self.now[:12]}"
        return f"{self.path}: {self.kind} ({self.now})"


def drift(recorded: provenance.Provenance, upstream: pathlib.Path) -> list[Change]:
    """The recorded files that are not the same in `upstream`, in the order of the record.
    PortError where that is no folder.
    """
    if not upstream.is_dir():
        raise PortError("upstream", "a folder", f"{upstream}")
    root = upstream.resolve()
    out = []
    for file in recorded.files:
        path = root / file.path
        # A link may have come since; what lies outside is not the recorded repository.
        if not path.resolve().is_relative_to(root):
            out.append(Change("unreadable", file.path, file.sha256, "a link that leads outside"))
            continue
        if not path.exists():
            out.append(Change("missing", file.path, file.sha256, "no such file"))
            continue
        try:
            now = provenance.sha256_of(path)
        except OSError as error:
            out.append(Change("unreadable", file.path, file.sha256, f"{error.strerror}"))
            continue
        if now != file.sha256:
            out.append(Change("changed", file.path, file.sha256, now))
    return out
