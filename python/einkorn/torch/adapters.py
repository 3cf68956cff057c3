"""Adapters: how modules of other libraries call einkorn's ops, for einkorn.bind.

A module is known by what it computes, not by its name: the instructions of its class's `forward`
have to be those of a form below, and its class has to be the one that defines it. So a class that
was changed, a subclass and a copy with other mathematics are not taken; they are refused by name,
since a model that is bound in part is not what was asked for. One form serves each class that has
it: that of Hugging Face's LlamaRMSNorm is also that of Qwen3RMSNorm, MistralRMSNorm and many more.
"""

from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

from .. import ops
from .._slot import OpSlot
from . import nn as own
from ._adapting import Adapter, computes, has_name, is_form, is_unchanged

__all__ = ["DEFAULT", "GATED_MLP", "GEMMA_NORM", "LLAMA_NORM", "Adapter", "computes"]

_NAMES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.float64: "f64"}


# The forms, as transformers has them. Not called: their instructions are compared.


def _llama_norm(self, hidden_states):  # type: ignore[no-untyped-def]
    input_dtype = hidden_states.dtype
    hidden_states = hidden_states.to(torch.float32)
    variance = hidden_states.pow(2).mean(-1, keepdim=True)
    hidden_states = hidden_states * torch.rsqrt(variance + self.variance_epsilon)
    return self.weight * hidden_states.to(input_dtype)


def _gemma_norm(self, x):  # type: ignore[no-untyped-def]
    output = self._norm(x.float())
    output = output * (1.0 + self.weight.float())
    return output.type_as(x)


def _gemma_norm_norm(self, x):  # type: ignore[no-untyped-def]
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)


def _gated_mlp(self, x):  # type: ignore[no-untyped-def]
    down_proj = self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))
    return down_proj


def _silu(self, input):  # type: ignore[no-untyped-def]
    return nn.functional.silu(input)


def _is_weight(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dim() == 1 and value.dtype in _NAMES


class _Norm(Adapter):
    def resembles(self, module: nn.Module) -> bool:
        return has_name(module, "rmsnorm")

    @staticmethod
    def _problem(module: Any) -> dict[str, Any]:
        return {"cols": module.weight.numel(), "dtype": _NAMES[module.weight.dtype]}


class _LlamaNorm(_Norm):
    summary = "y = x / rms(x), rounded, * weight"

    def matches(self, module: nn.Module) -> bool:
        return is_form(module, forward=_llama_norm) and _is_weight(getattr(module, "weight", None))

    def slot(self, module: nn.Module) -> OpSlot:
        return OpSlot("rms_norm", self._problem(module), offset=0, rounding="llama")

    @staticmethod
    def forward(slot: OpSlot, module: Any, hidden_states: torch.Tensor) -> torch.Tensor:
        weight, x = module.weight, hidden_states.contiguous()
        narrower = x.dtype == torch.float32 and weight.dtype in (torch.float16, torch.bfloat16)
        if weight.dtype == x.dtype or narrower:
            return slot(x, weight, eps=module.variance_epsilon)
        # The product is of a dtype that is not x's, as under autocast: it stays PyTorch's.
        return weight * slot(x, eps=module.variance_epsilon)


class _GemmaNorm(_Norm):
    summary = "y = x / rms(x) * (1 + weight), rounded once"

    def matches(self, module: nn.Module) -> bool:
        return is_form(module, forward=_gemma_norm, _norm=_gemma_norm_norm) and _is_weight(
            getattr(module, "weight", None)
        )

    def slot(self, module: nn.Module) -> OpSlot:
        return OpSlot("rms_norm", self._problem(module), offset=1, rounding="gemma")

    @staticmethod
    def forward(slot: OpSlot, module: Any, x: torch.Tensor) -> torch.Tensor:
        weight = module.weight
        if torch.float64 in (x.dtype, weight.dtype) and x.dtype != weight.dtype:
            weight = weight.to(x.dtype)
        return slot(x.contiguous(), weight, eps=module.eps)


class _GatedMlp(Adapter):
    summary = "y = down_proj(silu(gate_proj(x)), rounded, * up_proj(x))"

    def matches(self, module: nn.Module) -> bool:
        return is_form(module, forward=_gated_mlp) and _is_silu(getattr(module, "act_fn", None))

    def resembles(self, module: nn.Module) -> bool:
        parts = ("gate_proj", "up_proj", "down_proj")
        has_silu = any(_looks_like_silu(one) for one in module.children())
        return has_silu and all(isinstance(getattr(module, one, None), nn.Module) for one in parts)

    def slot(self, module: nn.Module) -> OpSlot:
        return OpSlot("silu_mul", _gate_problem(module), rounding="silu")

    @staticmethod
    def forward(slot: OpSlot, module: Any, x: torch.Tensor) -> torch.Tensor:
        return module.down_proj(slot(module.gate_proj(x), module.up_proj(x)))


class _OwnNorm(Adapter):
    summary = "einkorn.torch.nn.RMSNorm that calls einkorn.ops.rms_norm"

    def matches(self, module: nn.Module) -> bool:
        return _is_own(module, own.RMSNorm, ops.rms_norm)

    def resembles(self, module: nn.Module) -> bool:
        return isinstance(module, own.RMSNorm)

    def slot(self, module: nn.Module) -> OpSlot:
        problem = known_problems(module)["op"]
        return OpSlot("rms_norm", problem, offset=module.offset, rounding=module.rounding)

    @staticmethod
    def forward(
        slot: OpSlot, module: Any, x: torch.Tensor, residual: torch.Tensor | None = None
    ) -> Any:
        extra = {} if residual is None else {"residual_out": True}
        return slot(x, module.weight, residual, eps=module.eps, **extra)


class _OwnMlp(Adapter):
    summary = "einkorn.torch.nn.SwiGLU that calls einkorn.ops.silu_mul"

    def matches(self, module: nn.Module) -> bool:
        return _is_own(module, own.SwiGLU, ops.silu_mul)

    def resembles(self, module: nn.Module) -> bool:
        return isinstance(module, own.SwiGLU)

    def slot(self, module: nn.Module) -> OpSlot:
        return OpSlot("silu_mul", known_problems(module)["op"], rounding=module.rounding)

    forward = staticmethod(_GatedMlp.forward)


def _is_own(module: Any, kind: type[Any], function: Any) -> bool:
    """Ours, with nothing said of what it calls."""
    if type(module) is not kind or not is_unchanged(module, "forward"):
        return False
    return bool(module.op is function and module.variant is None)


def known_problems(module: Any) -> dict[str, dict[str, Any] | None]:
    """What is known when it is bound of the calls of one of our modules, by attribute."""
    if isinstance(module, own.RMSNorm):
        if module.weight is None:
            return {"op": {"cols": module.hidden, "weight": "none"}}
        return {"op": {"cols": module.hidden, "dtype": _NAMES[module.weight.dtype]}}
    if isinstance(module, own.SwiGLU):
        return {"op": _gate_problem(module)}
    return {}


def _gate_problem(module: Any) -> dict[str, Any] | None:
    weight = getattr(module.gate_proj, "weight", None)
    if type(module.gate_proj) is nn.Linear and weight is not None and weight.dtype in _NAMES:
        return {"cols": weight.shape[0], "dtype": _NAMES[weight.dtype]}
    return None  # a projection of another kind: quantised, of low rank


def _is_silu(module: Any) -> bool:
    """Also without hooks, which would not run: this module is not called any more."""
    if not isinstance(module, nn.Module) or not _looks_like_silu(module):
        return False
    hooks = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    if "forward" in vars(module) or any(getattr(module, one) for one in hooks):
        return False
    return type(module) is nn.SiLU or is_form(module, forward=_silu)


def _looks_like_silu(module: nn.Module) -> bool:
    return has_name(module, "silu") or has_name(module, "swish")


LLAMA_NORM: Adapter = _LlamaNorm()
#: Of weights around zero. Not among the default ones: name it where the model's weights are such.
GEMMA_NORM: Adapter = _GemmaNorm()
GATED_MLP: Adapter = _GatedMlp()

#: For einkorn.torch.nn, and the forms of transformers.
DEFAULT: tuple[Adapter, ...] = (_OwnNorm(), _OwnMlp(), LLAMA_NORM, GATED_MLP)


def refusal(module: nn.Module, adapters: Iterable[Adapter]) -> str | None:
    """Why a module that none of the adapters matches cannot stay in a bound model; None: it can."""
    near = next((one for one in adapters if one.resembles(module)), None)
    if near is None:
        return None
    if GEMMA_NORM.matches(module):
        return (
            f"{_kind(module)} is {GEMMA_NORM.summary}\n"
            "    hint: adapters=[*einkorn.torch.adapters.DEFAULT, "
            "einkorn.torch.adapters.GEMMA_NORM]"
        )
    return f"{_kind(module)} is not, or not known to be, {near.summary}"


def _kind(module: nn.Module) -> str:
    return f"{type(module).__module__}.{type(module).__qualname__}"
