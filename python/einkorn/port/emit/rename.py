"""Renames namespaces in a set of files that belong together, token by token.

What a path means follows from the namespaces that the files define and from where it stands, as a
compiler would look it up. A name that is no namespace there, text in strings and comments, and
parts of other identifiers are left alone; what can't be told is a gap.
"""

import dataclasses
import re
from collections.abc import Mapping, Sequence

from einkorn.port.emit.namespaces import Block, Mention, Path, Scan, scan
from einkorn.port.emit.tokens import Edit, Token, apply, line_at, tokens_of
from einkorn.port.errors import PortError
from einkorn.port.model import Gap

_NAMESPACE = re.compile(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*")


def parse_names(namespaces: Mapping[str, str]) -> dict[Path, Path]:
    """Old to new as paths. PortError for what is no name, or would change again when run again."""
    found: dict[Path, Path] = {}
    for old, new in namespaces.items():
        for name in (old, new):
            if not _NAMESPACE.fullmatch(name):
                raise PortError("namespace", "names as a::b", f"'{name}'")
        found[tuple(old.split("::"))] = tuple(new.split("::"))
    for new_path in found.values():
        for old_path in found:
            shorter = min(len(new_path), len(old_path))
            if new_path[:shorter] == old_path[:shorter]:
                old, new = "::".join(old_path), "::".join(new_path)
                hint = "a second run would rename it again; choose a name that does not begin so"
                raise PortError("namespace", f"a new name outside of {old}", f"'{new}'", hint)
    return found


@dataclasses.dataclass
class Source:
    """One file and what was read of it."""

    file: str
    text: str
    tokens: list[Token]
    scan: Scan

    @staticmethod
    def read(file: str, text: str) -> "Source":
        tokens = tokens_of(text)
        return Source(file, text, tokens, scan(tokens))

    def line(self, index: int) -> int:
        return line_at(self.text, self.tokens[index].start)


class Renamer:
    """Over all files of a closure at once: a file names what another defines.

    PortError where an old name is a namespace of none of the files, unless the new one is: then it
    has been renamed already.
    """

    def __init__(self, sources: Sequence[Source], names: Mapping[Path, Path]) -> None:
        self.sources = sources
        self.names = dict(names)
        self.gaps: list[Gap] = []
        self.known = _known(sources)
        self._moves: set[Path] = set()
        for old, new in names.items():
            if old not in self.known and new not in self.known:
                listed = sorted("::".join(path) for path in self.known)
                hint = f"defined are: {', '.join(listed[:12]) or 'none'}"
                raise PortError(
                    "namespace", "one that the closure defines", f"'{'::'.join(old)}'", hint
                )

    def renamed(self, source: Source) -> str:
        """The file's text with its namespaces renamed; lines stay lines."""
        if not self.names:
            return source.text
        edits: list[Edit] = []
        done: set[int] = set()  # tokens that an edit names
        for block in source.scan.blocks:
            edits += self._block(source, block, done)
        for mention in source.scan.mentions:
            edits += self._mention(source, mention, done)
        edits += self._macro_bodies(source, done)
        self._tell_strings(source)
        return apply(source.text, edits)

    def new_path(self, path: Path) -> Path:
        """What a namespace is called after the renaming; the longest old name that fits decides."""
        for old in sorted(self.names, key=len, reverse=True):
            if path[: len(old)] == old:
                return self.names[old] + path[len(old) :]
        return path

    def _block(self, source: Source, block: Block, done: set[int]) -> list[Edit]:
        path = block.scope + block.names
        before, after = self.new_path(block.scope), self.new_path(path)
        if not block.names or (before == block.scope and after == path):
            return []
        first, last = source.tokens[block.first], source.tokens[block.last]
        done.update(range(block.first, block.last + 1))
        if after[: len(before)] == before and len(after) > len(before):
            rest = after[len(before) :]
            if rest == block.names:  # only what is around it has another name
                return []
            return [Edit(first.start, last.end, "::".join(rest))]
        nested = any(path[:size] in self._moves for size in range(1, len(block.scope) + 1))
        if nested or not block.plain or not all(block.around) or block.closing < 0:
            what = f"namespace {'::'.join(block.names)}: cannot be moved out of what is around it"
            self.gaps.append(Gap(what, source.file, source.line(block.first)))
            return []
        self._moves.add(path)
        return self._moved(source, block, "::".join(after))

    def _moved(self, source: Source, block: Block, name: str) -> list[Edit]:
        """Closes what is around the block, and opens it again behind."""
        scope: Path = ()
        heads = []
        for head in block.around:
            names = tuple(head.removeprefix("namespace ").split("::"))
            before, scope = self.new_path(scope), scope + names
            heads.append("namespace " + "::".join(self.new_path(scope)[len(before) :]))
        keyword = source.tokens[block.keyword]
        last, closing = source.tokens[block.last], source.tokens[block.closing]
        head = source.text.encode()[keyword.start : source.tokens[block.first].start].decode()
        reopened = " ".join(f"{one} {{" for one in heads)
        return [
            Edit(keyword.start, last.end, "}" * len(heads) + f" {head}{name}"),
            Edit(closing.start, closing.end, f"}} {reopened}"),
        ]

    def _mention(self, source: Source, mention: Mention, done: set[int]) -> list[Edit]:
        base = self._base(source, mention)
        if base is None:
            self._tell_unresolved(source, mention)
            return []
        path = base + mention.names[: mention.scopes]
        old = next(
            (one for one in sorted(self.names, key=len, reverse=True) if path[: len(one)] == one),
            None,
        )
        if old is None or len(old) <= len(base):
            return []
        count = len(old) - len(base)
        after, around = self.names[old], self.new_path(base)
        names = after[len(around) :] if after[: len(around)] == around else after
        places = mention.places[:count]
        done.update(places)
        first, last = source.tokens[places[0]], source.tokens[places[-1]]
        if not names:  # the scope it is in already
            return [Edit(first.start, source.tokens[mention.places[count]].start, "")]
        return [Edit(first.start, last.end, "::".join(names))]

    def _base(self, source: Source, mention: Mention) -> Path | None:
        """The namespace in which the first name of the path is found; None where it is not ours."""
        first = mention.names[:1]
        if mention.is_global:
            return () if first in self.known else None
        for size in range(len(mention.scope), -1, -1):
            if mention.scope[:size] + first in self.known:
                return mention.scope[:size]
        for scope, used in source.scan.used:
            for size in range(len(scope), -1, -1):
                path = scope[:size] + used
                if path in self.known and path + first in self.known:
                    return path
        return None

    def _tell_unresolved(self, source: Source, mention: Mention) -> None:
        """A macro's body has no scope of its own: a path that begins inside of one is told."""
        for old in self.names:
            inner = old[1:]
            if mention.in_macro and mention.names[0] in inner and mention.scopes:
                what = (
                    f"macro names {'::'.join(mention.names)}: not renamed, its scope is not known"
                )
                self.gaps.append(Gap(what, source.file, source.line(mention.places[0])))
                return

    def _macro_bodies(self, source: Source, done: set[int]) -> list[Edit]:
        """`#define NS a`, where NS stands as a namespace's name somewhere, is a name of a."""
        edits = []
        used = {name for one in self.sources for block in one.scan.blocks for name in block.names}
        tokens = source.tokens
        for at, token in enumerate(tokens[:-3]):
            if not (token.directive and token.text == "#" and tokens[at + 1].text == "define"):
                continue
            body = [one for one in tokens[at + 3 : at + 64] if one.directive == token.directive]
            path = tuple(one.text for one in body[::2])
            olds = [
                old for old in self.names if path == old or (len(path) == 1 and path == old[:1])
            ]
            if not olds or any(one.text != "::" for one in body[1::2]):
                continue
            if path in self.names and tokens[at + 2].text in used:
                done.update(range(at + 3, at + 3 + len(body)))
                edits.append(Edit(body[0].start, body[-1].end, "::".join(self.names[path])))
            elif not done & set(range(at + 3, at + 3 + len(body))):
                what = f"macro {tokens[at + 2].text} stands for {'::'.join(path)}: not renamed"
                self.gaps.append(Gap(what, source.file, source.line(at)))
        return edits

    def _tell_strings(self, source: Source) -> None:
        """A string may name what is looked up at run time: left alone, and told."""
        for at, token in enumerate(source.tokens):
            for old in self.names if token.is_string else ():
                if re.search(rf"(?<!\w){re.escape('::'.join(old))}::", token.text):
                    what = f"a string names {'::'.join(old)}: left as it is"
                    self.gaps.append(Gap(what, source.file, source.line(at)))


def _known(sources: Sequence[Source]) -> set[Path]:
    """All namespaces that the files open, with those around them; one that a macro names, too."""
    macros = {name: path for source in sources for name, path in macro_paths(source).items()}
    found: set[Path] = set()
    for source in sources:
        for block in source.scan.blocks:
            path = block.scope + block.names
            spelt = tuple(part for name in path for part in macros.get(name, (name,)))
            for one in (path, spelt):
                found.update(one[:size] for size in range(1, len(one) + 1))
    return found


def macro_paths(source: Source) -> dict[str, Path]:
    """The macros of a file that stand for a path and nothing else: `#define NS a::b`."""
    found: dict[str, Path] = {}
    tokens = source.tokens
    for at, token in enumerate(tokens[:-3]):
        if token.directive and token.text == "#" and tokens[at + 1].text == "define":
            body = [one for one in tokens[at + 3 : at + 32] if one.directive == token.directive]
            names = tuple(one.text for one in body[::2])
            joined = len(body) % 2 and all(one.text == "::" for one in body[1::2])
            if joined and all(one.is_name for one in body[::2]):
                found[tokens[at + 2].text] = names
    return found
