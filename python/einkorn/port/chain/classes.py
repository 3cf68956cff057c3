"""Which classes derive from which, by their names."""

import re

from einkorn.port.chain.names import CLASSES
from einkorn.port.cpp.index import CppIndex, Function
from einkorn.port.sources import syntax

_NAMESPACE = "namespace_definition"


class Classes:
    """Of an index; the files that name a class are read when it is first asked for."""

    def __init__(self, index: CppIndex) -> None:
        self._index = index
        self._bases: dict[str, tuple[str, ...]] = {}
        self._known: dict[str, bool] = {}

    def is_class(self, name: str) -> bool:
        """Whether a class of that name, without its qualifiers, is declared anywhere."""
        if name not in self._known:
            pattern = re.compile(
                rf"\b(?:class|struct|union)\b[^;{{}}()]*\b{re.escape(name)}\b(?!\s*::)"
            )
            texts = (self._index.text(file) for file in self._index.files_with(name))
            self._known[name] = any(pattern.search(text) for text in texts)
        return self._known[name]

    def bases_of(self, name: str) -> tuple[str, ...]:
        """The direct bases of the classes called so, as they are spelt, arguments left out."""
        if name not in self._bases:
            self._bases[name] = ()
            # Cheap, and never wrongly no: only what may be such a class is parsed.
            pattern = re.compile(
                rf"\b(?:class|struct)\s[^;{{}}=]*\b{re.escape(name)}\b[^;{{}}()]*[^:;{{}}()]:(?!:)"
            )
            found: dict[str, None] = {}
            for file in self._index.files_with(name):
                if not pattern.search(self._index.text(file)):
                    continue
                for node in syntax.walk(self._index.root(file), set(CLASSES)):
                    named = syntax.child(node, "name")
                    if named is not None and _plain(syntax.text_of(named)) == name:
                        for clause in syntax.children(node, "base_class_clause"):
                            found |= dict.fromkeys(_listed(syntax.text_of(clause)))
            self._bases[name] = tuple(found)
        return self._bases[name]

    def derives(self, name: str, base: str) -> bool:
        """Whether a class has `base` among its bases, or theirs. Names without qualifiers."""
        seen, pending = {name}, [name]
        while pending:
            for one in self.bases_of(pending.pop()):
                last = _plain(one)
                if last == base:
                    return True
                if last not in seen:
                    seen.add(last)
                    pending.append(last)
        return False

    def owner_of(self, function: Function) -> str:
        """The class that a method belongs to, "" for a free function."""
        scope = function.symbol.rpartition("::")[0]
        if not scope or any(above.type in CLASSES for above in syntax.ancestors(function.node)):
            return scope
        # Texts such as `struct S : space::Base<T>` name namespaces behind a class's keyword too.
        spaces = (one for one in syntax.ancestors(function.node) if one.type == _NAMESPACE)
        named = syntax.child(space, "name") if (space := next(spaces, None)) is not None else None
        if named is not None and f"::{scope}".endswith(f"::{syntax.text_of(named)}"):
            return ""
        return scope if self.is_class(scope.rpartition("::")[2]) else ""


def _plain(name: str) -> str:
    return re.sub(r"<.*", "", name).rpartition("::")[2].strip()


def _listed(clause: str) -> list[str]:
    """ ": public A<B, C>, private ns::D" as its names."""
    text = clause.lstrip(": ")
    while (shorter := re.sub(r"<[^<>]*>", "", text)) != text:
        text = shorter
    words = r"\b(?:public|protected|private|virtual|typename)\b"
    return [one for part in text.split(",") if (one := re.sub(words, "", part).strip())]
