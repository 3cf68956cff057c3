"""What goes before the arguments of a launch, each checked under its own name."""

from collections.abc import Sequence
from typing import Any

from ._jit_request import is_list

#: A size of one to three dimensions.
Dims = int | Sequence[int]

SETTINGS = ("grid", "block", "smem", "cluster", "pdl", "cooperative", "device")

# Flags, as the library has them.
_PDL, _COOPERATIVE, WAIT, PREPARE = 1, 2, 4, 8


def _index(size: Any) -> int | None:
    if isinstance(size, bool) or not hasattr(size, "__index__"):
        return None
    try:
        return int(size.__index__())
    except TypeError:  # an array of several
        return None


def _dims(size: Dims, what: str, who: str) -> tuple[int, int, int]:
    # First what is passed almost always: each launch comes by.
    if type(size) is int and 0 <= size < 2**32:
        return (size, 1, 1)
    if type(size) is tuple and len(size) == 2:
        x, y = size
        if type(x) is int and type(y) is int and 0 <= x < 2**32 and 0 <= y < 2**32:
            return (x, y, 1)
    if (index := _index(size)) is not None:
        return (_size(index, what, who), 1, 1)
    sizes = [_index(one) for one in size] if is_list(size) else []  # type: ignore[union-attr]
    if not 1 <= len(sizes) <= 3 or None in sizes:
        raise TypeError(f"{who}: {what}: expected one to three integers, got {size!r}")
    return tuple(_size(one, what, who) for one in (*sizes, 1, 1)[:3])  # type: ignore[return-value]


def _size(size: Any, what: str, who: str) -> int:
    if type(size) is int and 0 <= size < 2**32:
        return size
    if (index := _index(size)) is None:
        raise TypeError(f"{who}: {what}: expected an integer, got {size!r}")
    if not 0 <= index < 2**32:
        raise ValueError(f"{who}: {what}: expected a size from 0 to 4294967295, got {size}")
    return index


def _flag(given: Any, flag: int, what: str, who: str) -> int:
    if given is False:
        return 0
    if given is not True:
        raise TypeError(f"{who}: {what}: expected True or False, got {given!r}")
    return flag


def _gpu(device: Any, who: str) -> int:
    """-1: that of the arrays."""
    if device is None:
        return -1
    index = _index(device)
    if index is None or index < 0:
        raise (TypeError if index is None else ValueError)(
            f"{who}: device: expected the index of a GPU, got {device!r}\n"
            "  hint: arrays tell the device; without any it is device=0, say"
        )
    return index


def head(
    who: str,
    flags: int,
    grid: Dims,
    block: Dims,
    smem: int = 0,
    cluster: Dims | None = None,
    pdl: bool = False,
    cooperative: bool = False,
    device: int | None = None,
) -> tuple[int, ...]:
    """The twelve numbers that go before a launch's arguments.

    TypeError, ValueError: one of the settings, by its name.
    """
    return (
        flags | _flag(pdl, _PDL, "pdl", who) | _flag(cooperative, _COOPERATIVE, "cooperative", who),
        *_dims(grid, "grid", who),
        *_dims(block, "block", who),
        _size(smem, "smem", who),
        *((1, 1, 1) if cluster is None else _dims(cluster, "cluster", who)),
        _gpu(device, who),
    )
