"""Kernels of one's own as operators of PyTorch."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ._jit_kernels import Kernel
from ._jit_request import is_list


def _schema_type(kernel: Kernel, index: int, optional: bool) -> str:
    parameter = kernel.parameters[index]
    if parameter.kind == "pointer":
        return "Tensor?" if optional else "Tensor"
    if parameter.kind != "number":
        got = parameter.type or f"{parameter.bytes} bytes of no known type"
        raise TypeError(
            f"{kernel.entry.expression}: parameter {index + 1}: expected a pointer or a number for "
            f"an operator of PyTorch, got {got}\n"
            '  hint: extern "C" kernels tell no types; torch.library.custom_op takes a function '
            "of yours that calls the kernel"
        )
    return "bool" if parameter.boolean else "float" if parameter.floating else "SymInt"


def _checked_name(who: str, name: Any) -> str:
    parts = name.split("::") if isinstance(name, str) else []
    if len(parts) != 2 or not all(part.isidentifier() for part in parts):
        raise (ValueError if isinstance(name, str) else TypeError)(
            f'{who}: name: expected "namespace::name" of an operator, got {name!r}'
        )
    return str(parts[1])


def _texts(who: str, what: str, texts: Any) -> list[str]:
    names: list[Any] = list(texts) if is_list(texts) else [None]
    if not all(isinstance(one, str) for one in names):
        raise TypeError(f"{who}: {what}: expected a list of names, got {texts!r}")
    return names


def _checked_names(kernel: Kernel, arguments: Sequence[str]) -> tuple[list[str], list[bool]]:
    who = kernel.entry.expression
    arguments = _texts(who, "arguments", arguments)
    if len(arguments) != len(kernel.parameters):
        types = ", ".join(one.type for one in kernel.parameters)
        raise ValueError(
            f"{who}: arguments: expected a name for each of {len(kernel.parameters)} parameters "
            f"({types}), got {arguments}"
        )
    names = [name.removesuffix("?") for name in arguments]
    if len(set(names)) != len(names) or not all(name.isidentifier() for name in names):
        raise ValueError(f"{who}: arguments: expected different identifiers, got {names}")
    return names, [name.endswith("?") for name in arguments]


def _written(kernel: Kernel, names: list[str], mutates: Sequence[str] | None) -> list[str]:
    pointers = [
        name
        for name, one in zip(names, kernel.parameters, strict=True)
        if one.kind == "pointer" and not one.const
    ]
    if mutates is None:
        return pointers
    mutates = _texts(kernel.entry.expression, "mutates", mutates)
    for name in mutates:
        if name not in pointers:
            raise ValueError(
                f"{kernel.entry.expression}: mutates: expected some of {pointers}, which are "
                f"pointers to what is not const, got '{name}'"
            )
    return mutates


def custom_op(
    kernel: Kernel,
    name: str,
    arguments: Sequence[str],
    mutates: Sequence[str] | None,
    run: Callable[..., None],
    device: str,
) -> Any:
    """See CudaKernel.as_custom_op."""
    base = _checked_name(kernel.entry.expression, name)
    names, optional = _checked_names(kernel, arguments)
    written = _written(kernel, names, mutates)
    parts = []
    for index, one in enumerate(names):
        kind = _schema_type(kernel, index, optional[index])
        if one in written:
            kind = kind.replace("Tensor", f"Tensor(a{index}!)")
        parts.append(f"{kind} {one}")

    def fake(*_: Any, **__: Any) -> None:
        return None

    fake.__name__ = f"_fake_{base}"
    operator = torch.library.custom_op(
        name, run, mutates_args=written, schema=f"({', '.join(parts)}) -> ()", device_types=device
    )
    operator.register_fake(fake)
    return operator
