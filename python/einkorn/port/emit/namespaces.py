"""Where a file opens namespaces and where it names them, told from its tokens."""

import dataclasses
from collections.abc import Sequence

from einkorn.port.emit.tokens import Token

Path = tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Block:
    """`namespace a::b {` ... `}`, in `scope`, which is the path of the namespaces around it."""

    scope: Path
    names: Path  # () for one without a name
    keyword: int  # indices of tokens: of `inline`, where it is there, or of `namespace`
    first: int  # the first and last token of the name
    last: int
    opening: int
    closing: int  # of the '}'; -1 where none was found
    plain: bool  # nothing but named namespaces is around it: it may be closed and opened again
    around: tuple[str, ...]  # the heads of these, as written: "namespace a", outermost first


@dataclasses.dataclass(frozen=True)
class Mention:
    """`a::b::f`: a path whose parts but the last name scopes; all of it where `whole`."""

    scope: Path
    names: Path
    places: tuple[int, ...]  # indices of the tokens of `names`
    is_global: bool  # "::a::b"
    whole: bool  # of `using namespace` and of namespace aliases
    in_macro: bool  # of a #define, which may be used in any scope

    @property
    def scopes(self) -> int:
        return len(self.names) if self.whole else len(self.names) - 1


@dataclasses.dataclass
class Scan:
    blocks: list[Block] = dataclasses.field(default_factory=list)
    mentions: list[Mention] = dataclasses.field(default_factory=list)
    used: list[tuple[Path, Path]] = dataclasses.field(default_factory=list)  # using namespace


@dataclasses.dataclass
class _Open:
    names: Path | None = None  # None for a brace that opens no namespace
    block: int = -1
    head: str = ""


def scan(tokens: Sequence[Token]) -> Scan:
    """Reads a whole file; each branch of an #if as if it followed what is before the #if."""
    return _Scanner(tokens).run()


class _Scanner:
    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.result = Scan()
        self.stack: list[_Open] = []
        self.branches: list[tuple[list[_Open], list[_Open] | None]] = []

    def run(self) -> Scan:
        index = 0
        while index < len(self.tokens):
            token = self.tokens[index]
            if token.directive:
                index = self._directive(index)
            elif token.text == "namespace":
                index = self._namespace(index)
            elif token.text == "{":
                self.stack.append(_Open())
                index += 1
            elif token.text == "}":
                self._close(index)
                index += 1
            else:
                index = self._mention(index, whole=False, in_macro=False)
        return self.result

    def _directive(self, index: int) -> int:
        end = index
        while end < len(self.tokens) and self.tokens[end].directive == self.tokens[index].directive:
            end += 1
        word = self.tokens[index + 1].text if index + 1 < end else ""
        if word in ("if", "ifdef", "ifndef"):
            self.branches.append((list(self.stack), None))
        elif word in ("else", "elif", "elifdef", "elifndef") and self.branches:
            before, first = self.branches[-1]
            self.branches[-1] = (before, list(self.stack) if first is None else first)
            self.stack = list(before)
        elif word == "endif" and self.branches:
            first = self.branches.pop()[1]
            self.stack = list(first) if first is not None else self.stack
        elif word == "define":
            at = index + 3  # "#", "define", the name
            while at < end:
                at = self._mention(at, whole=False, in_macro=True)
        return end

    def _close(self, index: int) -> None:
        opened = self.stack.pop() if self.stack else _Open()
        if opened.block >= 0:
            block = self.result.blocks[opened.block]
            if block.closing < 0:
                self.result.blocks[opened.block] = dataclasses.replace(block, closing=index)

    def _scope(self) -> Path:
        return tuple(name for one in self.stack for name in one.names or ())

    def _namespace(self, index: int) -> int:
        """At the keyword: a block, an alias or a using directive."""
        before = self._text(index - 1)
        first = index + 1
        while self._text(first) == "[":  # attributes
            first = self._behind(first, "[", "]")
        last, names = self._path(first)
        behind = last + 1 if names else first
        if self._text(behind) == "{":
            keyword = index - 1 if before == "inline" else index
            self._open(names, keyword, first, last, behind)
            return behind + 1
        if before == "using" and names:
            self.result.used.append((self._scope(), names))
            return self._mention(self._leading(first), whole=True, in_macro=False)
        if self._text(behind) == "=":
            return self._mention(self._leading(behind + 1), whole=True, in_macro=False)
        return first

    def _open(self, names: Path, keyword: int, first: int, last: int, opening: int) -> None:
        plain = all(one.names for one in self.stack)
        heads = tuple(one.head for one in self.stack)
        self.result.blocks.append(
            Block(self._scope(), names, keyword, first, last, opening, -1, plain, heads)
        )
        # A nested name may hold `inline` too; as written is what reopens it.
        head = "" if self._text(keyword) == "inline" else "namespace " + "::".join(names)
        self.stack.append(_Open(names, len(self.result.blocks) - 1, head))

    def _mention(self, index: int, whole: bool, in_macro: bool) -> int:
        """At any token; notes a path that begins here, and gives the index behind it."""
        if not self.tokens[index].is_name or self._text(index - 1) in (".", "->"):
            return index + 1
        is_global = self._text(index - 1) == "::"
        if is_global and (self._is_scope_end(index - 2)):
            return index + 1
        last, names = self._path(index)
        if len(names) > 1 or whole:
            scope = () if in_macro else self._scope()
            places = tuple(range(index, last + 1, 2))
            self.result.mentions.append(Mention(scope, names, places, is_global, whole, in_macro))
        return last + 1

    def _is_scope_end(self, index: int) -> bool:
        """Whether a "::" behind this token continues a name: `X<T>::f`, `decltype(x)::f`."""
        text = self._text(index)
        return text in (">", ">>", ")") or (
            index >= 0 and self.tokens[index].is_name and text not in _BEFORE_GLOBAL
        )

    def _path(self, index: int) -> tuple[int, Path]:
        """The names joined by "::" from here on, and the last one's index."""
        names: list[str] = []
        if self._text(index) == "::":
            index += 1
        while index < len(self.tokens) and self.tokens[index].is_name:
            names.append(self.tokens[index].text)
            if self._text(index + 1) != "::" or not self._is_name(index + 2):
                break
            index += 2
        return index, tuple(names)

    def _leading(self, index: int) -> int:
        return index + 1 if self._text(index) == "::" else index

    def _behind(self, index: int, opening: str, closing: str) -> int:
        depth = 0
        while index < len(self.tokens):
            depth += {opening: 1, closing: -1}.get(self.tokens[index].text, 0)
            index += 1
            if depth == 0:
                break
        return index

    def _is_name(self, index: int) -> bool:
        return (
            index < len(self.tokens)
            and self.tokens[index].is_name
            and (self.tokens[index].text not in ("template", "operator"))
        )

    def _text(self, index: int) -> str:
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""


# Words behind which "::" begins a global name.
_BEFORE_GLOBAL = frozenset(
    str.split(
        "return typename using namespace new delete throw case else do const constexpr static"
        " inline struct class enum public private protected virtual friend extern typedef sizeof"
        " volatile unsigned co_return co_yield co_await and or not goto explicit mutable register"
        " thread_local noexcept if while for alignas operator"
    )
)
