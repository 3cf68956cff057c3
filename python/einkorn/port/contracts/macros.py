"""Checks spelt as macros of the surveyed repository: what they come to with their arguments."""

import re

from einkorn.port.conditions.expressions import Expr, attribute, name
from einkorn.port.conditions.parse import of_text
from einkorn.port.cpp.index import CppIndex
from einkorn.port.sources.syntax import Node, parse_cpp

# Conditions of a library that is not there to look into: macro of one tensor -> accessor.
_OF_TENSOR = (
    ("CONTIGUOUS", "is_contiguous"),
    ("CUDA", "is_cuda"),
    ("DEVICE", "is_cuda"),
)
_STATUS = re.compile(
    r"cudaError|cudaSuccess|cudaGetLastError|cudaPeek|CUresult|CUDA_SUCCESS|CUBLAS_STATUS|ncclSuccess"
    r"|cublasStatus|cudnnStatus|nvrtcResult|\bcuda[A-Z]\w+\(|\bcu[A-Z]\w+\(|\bcublas\w+\("
)
_CHECKING = re.compile(r"(CHECK|ASSERT|ENFORCE|REQUIRE|EXPECTS|ENSURE)")
_COMPARING = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}


def is_check(word: str) -> bool:
    """Whether a macro's name says that it checks something in every build."""
    return (
        word.isupper()
        and bool(_CHECKING.search(word))
        and "DEBUG" not in word
        and not (word.startswith(("DCHECK", "DASSERT")))
    )


def is_status(text: str) -> bool:
    """Whether a check is about what a call to CUDA returned; this says nothing of arguments."""
    return bool(_STATUS.search(text))


def comparison(word: str, arguments: tuple[Expr, ...]) -> Expr | None:
    """CHECK_EQ(a, b) and its kin."""
    operator = _COMPARING.get(word.rpartition("_")[2])
    if operator is None or len(arguments) < 2:
        return None
    return Expr(operator, arguments[:2])


def expansion(index: CppIndex, word: str, arguments: list[str], near: str) -> Node | None:
    """The syntax tree of a macro's body with its arguments put in; None if it isn't known here."""
    for macro in index.macros_named(word, near):
        if macro.parameters is None:
            continue
        body = _put_in(macro.body.replace("\\\n", " "), macro.parameters, arguments)
        return parse_cpp(f"void expansion() {{ {body}; }}")
    return None


def _put_in(body: str, parameters: "list[str] | tuple[str, ...]", arguments: list[str]) -> str:
    given = dict(zip(parameters, arguments, strict=False))
    if parameters and parameters[-1].endswith("..."):
        rest = ", ".join(arguments[len(parameters) - 1 :])
        given["__VA_ARGS__"] = rest
        given[parameters[-1].removesuffix("...").strip() or "__VA_ARGS__"] = rest
    body = re.sub(r"#\s*(\w+)", lambda match: '"' + match[1] + '"', body.replace("##", " "))
    return re.sub(r"[A-Za-z_]\w*", lambda match: given.get(match[0], match[0]), body)


def known(word: str, arguments: list[Expr]) -> list[Expr]:
    """What the usual macros of extensions mean, where their definition is not in the tree."""
    if not arguments:
        return []
    if "INPUT" in word:
        return [_method(arguments[0], "is_cuda"), _method(arguments[0], "is_contiguous")]
    if "SHAPE" in word and len(arguments) > 1:
        listed = Expr("list", tuple(arguments[1:]))
        return [Expr("==", (_method(arguments[0], "sizes"), listed))]
    if "DIM" in word and len(arguments) == 2:
        tensor, rank = sorted(arguments, key=lambda one: one.op == "number")
        return [Expr("==", (_method(tensor, "dim"), rank))]
    if ("TYPE" in word or "DTYPE" in word) and len(arguments) >= 2:
        return [Expr("==", (_method(arguments[0], "scalar_type"), arguments[1]))]
    for part, accessor in _OF_TENSOR:
        if part in word and len(arguments) == 1:
            return [_method(arguments[0], accessor)]
    return []


def _method(tensor: Expr, word: str) -> Expr:
    return Expr("call", (attribute(tensor, word),))


def as_call(word: str, arguments: list[str]) -> Expr:
    """A check that is not understood, as it is written."""
    return Expr("call", (name(word), *(of_text(one) for one in arguments)))
