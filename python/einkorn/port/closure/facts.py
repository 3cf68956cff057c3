"""What the functions on a path depend on besides their arguments, and which code only some run.

Both are lists of places with the source's own words; what they mean for a port is for a reader.
"""

import re
from collections.abc import Iterable, Iterator

from einkorn.port.closure import symbols
from einkorn.port.cpp import tokens as cpp_tokens
from einkorn.port.cpp.calls import Use, uses_of
from einkorn.port.cpp.functions import Function
from einkorn.port.cpp.index import CppIndex
from einkorn.port.cpp.names import last_name
from einkorn.port.cpp.tokens import names
from einkorn.port.model import Guard, State
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node

# By the last component of what is called. The first that fits is taken.
_CALLS = [
    ("environment", r"(secure_)?getenv|_?get_?env\w*|check_env|has_env|(set|put)env"),
    (
        "atomic",
        r"(__nv_)?atomic[A-Z_]\w*|fetch_(add|sub|max|min|or|and)|compare_exchange\w*",
    ),
    (
        "random",
        r"curand\w*|philox\w*|s?rand|random_device|mt19937\w*|\w*Generator|manual_seed"
        r"|rand(n|int|perm)?(_like)?",
    ),
    (
        "allocation",
        r"cuda(Host|Free)?(Malloc|Alloc)\w*|cuMem(Alloc|Create|Host)\w*|hipMalloc\w*"
        r"|malloc|calloc|realloc|aligned_alloc|raw_alloc\w*|allocate\w*",
    ),
    (
        "synchronisation",
        r"(cuda|hip)(Device|Stream|Event)Synchronize|cu(Ctx|Stream|Event)Synchronize|cudaMemcpy"
        r"|synchronize|item|(__)?nanosleep|this_grid|cluster_(sync|arrive)\w*",
    ),
]
_CALL_KINDS = [(kind, re.compile(pattern)) for kind, pattern in _CALLS]
# Functions of array libraries that make an array; only where the callee says whose they are.
_MAKES_ARRAY = re.compile(
    r"(?:.*::)?(?:torch|at|c10|ATen|Tensor|FFITensor|Buffer\w*)(?:::\w+)*::"
    r"(?:empty|zeros|ones|full|arange|alloc\w*|new_\w+|clone|eye|tensor)\w*"
)
_MEMBER_MAKES_ARRAY = re.compile(r"new_(empty|zeros|ones|full)|contiguous|clone|to|alloc\w*")
_ASSEMBLY = [
    ("atomic", re.compile(r"\b(atom|red)\.\w")),
    ("synchronisation", re.compile(r"\b(griddepcontrol|barrier\.cluster|nanosleep)\b")),
]
_KINDS = frozenset(("declaration", "gnu_asm_expression", "new_expression", "qualified_identifier"))

_ARCHITECTURE = re.compile(
    r"__CUDA_ARCH|CUDA_ARCH|\bARCH\b|ARCH_|_ARCH\b|\bSM_?\d{2,3}|sm_?\d{2,3}\b|_SM\d|\barch\w*\b"
    r"|compute_capability|\bcc_(major|minor)\b|\bget_cc_\w+|(->|\.)(major|minor)\b|\bsm_?version"
    r"|USE_ROCM|__HIP|is_sm\d*\w*|\bsm\b|Arch\b",
)
_DTYPE = re.compile(
    r"is_same(_v)?\b|is_floating_point|is_integral|scalar_type\(\)|\bdtype\(\)|\bdtype\b|ScalarType"
    r"|isTypeMatch|\bk(Float|Half|BFloat16|Int|Char|Byte|Float8\w*)\b|sizeof\s*\(\s*\w*(T|_t|[Tt]ype)\s*\)\s*[=!]=\s*[124]\b"
    r"|_?(BF16|FP16|FP8|FP4|BFLOAT16|HALF|INT8|INT4)\b|data_?type"
)  # fmt: skip
_DISPATCHES = re.compile(
    r"AT_DISPATCH\w*|\w*DISPATCH\w*(TYPE|FLOAT|HALF|DTYPE|FP|BF|INT)\w*|dispatch(Float|Type|Dtype)\w*"
)
_CONDITIONAL = re.compile(r"#\s*(if|elif|ifdef|ifndef)\b(.*)", re.DOTALL)
_BRANCHES = names("if_statement switch_statement conditional_expression static_assert_declaration")


def state_of(index: CppIndex, functions: list[Function]) -> list[State]:
    """Environment, static variables, allocations, atomics, random numbers, synchronisation.

    In the order of files and lines; each place once.
    """
    found: dict[State, None] = {}
    mutable = _Globals(index)
    for function in functions:
        for use in uses_of(function, index):
            if use.node.type == "call_expression":
                found.update(dict.fromkeys(_of_call(use, function.file)))
        for node in syntax.find_cpp(function.node, _KINDS):
            found.update(dict.fromkeys(_of_node(node, function.file)))
        found.update(dict.fromkeys(mutable.named_in(function)))
    return sorted(found, key=lambda one: (one.file, one.line, one.kind, one.text))


def guards_of(index: CppIndex, functions: list[Function], files: list[str]) -> list[Guard]:
    """Conditions on the architecture and on dtypes: #ifs of `files`, branches of `functions`."""
    found: dict[Guard, None] = {}
    for file in files:
        text = index.sources.text(file)
        for directive in cpp_tokens.directives_of(text):
            match = _CONDITIONAL.match(directive.text)
            if match is None:
                continue
            condition = " ".join(cpp_tokens.without_comments(match[2]).replace("\\\n", " ").split())
            if kind := _guard_kind(condition):
                line = text.count("\n", 0, directive.start) + 1
                negated = "" if match[1] != "ifndef" else "!"
                defined = "ifdef" in match[1] or match[1] == "ifndef"
                shown = f"{negated}defined({condition})" if defined else condition
                found[Guard(kind, shown, file, line)] = None
    for function in functions:
        found.update(dict.fromkeys(_branches(index, function)))
    return sorted(found, key=lambda one: (one.file, one.line, one.kind, one.condition))


def _of_call(use: Use, file: str) -> Iterator[State]:
    callee = syntax.child(use.node, "function")
    last = last_name(callee) if callee is not None else None
    if callee is None or last is None or syntax.children(use.node, "kernel_call_syntax"):
        return
    name, written = syntax.text_of(last), syntax.text_of(callee)
    text = _short(syntax.text_of(use.node))
    if _MAKES_ARRAY.fullmatch(re.sub(r"<.*?>", "", written)):
        yield State("allocation", text, file, use.line)
        return
    if callee.type == "field_expression" and _MEMBER_MAKES_ARRAY.fullmatch(name):
        yield State("allocation", text, file, use.line)
        return
    if "TMEM::" in written:  # the tensor memory of one kernel
        return
    for kind, pattern in _CALL_KINDS:
        if pattern.fullmatch(name):
            yield State(kind, text, file, use.line)
            return


def _of_node(node: Node, file: str) -> Iterator[State]:
    line = syntax.line_of(node)
    if node.type == "new_expression":
        yield State("allocation", _short(syntax.text_of(node)), file, line)
    elif node.type == "declaration":
        if _is_mutable_static(node):
            yield State("static", _short(syntax.text_of(node)), file, line)
    elif node.type == "qualified_identifier":
        text = syntax.text_of(node)
        if re.match(r"(std|cuda)::atomic\w*", text) and _is_outermost(node):
            yield State("atomic", _short(text), file, line)
    else:
        text = " ".join(syntax.text_of(one) for one in syntax.walk(node, {"string_literal"}))
        for kind, pattern in _ASSEMBLY:
            if match := pattern.search(text):
                shown = re.sub(r"[\"\s\\]+", " ", text[match.start() : match.start() + 80])
                yield State(kind, f"asm {shown.split(' %')[0].split(';')[0].strip()}", file, line)


def _is_outermost(node: Node) -> bool:
    return node.parent is None or node.parent.type != "qualified_identifier"


def _is_mutable_static(node: Node) -> bool:
    """static or thread_local, and neither const nor constexpr nor shared memory of a kernel."""
    words = set()
    for one in node.children:
        if "specifier" in one.type or "qualifier" in one.type or not one.is_named:
            words |= set(syntax.text_of(one).split())
    named = {"const", "constexpr", "__shared__", "consteval"}
    return bool({"static", "thread_local"} & words) and not named & words


class _Globals:
    """Variables at namespace level that may change, by file."""

    def __init__(self, index: CppIndex) -> None:
        self._index = index
        self._names: dict[str, dict[str, int]] = {}

    def named_in(self, function: Function) -> Iterator[State]:
        names = self._of(function.file)
        if not names:
            return
        text = self._index.raw(function.file)[function.node.start_byte : function.node.end_byte]
        for name in sorted(names.keys() & cpp_tokens.words_of(text.decode("utf-8", "replace"))):
            yield State("static", f"{name}, a variable of the file", function.file, names[name])

    def _of(self, file: str) -> dict[str, int]:
        if file not in self._names:
            self._names[file] = {}
            for node in symbols.constants_of(self._index.root(file)):
                inner = node.named_children[-1] if node.type == "template_declaration" else node
                words = set(syntax.text_of(inner).split("=")[0].split())
                if words & {"const", "constexpr", "__constant__", "using", "consteval", "friend"}:
                    continue
                for declarator in inner.children_by_field_name("declarator"):
                    name = next(syntax.walk(declarator, {"identifier"}), None)
                    if name is not None:
                        self._names[file][syntax.text_of(name)] = syntax.line_of(name)
        return self._names[file]


def _branches(index: CppIndex, function: Function) -> Iterable[Guard]:
    for node in syntax.find_cpp(function.node, _BRANCHES):
        condition = syntax.child(node, "condition")
        if condition is None:
            continue
        text = syntax.text_of(condition)
        text = (
            text[1:-1]
            if condition.type in ("condition_clause", "parenthesized_expression")
            else text
        )
        if kind := _guard_kind(text):
            yield Guard(kind, _short(text), function.file, syntax.line_of(node))
    for use in uses_of(function, index):
        callee = syntax.child(use.node, "function") if use.node.type == "call_expression" else None
        if callee is None or not _DISPATCHES.fullmatch(syntax.text_of(callee).split("<")[0]):
            continue
        listed = syntax.child(use.node, "arguments")
        given = [] if listed is None else [syntax.text_of(one) for one in listed.named_children]
        shown = ", ".join(one for one in given if "{" not in one and not one.startswith(("[", "(")))
        text = f"{syntax.text_of(callee)}({shown})"
        yield Guard("dtype", _short(text), function.file, use.line)


def _guard_kind(condition: str) -> str:
    if _ARCHITECTURE.search(condition):
        return "architecture"
    return "dtype" if _DTYPE.search(condition) else ""


def _short(text: str, longest: int = 160) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
