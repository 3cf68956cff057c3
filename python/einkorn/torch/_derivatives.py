"""What the backward pass of each differentiable op needs of its forward pass, and what it calls.

A backward op takes part as an op like any other: the gradient of a gradient is refused when it is
asked for, not when the first one is taken with create_graph=True.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor

from ._forms import Form, operators

Inputs = tuple[Tensor | None, ...]
#: Runs the form of the same op that returns these outputs.
Run = Callable[[tuple[str, ...]], dict[str, Tensor]]
Outcome = tuple[dict[str, Tensor], tuple[Tensor | None, ...]]


class Derivative:
    """Of one op. Neither function sees a gradient that is not a tensor's own dtype or shape."""

    #: Outputs that no gradient flows through.
    constant: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    def forward(run: Run, form: Form, inputs: Inputs) -> Outcome:
        """Outputs by name, at least those that the form returns; and what to save."""
        raise NotImplementedError

    @staticmethod
    def backward(
        saved: tuple[Tensor | None, ...],
        grads: dict[str, Tensor | None],
        needs: tuple[bool, ...],
        keywords: dict[str, Any],
    ) -> tuple[Tensor | None, ...]:
        """The gradient of each input, of any floating dtype; `grads` has one that is not None."""
        raise NotImplementedError


class RmsNorm(Derivative):
    """h = x + residual is what was normalised. Where the residual's dtype holds it as exactly as
    PyTorch's sum of both would, the forward pass writes h, and it is saved in place of the two: one
    tensor written once, where adding them again would read two, write one and keep both. Where the
    residual is of the narrower dtype they are saved and added again.
    """

    constant = ("rstd",)

    @staticmethod
    def forward(run: Run, form: Form, inputs: Inputs) -> Outcome:
        x, weight, residual = inputs
        assert x is not None
        wanted = {"y", "rstd", *form.returns}
        keep = residual is not None and _wider(x, residual) == residual.dtype
        if keep:
            wanted.add("residual_out")
        outputs = run(tuple(name for name in form.op.outputs if name in wanted))
        h, rest = (outputs["residual_out"], None) if keep else (x, residual)
        return outputs, (h, rest, weight, outputs["rstd"])

    @staticmethod
    def backward(
        saved: tuple[Tensor | None, ...],
        grads: dict[str, Tensor | None],
        needs: tuple[bool, ...],
        keywords: dict[str, Any],
    ) -> tuple[Tensor | None, ...]:
        h, rest, weight, rstd = saved
        dy, dh = grads["y"], grads.get("residual_out")
        if dy is None:  # of h alone, which is a sum
            return dh, None if weight is None else torch.zeros_like(weight), dh
        assert h is not None
        if rest is not None:
            h = h + rest
        returns = ("dx", "dweight") if needs[1] else ("dx",)
        got = operators["rms_norm_bwd", returns](
            dy.to(h.dtype).contiguous(),
            h,
            weight,
            rstd,
            None if dh is None else dh.contiguous(),
            eps=keywords["eps"],
            offset=keywords["offset"],
            rounding=keywords["rounding"],
        )
        dx, dweight = got if needs[1] else (got, None)
        return dx, dweight, dx


class SiluMul(Derivative):
    @staticmethod
    def forward(run: Run, form: Form, inputs: Inputs) -> Outcome:
        return run(form.returns), inputs

    @staticmethod
    def backward(
        saved: tuple[Tensor | None, ...],
        grads: dict[str, Tensor | None],
        needs: tuple[bool, ...],
        keywords: dict[str, Any],
    ) -> tuple[Tensor | None, ...]:
        gate, up, packed = saved
        dy = grads["y"]
        assert dy is not None
        shared = {name: value for name, value in keywords.items() if name != "variant"}
        returns = ("dgate", "dup") if packed is None else ("dpacked",)
        got = operators["silu_mul_bwd", returns](dy.contiguous(), gate, up, packed, **shared)
        return (*got, None) if packed is None else (None, None, got)


class _Once(Derivative):
    """Of a backward op: it has no derivative itself, which is said when that is taken."""

    @staticmethod
    def forward(run: Run, form: Form, inputs: Inputs) -> Outcome:
        return run(form.returns), ()

    @staticmethod
    def backward(
        saved: tuple[Tensor | None, ...],
        grads: dict[str, Tensor | None],
        needs: tuple[bool, ...],
        keywords: dict[str, Any],
    ) -> tuple[Tensor | None, ...]:
        raise RuntimeError(
            "einkorn: expected one derivative, got a second: the backward ops rms_norm_bwd and "
            "silu_mul_bwd have no backward themselves\n"
            "  hint: write the part that is differentiated twice with PyTorch's own functions"
        )


def _wider(one: Tensor, other: Tensor) -> torch.dtype:
    return torch.promote_types(one.dtype, other.dtype)


TABLE: dict[str, type[Derivative]] = {
    "rms_norm": RmsNorm,
    "rms_norm_bwd": _Once,
    "silu_mul": SiluMul,
    "silu_mul_bwd": _Once,
}
