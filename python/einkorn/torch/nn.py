"""Modules that call einkorn's ops.

Each calls its attribute `op`: the op's function in einkorn.ops at first, or whatever takes the same
arguments, such as an einkorn.OpSlot that einkorn.bind binds. `variant` names the one implementation
for einkorn's function; a slot has its own, so the two exclude each other. State keys are those of
the usual modules and stay.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from .. import ops


class _Module(nn.Module):
    """What the modules share: the op that they call."""

    def __init__(
        self, function: Callable[..., Any], op: Callable[..., Any] | None, variant: str | None
    ) -> None:
        super().__init__()
        if op is not None and variant is not None:
            raise ValueError(
                f"{type(self).__name__}: variant: expected None with op, got {variant!r}\n"
                "  hint: a slot's variant is said when it is bound"
            )
        self.op = function if op is None else op
        self.variant = variant

    def _chosen(self) -> dict[str, str]:
        return {} if self.variant is None else {"variant": self.variant}

    def _op_text(self) -> str:
        """For extra_repr: nothing of what is as at first."""
        text = "" if self.variant is None else f", variant={self.variant!r}"
        known = getattr(ops, getattr(self.op, "__name__", ""), None)
        return text if known is self.op else f"{text}, op={self.op!r}"


class RMSNorm(_Module):
    """y = x / sqrt(mean(x^2) + eps) * (weight + offset) over the last dimension.

    Args:
        hidden: size of the last dimension
        eps: positive and finite
        offset: 0; or 1, for a weight that starts from zero (gemma)
        rounding: where intermediate results are rounded to x's dtype, as for einkorn.ops.rms_norm
        elementwise_affine: False: no weight
        op, variant: what is called
        device, dtype: of the weight

    State key: `weight`, if there is one.
    """

    def __init__(
        self,
        hidden: int,
        eps: float = 1e-6,
        *,
        offset: int = 0,
        rounding: str = "llama",
        elementwise_affine: bool = True,
        op: Callable[..., Any] | None = None,
        variant: str | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(ops.rms_norm, op, variant)
        self.hidden = hidden
        self.eps = eps
        self.offset = offset
        self.rounding = rounding
        self.weight: nn.Parameter | None
        if elementwise_affine:
            self.weight = nn.Parameter(torch.empty(hidden, device=device, dtype=dtype))
        else:
            self.register_parameter("weight", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """To a factor of one: weight + offset = 1."""
        if self.weight is not None:
            nn.init.constant_(self.weight, 1 - self.offset)

    def forward(self, x: Tensor, residual: Tensor | None = None) -> Any:
        """The norm of x; or, with a residual, that of h = x + residual, and h."""
        extra = {} if residual is None else {"residual_out": True}
        return self.op(
            x,
            self.weight,
            residual,
            eps=self.eps,
            offset=self.offset,
            rounding=self.rounding,
            **extra,
            **self._chosen(),
        )

    def extra_repr(self) -> str:
        text = f"{self.hidden}, eps={self.eps}"
        if self.offset:
            text += f", offset={self.offset}"
        if self.rounding != "llama":
            text += f", rounding={self.rounding!r}"
        if self.weight is None:
            text += ", elementwise_affine=False"
        return text + self._op_text()


class SwiGLU(_Module):
    """y = down_proj(silu(gate_proj(x)) * up_proj(x)), the MLP of Llama and its kin.

    Args:
        hidden: size of x's and y's last dimension
        intermediate: size of the product's
        bias: of all three projections
        rounding: "silu" rounds silu(gate) before the product, as eager PyTorch does
        op, variant: what computes the product
        device, dtype: of the weights

    State keys: `gate_proj.weight`, `up_proj.weight`, `down_proj.weight`, and biases likewise.
    """

    def __init__(
        self,
        hidden: int,
        intermediate: int,
        *,
        bias: bool = False,
        rounding: str = "once",
        op: Callable[..., Any] | None = None,
        variant: str | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(ops.silu_mul, op, variant)
        self.rounding = rounding
        made: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        self.gate_proj = nn.Linear(hidden, intermediate, **made)
        self.up_proj = nn.Linear(hidden, intermediate, **made)
        self.down_proj = nn.Linear(intermediate, hidden, **made)

    def forward(self, x: Tensor) -> Tensor:
        """[..., hidden] to [..., hidden]."""
        product = self.op(
            self.gate_proj(x), self.up_proj(x), rounding=self.rounding, **self._chosen()
        )
        return self.down_proj(product)

    def extra_repr(self) -> str:
        text = "" if self.rounding == "once" else f", rounding={self.rounding!r}"
        return (text + self._op_text()).removeprefix(", ")
