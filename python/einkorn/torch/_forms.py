"""A form of an op: one of its PyTorch operators."""

import dataclasses
from collections.abc import Callable
from typing import Any

import torch

from .._op import Op

NAMESPACE = "einkorn"


@dataclasses.dataclass(frozen=True, eq=False)
class Form:
    """`torch.ops.einkorn.<name>`: the op's with the names of the outputs that it returns beyond the
    required ones, or with `_out`, which returns none and writes to given tensors.
    """

    op: Op
    name: str
    returns: tuple[str, ...]  #: names of the outputs given back
    schema: str
    kernel: Callable[..., Any]
    autograd: Callable[..., Any]
    fake: Callable[..., Any]

    @property
    def operator(self) -> torch._ops.OpOverload:
        return getattr(torch.ops.einkorn, self.name).default


#: By op's name and outputs given back; filled when the operators are registered.
returning: dict[tuple[str, tuple[str, ...]], Form] = {}
#: Their operators, by the same.
operators: dict[tuple[str, tuple[str, ...]], Any] = {}
#: The operators that write to given tensors, by op's name.
out_operators: dict[str, Any] = {}
#: Kernels by op's name and what einkorn.ops is told of each output: None, or True to allocate it.
kernels: dict[tuple[str, tuple[bool | None, ...]], Callable[..., Any]] = {}
