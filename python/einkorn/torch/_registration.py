"""The operators of torch.ops.einkorn, and calls of them for einkorn.ops."""

import itertools
from collections.abc import Iterator
from typing import Any, NoReturn

import torch

from .._dispatch import allocated, described
from .._op import Op
from ._allocation import f32_plus
from ._forms import NAMESPACE, Form, kernels, operators, out_operators, returning
from ._kernels import FORMS

_DTYPES = {"f32": torch.float32, "f64": torch.float64, "i32": torch.int32}
# Of tensors whose memory is not one array of elements. PyTorch's own message for an operator
# without such a kernel names neither argument nor way out.
_LAYOUTS = (
    "SparseCPU",
    "SparseCUDA",
    "SparseCsrCPU",
    "SparseCsrCUDA",
    "QuantizedCPU",
    "QuantizedCUDA",
    "MkldnnCPU",
)

_library = torch.library.Library(NAMESPACE, "FRAGMENT")


def _refusal(form: Form) -> Any:
    """The kernel for tensors that the op cannot take."""

    def refuse(*inputs: Any, **keywords: Any) -> NoReturn:
        names = (*form.op.inputs, *keywords)
        for name, one in zip(names, (*inputs, *keywords.values()), strict=False):
            if isinstance(one, torch.Tensor):
                check_memory(form.op, name, one)
        raise TypeError(f"{form.op.name}: expected plain tensors, got others")

    return refuse


def check_memory(op: Op, name: str, tensor: torch.Tensor) -> None:
    """TypeError for a tensor that has no plain memory to hand over; ValueError for a lazy view."""
    if tensor.layout != torch.strided:
        raise TypeError(
            f"{op.name}: {name} layout: expected torch.strided, got {tensor.layout}\n"
            f"  hint: {name}.to_dense()"
        )
    if tensor.is_quantized:
        raise TypeError(
            f"{op.name}: {name} dtype: expected a plain one, got the quantised {tensor.dtype}\n"
            f"  hint: {name}.dequantize()"
        )


def _told(form: Form) -> Iterator[tuple[bool | None, ...]]:
    """What is said of each output by the calls that want this form; none where that depends on the
    inputs given. True is redundant for a required output.
    """
    op = form.op
    choices: list[tuple[bool | None, ...]] = []
    for name in op.outputs:
        if op.required(name):
            choices.append((None, True) if name in form.returns else ())
        else:
            choices.append((True,) if name in form.returns else (None,))
    return itertools.product(*choices)


def _register(form: Form) -> None:
    # Not Tag.out, which asks for each written tensor to be returned: some may be left out.
    _library.define(form.name + form.schema, tags=(torch.Tag.pt2_compliant_tag,))
    for key in ("CPU", "CUDA"):
        _library.impl(form.name, form.kernel, key)
    _library.impl(form.name, form.autograd, "Autograd", with_keyset=True)
    refuse = _refusal(form)
    for key in _LAYOUTS:
        _library.impl(form.name, refuse, key)
    torch.library.register_fake(f"{NAMESPACE}::{form.name}", form.fake, lib=_library)
    if not form.returns:
        out_operators[form.op.name] = form.operator
    else:
        returning[form.op.name, form.returns] = form
        operators[form.op.name, form.returns] = form.operator


for _form in FORMS:
    _register(_form)
for _form in returning.values():
    required = {name for name in _form.op.outputs if _form.op.required(name)}
    if all(
        required.issubset(other.returns) for other in returning.values() if other.op is _form.op
    ):
        kernels.update({(_form.op.name, told): _form.kernel for told in _told(_form)})


def empty(like: torch.Tensor, shape: tuple[int, ...], dtype: str | None) -> torch.Tensor:
    """An output by its rule."""
    kind = f32_plus(like) if dtype == "f32+" else _DTYPES[dtype] if dtype else like.dtype
    return torch.empty(shape, dtype=kind, device=like.device)


def wanted(op: Op, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> tuple[str, ...]:
    """Names of the outputs that a call with no tensor among `outputs` gives back."""
    names = []
    for name, rule, given in zip(op.outputs, op.rules, outputs, strict=True):
        made = given is None and op.required(name) and described(rule, inputs)[0] is not None
        if given is True or made:
            names.append(name)
    return tuple(names)


def call(
    op: Op,
    inputs: tuple[Any, ...],
    outputs: tuple[Any, ...],
    scalars: tuple[Any, ...],
    variant: str | None,
) -> Any:
    """One call by torch.ops.einkorn: what einkorn.ops does with tensors that are not plain.

    `outputs` holds tensors, None, or True for one to be allocated. Where it holds a tensor, no
    gradient is recorded, and none may be asked for.
    """
    keywords = dict(zip(op.scalars, scalars, strict=True))
    keywords["variant"] = variant
    if any(isinstance(one, torch.Tensor) for one in outputs):
        outputs = allocated(op, inputs, outputs, empty)
        named = dict(zip(op.outputs, outputs, strict=True))
        out_operators[op.name](*inputs, **named, **keywords)
        return op.result(outputs)
    operator = operators.get((op.name, wanted(op, inputs, outputs)))
    if operator is None:
        # Something that is required was left out; the form of all required outputs says what.
        operator = operators.get((op.name, tuple(filter(op.required, op.outputs))))
    if operator is None:
        raise ValueError(
            f"{op.name}: expected at least one output to be asked for, got none\n"
            f"  hint: {op.outputs[0]}=True"
        )
    return operator(*inputs, **keywords)
