"""x times the logistic function of a gate."""

import gatelib_C
import torch

_library = torch.library.Library("gatelib", "FRAGMENT")
_library.define("gate_add(Tensor x, Tensor gate, Tensor y) -> Tensor")


def gate(x: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
    if x.shape != gate.shape:
        raise ValueError("x and gate must have one shape")
    out = torch.empty_like(x)
    _gate_out(x, gate, out)
    return out


@torch.library.custom_op("gatelib::gate_out", mutates_args=("out",))
def _gate_out(x: torch.Tensor, gate: torch.Tensor, out: torch.Tensor) -> None:
    gatelib_C.gate_out(x, gate, out)


@_gate_out.register_fake
def _(x, gate, out):
    return None


def _gate_add_cuda(x, gate, y):
    out = torch.empty_like(x)
    gatelib_C.gate_out(x, gate, out)
    return out + y


_library.impl("gate_add", _gate_add_cuda, "CUDA")


def gate_add(x: torch.Tensor, gate: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.ops.gatelib.gate_add(x, gate, y)
