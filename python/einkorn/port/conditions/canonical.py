"""One spelling for what C++ and Python say differently: x.size(0) and x.shape[0], for example.

The canonical properties of a tensor are rank, shape, numel, dtype, stride, contiguous, device,
cuda, present and data (its address).
"""

import dataclasses
import re

from einkorn.port.conditions.conversions import first_extent, through
from einkorn.port.conditions.expressions import Expr, attribute, conjuncts, name, negate, render

_METHODS = {
    "dim": "rank",
    "ndimension": "rank",
    "ndims": "rank",
    "ndim": "rank",
    "sizes": "shape",
    "shape": "shape",
    "size": "shape",
    "numel": "numel",
    "nelement": "numel",
    "dtype": "dtype",
    "scalar_type": "dtype",
    "strides": "stride",
    "stride": "stride",
    "is_contiguous": "contiguous",
    "IsContiguous": "contiguous",
    "is_cuda": "cuda",
    "device": "device",
    "has_value": "present",
    "defined": "present",
    "valid": "present",
    "data_ptr": "data",
    "data": "data",
    "mutable_data_ptr": "data",
    "const_data_ptr": "data",
}
_WITHOUT_CALL = {"ndim", "shape", "dtype", "is_cuda", "device", "sizes", "strides"}
_TRANSPARENT = {"value", "get", "unwrap", "item"}
_ABSENT = {"None", "nullptr", "NULL", "std::nullopt", "nullopt", "c10::nullopt"}
_SHAPES = {"IntArrayRef", "Size", "SizeVec", "ArrayRef", "tuple", "list"}
_CUDA = {"kCUDA", "kDLCUDA", "CUDA", '"cuda"', "'cuda'"}
_DTYPES = {
    "f16": "kHalf half Half float16 kFloat16 FP16 fp16 __half fp16_t half_t nv_half",
    "bf16": "kBFloat16 bfloat16 BFloat16 BF16 bf16 __nv_bfloat16 bf16_t nv_bfloat16 bfloat16_t",
    "f32": "kFloat kFloat32 float32 Float FP32 fp32 fp32_t float",
    "f64": "kDouble kFloat64 float64 Double double",
    "i8": "kChar kInt8 int8 INT8 int8_t Char",
    "u8": "kByte kUInt8 uint8 UINT8 uint8_t Byte",
    "i16": "kShort kInt16 int16 Short int16_t",
    "i32": "kInt kInt32 int32 INT32 int32_t Int int",
    "i64": "kLong kInt64 int64 INT64 int64_t Long long",
    "bool": "kBool",
    "fp8_e4m3": "kFloat8_e4m3fn float8_e4m3fn Float8_e4m3fn FP8_E4M3 __nv_fp8_e4m3 fp8_e4m3_t",
    "fp8_e5m2": "kFloat8_e5m2 float8_e5m2 Float8_e5m2 FP8_E5M2 __nv_fp8_e5m2 fp8_e5m2_t",
}
_DTYPE_OF = {word: dtype for dtype, words in _DTYPES.items() for word in words.split()}
_SWAPPED = {">": "<", ">=": "<="}
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F']+|[0-9][0-9']*)[uUlLzZ]*")


def dtype_of(word: str) -> str:
    """The dtype that a name spells ("f16"), or ""."""
    last = re.split(r"::|\.", word)[-1]
    return _DTYPE_OF.get(last, "")


def accessors(expr: Expr) -> Expr:
    """`expr` with its accessors spelt canonically; what it says stays the same."""
    expr = _accessors(dataclasses.replace(expr, parts=tuple(accessors(one) for one in expr.parts)))
    if expr.op == "attribute" and (found := through(expr.parts[0], expr.word)) is not None:
        return accessors(found)
    if expr.op == "index" and expr.parts[0].op == "attribute" and expr.parts[0].word == "shape":
        extent = first_extent(expr.parts[0].parts[0])
        return accessors(extent) if extent is not None and len(expr.parts) == 2 else expr
    return expr


def _accessors(expr: Expr) -> Expr:
    parts = expr.parts
    if expr.op in ("cast", "deref", "addr") and len(parts) == 1:
        return parts[0]
    if expr.op == "call":
        return _call(expr)
    if expr.op in ("==", "!=") and parts[1].word in _ABSENT:
        present = attribute(parts[0], "present")
        return Expr("!", (present,)) if expr.op == "==" else present
    if expr.op == "attribute" and expr.word == "present" and parts[0].word == "data":
        return attribute(parts[0].parts[0], "present") if parts[0].parts else expr
    if expr.op == "attribute" and expr.word in _WITHOUT_CALL:
        base = parts[0]
        if expr.word == "is_cuda" and base.op == "attribute" and base.word == "device":
            return attribute(base.parts[0], "cuda")
        return attribute(base, _METHODS[expr.word])
    if expr.op == "index" and parts[0].op == "call" and parts[0].parts[0].word == "size":
        return Expr("index", (attribute(parts[0].parts[0].parts[0], "shape"), *parts[1:]))
    return expr


def _call(expr: Expr) -> Expr:
    callee, *arguments = expr.parts
    if callee.op == "attribute" and callee.parts:
        base, word = callee.parts[0], callee.word
        if word in _TRANSPARENT and not arguments:
            return base
        if word == "is_cuda" and base.op == "attribute" and base.word == "device":
            return attribute(base.parts[0], "cuda")
        if word == "size" and base.op == "attribute" and base.word == "shape":
            return attribute(base.parts[0], "rank")
        if (
            word in ("shape", "rank", "dtype", "device", "cuda")
            and callee.word in _METHODS.values()
        ):
            return callee if not arguments else Expr("index", (callee, *arguments))
        if word in _METHODS:
            found = attribute(base, _METHODS[word])
            indexed = arguments and found.word in ("shape", "stride")
            return Expr("index", (found, *arguments)) if indexed else found
    if callee.word == "len" and len(arguments) == 1:
        inner = arguments[0]
        if inner.op == "attribute" and inner.word == "shape":
            return attribute(inner.parts[0], "rank")
    last = callee.word.rsplit("::", 1)[-1].rsplit(".", 1)[-1]
    if last in _SHAPES and len(arguments) == 1 and arguments[0].op == "list":
        return arguments[0]
    if callee.word.startswith(("std::", "at::", "torch::")) and "<" not in callee.word:
        callee = name(last)  # std::min and min are one
    return Expr("call", (callee, *arguments), expr.word)


def canonical(expr: Expr) -> Expr:
    """`expr` in the one spelling: equal conditions give equal trees, where this can tell."""
    return _canonical(accessors(expr))


def _canonical(expr: Expr) -> Expr:
    if expr.op == "!":
        inner = negate(expr.parts[0])
        if inner.op != "!":
            return _canonical(inner)
    expr = dataclasses.replace(expr, parts=tuple(_canonical(one) for one in expr.parts))
    if expr.op == "number" and (match := _NUMBER.fullmatch(expr.word)):
        return dataclasses.replace(expr, word=str(int(match[1].replace("'", ""), 0)))
    if expr.op in ("name", "attribute"):
        return _constant(expr)
    if expr.op in _SWAPPED:
        return Expr(_SWAPPED[expr.op], (expr.parts[1], expr.parts[0]))
    if expr.op in ("==", "!=", "in", "not in"):
        return _equality(expr)
    if expr.op in ("&&", "||"):
        return _joined(expr)
    if expr.op in ("+", "*") and len(expr.parts) == 2:
        return Expr(expr.op, tuple(sorted(expr.parts, key=render)))
    return expr


def _constant(expr: Expr) -> Expr:
    text = render(expr)
    qualified = "::" in text or "." in text or re.match(r"k[A-Z]", text)
    if qualified and expr.op == "attribute" and expr.parts[0].op != "name":
        return expr
    dtype = dtype_of(text) if qualified else ""
    return name(dtype) if dtype else expr


def _equality(expr: Expr) -> Expr:
    left, right = expr.parts
    if left.word in _ABSENT or (left.op == "number" and right.op != "number"):
        left, right = right, left
    wanted = expr.op in ("==", "in")
    if right.word in _ABSENT:
        present = attribute(left, "present")
        return Expr("!", (present,)) if wanted else present
    last = re.split(r"::|\.", render(right))[-1]
    if last in _CUDA and (device := _device_of(left)) is not None:
        cuda = attribute(device, "cuda")
        return cuda if wanted else Expr("!", (cuda,))
    if left.op == "name" and right.op == "attribute" and right.word == "dtype":
        left, right = right, left
    among = expr.op in ("in", "not in")
    if among or (left.op == "attribute" and left.word == "dtype" and right.op == "name"):
        values = right.parts if among and right.op == "list" else (right,)
        chosen = Expr("list", tuple(sorted({_dtype_or_same(one) for one in values}, key=render)))
        return Expr("in" if wanted else "not in", (left, chosen))
    first, second = (left, right) if right.op == "number" else sorted((left, right), key=render)
    return Expr(expr.op, (first, second))


def _dtype_or_same(expr: Expr) -> Expr:
    dtype = dtype_of(render(expr))
    return name(dtype) if dtype else expr


def _device_of(expr: Expr) -> Expr | None:
    """x of x.device.type, x.device().device_type and the like."""
    while expr.op in ("attribute", "call") and expr.parts:
        if expr.op == "attribute" and expr.word == "device":
            return expr.parts[0]
        expr = expr.parts[0]
    return None


def _joined(expr: Expr) -> Expr:
    """Operands in one order; alternatives of one subject as one set."""
    flat: list[Expr] = []
    for part in expr.parts:
        flat += part.parts if part.op == expr.op else [part]
    if expr.op == "||" and all(one.op in ("in", "==") for one in flat):
        subjects = {render(one.parts[0]) for one in flat}
        if len(subjects) == 1:
            values = [
                value
                for one in flat
                for value in (one.parts[1].parts if one.op == "in" else one.parts[1:])
            ]
            chosen = Expr("list", tuple(sorted(set(values), key=render)))
            return Expr("in", (flat[0].parts[0], chosen))
    return Expr(expr.op, tuple(sorted(set(flat), key=render)))


def requirements(expr: Expr) -> list[Expr]:
    """What a condition requires, each part on its own and in the one spelling."""
    found: list[Expr] = []
    for one in conjuncts(canonical(expr)):
        left = one.parts[0] if one.parts else one
        whole = one.op == "==" and any(part.op == "list" for part in one.parts)
        if whole and left.op == "list":
            left = one.parts[1]
        values = next((part.parts for part in one.parts if part.op == "list"), ())
        if whole and left.op == "attribute" and left.word == "shape":
            rank = attribute(left.parts[0], "rank")
            found.append(Expr("==", (rank, Expr("number", (), str(len(values))))))
            for i, value in enumerate(values):
                at = Expr("index", (left, Expr("number", (), str(i))))
                found.append(_canonical(Expr("==", (at, value))))
        else:
            found.append(one)
    return found


def states(public: str, wanted: str) -> bool:
    """Whether what the public side checks gives what the launcher wants; both rendered."""
    if public == wanted:
        return True
    (subject, values), (asked, allowed) = _alternatives(public), _alternatives(wanted)
    return subject == asked and bool(values) and values <= allowed


def _alternatives(text: str) -> tuple[str, frozenset[str]]:
    """What a condition allows of its subject: `x.dtype in {f16}`, `x.shape[1] == 4`."""
    subject, found, listed = text.partition(" in {")
    if found and listed.endswith("}"):
        return subject, frozenset(listed[:-1].split(", "))
    subject, found, value = text.partition(" == ")
    return (subject, frozenset((value,))) if found else (text, frozenset())


def split(text: str) -> list[str]:
    """The parts of a rendered condition that are joined by && outside of brackets."""
    parts, depth, start = [], 0, 0
    for i, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and text.startswith(" && ", i):
            parts.append(text[start:i])
            start = i + 4
    return [*parts, text[start:]]
