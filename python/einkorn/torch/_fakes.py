"""What a form gives, or checks, of tensors that have no memory, fake or meta."""

from typing import Any

from torch import Tensor

from .._dispatch import allocated, described, missing
from ._allocation import empty
from ._checks import check, check_given_output, check_output
from ._forms import Form


def fake(form: Form, *inputs: Tensor | None) -> Any:
    """Its outputs. TypeError, ValueError as the op's contract."""
    op = form.op
    check(op.name, *inputs)
    asked = tuple(name in form.returns for name in op.outputs)
    return op.result(allocated(op, inputs, asked, empty))


def fake_out(
    form: Form, inputs: tuple[Tensor | None, ...], outputs: tuple[Tensor | None, ...]
) -> None:
    """As `fake`, for the form that writes to given tensors."""
    op = form.op
    check(op.name, *inputs)
    for name, rule, output in zip(op.outputs, op.rules, outputs, strict=True):
        if output is None:
            continue
        if name in op.given_outputs:
            check_given_output(op.name, name, output, inputs)
            continue
        model, shape, _ = described(rule, inputs)
        if model is None:
            raise missing(op, name)
        check_output(op.name, name, output, model, shape)
