"""How outputs are allocated, and which calls need nothing else from PyTorch's dispatcher."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch._C import DispatchKey, DispatchKeySet

# Names of a module's own, which are found faster than attributes.
empty_like = torch.empty_like
# Asked for because the order of memory that PyTorch would keep of an overlapping view is none.
CONTIGUOUS = torch.contiguous_format


def shaped(model: Tensor, shape: Sequence[int]) -> Tensor:
    if shape == model.shape:  # new_empty takes twice as long
        return empty_like(model, memory_format=CONTIGUOUS)
    return model.new_empty(shape)


def f32_plus(model: Tensor) -> torch.dtype:
    """That of numbers kept apart from the tensors' own precision."""
    return torch.float64 if model.dtype == torch.float64 else torch.float32


def empty(model: Tensor, shape: tuple[int, ...], dtype: str | None) -> Tensor:
    """An output as its rule describes it, see Rule."""
    if dtype is None:
        return model.new_empty(shape)
    return model.new_empty(shape, dtype=f32_plus(model) if dtype == "f32+" else torch.float32)


def _key_sets() -> frozenset[int]:
    plain = set()
    for dense, autograd in (
        (DispatchKey.CPU, DispatchKey.AutogradCPU),
        (DispatchKey.CUDA, DispatchKey.AutogradCUDA),
    ):
        keys = DispatchKeySet(dense) | DispatchKeySet(autograd)
        plain.add(keys.raw_repr())
    return frozenset(plain)


#: The dispatch keys of a call in which only tensors of one device's memory take part: no subclass,
#: no mode, no fake, functional, batched, sparse or quantised tensor, no lazy conjugation.
PLAIN = _key_sets()
