"""provenance.json of an emitted closure: where each file came from, by content, and its licence.

It holds no date and no path of this machine, so that two runs give the same bytes.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from einkorn.port.emit.folder import VERSION, Copy, sha256
from einkorn.port.emit.namespaces import Path
from einkorn.port.model import Closure
from einkorn.port.sources.tree import SourceTree


def text_of(
    entry: str,
    sources: SourceTree,
    closure: Closure,
    names: Mapping[Path, Path],
    copies: Sequence[Copy],
    units: Sequence[str],
    earlier: Mapping[str, Any],
) -> str:
    """The record. `earlier`: that of the root, where the root is an emission itself: files keep the
    origin that it names, so that a run over its own output gives the same bytes.
    """
    repository = earlier.get("repository") or sources.repository()
    renamed = {"::".join(old): "::".join(new) for old, new in names.items()}
    data = {
        "emitted": VERSION,
        "entry": earlier.get("entry", entry),
        "repository": {key: repository.get(key, "") for key in ("url", "commit", "licence")},
        "namespaces": {**earlier.get("namespaces", {}), **renamed},
        "units": list(units),
        "external": list(closure.external),
        "files": _files(closure, copies, earlier),
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _files(
    closure: Closure, copies: Sequence[Copy], earlier: Mapping[str, Any]
) -> list[dict[str, Any]]:
    stated = {one["path"]: one["spdx"] for one in closure.licences}
    before = {one["path"]: one for one in earlier.get("files", []) if "path" in one}
    found = []
    for copy in sorted(copies, key=lambda one: one.path):
        known = before.get(copy.source, {})
        found.append(
            {
                "path": copy.path,
                "source": known.get("source", copy.source),
                "sha256": known.get("sha256", sha256(copy.original)),
                "written_sha256": sha256(copy.data),
                "licence": known.get("licence", stated.get(copy.source, "")),
            }
        )
    return found
