"""einkorn for PyTorch: importing it registers `torch.ops.einkorn.*`, one operator for each op.

    import einkorn.torch
    y = torch.ops.einkorn.rms_norm(x, weight)
    y, h = torch.ops.einkorn.rms_norm_residual_out(x, weight, residual)

`einkorn.ops` does the same with less to type, and comes here where PyTorch's dispatcher is needed:
for gradients, torch.compile, fake and meta tensors, modes and subclasses. Modules are in
`einkorn.torch.nn`.
"""

from typing import Any

try:
    import torch
except ImportError as error:
    raise ImportError(
        f"einkorn.torch: PyTorch cannot be imported: {error}\n  hint: pip install torch"
    ) from error

from .. import _dispatch
from ._forms import kernels
from ._registration import call

__all__ = ["adapters", "call", "kernels", "nn"]


def __getattr__(name: str) -> Any:
    if name in ("adapters", "nn"):
        import importlib

        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'einkorn.torch' has no attribute '{name}'")


def _meet() -> None:
    from .._torch_calls import call as call_from_ops  # which needs what is above

    _dispatch.is_tracing = torch.compiler.is_dynamo_compiling
    _dispatch.add_handler((torch.Tensor, torch.nn.Parameter), call_from_ops)


_meet()
