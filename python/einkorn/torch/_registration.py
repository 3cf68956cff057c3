"""The operators of torch.ops.einkorn, and calls of them for einkorn.ops."""

import itertools
from collections.abc import Iterator
from typing import Any, NoReturn

import torch

from .._dispatch import allocated, described
from .._op import Op
from ._allocation import empty
from ._forms import NAMESPACE, Form, kernels, operators, out_operators, returning
from ._kernels import FORMS

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
    """What is said of each output by the calls that want this form, whatever their inputs. True is
    redundant for a required output.
    """
    choices: list[tuple[bool | None, ...]] = []
    for name in form.op.outputs:
        if form.op.required(name):
            choices.append((None, True))
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
#: By op's name, the outputs that all its calls have.
_always: dict[str, frozenset[str]] = {}
for _form in returning.values():
    _of_form = frozenset(_form.returns)
    _always[_form.op.name] = _of_form & _always.get(_form.op.name, _of_form)
for _form in returning.values():
    # Otherwise the inputs decide which of the required outputs a call has.
    required = {name for name in _form.op.outputs if _form.op.required(name)}
    if required <= _always[_form.op.name]:
        kernels.update({(_form.op.name, told): _form.kernel for told in _told(_form)})


def _wanted(op: Op, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> tuple[str, ...]:
    """Names of the outputs that a call with no tensor among `outputs` gives back."""
    always = _always[op.name]
    names = []
    for name, rule, given in zip(op.outputs, op.rules, outputs, strict=True):
        made = given is True
        if given is None and op.required(name):
            made = name in always or described(rule, inputs)[0] is not None
        if made:
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
        return _write(op, inputs, outputs, keywords)
    operator = operators.get((op.name, _wanted(op, inputs, outputs)))
    if operator is None:
        _refuse(op, inputs, outputs, keywords)
    return operator(*inputs, **keywords)


def _write(
    op: Op, inputs: tuple[Any, ...], outputs: tuple[Any, ...], keywords: dict[str, Any]
) -> Any:
    outputs = allocated(op, inputs, outputs, empty)
    named = dict(zip(op.outputs, outputs, strict=True))
    out_operators[op.name](*inputs, **named, **keywords)
    return op.result(outputs)


def _refuse(
    op: Op, inputs: tuple[Any, ...], outputs: tuple[Any, ...], keywords: dict[str, Any]
) -> NoReturn:
    """No call of the op has just these outputs. Of those asked for one lacks its model, or an input
    was left out: that, the contract says.
    """
    with torch.no_grad():
        _write(op, inputs, outputs, keywords)
    got = ", ".join(_wanted(op, inputs, outputs)) or "none"
    raise RuntimeError(f"{op.name}: outputs: expected those of one of its forms, got {got}")
