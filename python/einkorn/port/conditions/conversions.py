"""What a tensor's methods keep and what they make: x.view(-1) has rank 1 and the dtype of x."""

from einkorn.port.conditions.expressions import Expr, attribute, name

RESHAPING = {"view", "reshape", "flatten", "contiguous", "float", "half", "bfloat16", "cuda"}
_DTYPES = {"float": "f32", "half": "f16", "bfloat16": "bf16"}
# What each leaves alone of what it is called on.
_KEPT = {
    "view": {"dtype", "device", "cuda", "numel", "data", "present", "contiguous"},
    "reshape": {"dtype", "device", "cuda", "numel", "present"},
    "flatten": {"dtype", "device", "cuda", "numel", "present"},
    "contiguous": {"dtype", "device", "cuda", "numel", "present", "rank", "shape", "data"},
    "float": {"device", "cuda", "numel", "present", "rank", "shape"},
    "cuda": {"dtype", "numel", "present", "rank", "shape"},
}
_KEPT |= {"half": _KEPT["float"], "bfloat16": _KEPT["float"]}
_TRUE = Expr("number", (), "true")


def through(base: Expr, wanted: str) -> Expr | None:
    """The property of what a method returns, said of its tensor; None where that can't be told."""
    if base.op != "call" or base.parts[0].op != "attribute" or not base.parts[0].parts:
        return None
    method, tensor, arguments = base.parts[0].word, base.parts[0].parts[0], base.parts[1:]
    if wanted in _KEPT.get(method, ()):
        return attribute(tensor, wanted)
    flat = [str(one) for one in arguments] == (["-1"] if method != "flatten" else [])
    if method in ("view", "reshape", "flatten") and wanted == "rank" and flat:
        return Expr("number", (), "1")
    if method in ("view", "reshape") and wanted == "rank":
        return None if any(one.op == "list" for one in arguments) else _count(arguments)
    if (method, wanted) in (("contiguous", "contiguous"), ("cuda", "cuda")):
        return _TRUE
    if method in _DTYPES and wanted == "dtype":
        return name(_DTYPES[method])
    return None


def first_extent(base: Expr) -> Expr | None:
    """Of x.view(-1): all of x's elements."""
    rank = through(base, "rank")
    if rank is not None and rank.word == "1" and base.parts[0].parts:
        return attribute(base.parts[0].parts[0], "numel")
    return None


def _count(arguments: tuple[Expr, ...]) -> Expr:
    return Expr("number", (), str(len(arguments)))
