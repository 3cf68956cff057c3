"""What is to be timed: one problem, on one device, over rotating input sets."""

import dataclasses
import importlib
import itertools
from collections.abc import Callable
from typing import Any


class Skipped(Exception):  # noqa: N818 - a state, not an error
    """Why a peer does not take part."""


@dataclasses.dataclass(frozen=True)
class Task:
    keys: dict[str, str]  # as typed on the command line, defaults filled in
    given: frozenset[str]  # keys that were not left at their default
    device: str
    seed: int
    sets: int
    lengths: tuple[int, ...] = ()  # of packed sequences, where the asking side says them

    @staticmethod
    def from_request(request: dict[str, Any]) -> "Task":
        keys = request.get("defaults", {}) | request["keys"]
        return Task(
            keys=keys,
            given=frozenset(request["keys"]),
            device=request["device"],
            seed=request["seed"],
            sets=request["sets"],
        )

    def integer(self, key: str) -> int:
        return int(self.keys[key])

    def flag(self, key: str) -> bool:
        return self.keys[key] == "true"

    def dtype(self, key: str) -> Any:
        """A torch dtype; None for "none"."""
        import torch

        names = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "none": None}
        return names[self.keys[key]]

    def rows_of(self, cols: int, dtype: Any, generator: Any) -> Any:
        """Random [rows, cols] with the problem's layout."""
        import torch

        gap = 32 if self.keys.get("layout") == "row_strided" else 0
        whole = torch.randn(
            self.integer("rows"),
            cols + gap,
            generator=generator,
            device=self.device,
            dtype=torch.float32,
        ).to(dtype)
        return whole[:, :cols]


# Takes one input set, gives one tensor or several.
Function = Callable[..., Any]


@dataclasses.dataclass
class Peer:
    name: str
    # Gives the function and the library's version; raises when the library is not there.
    load: Callable[[], tuple[Function, str]]
    inputs: list[tuple[Any, ...]]  # one tuple of arguments for each set; shared between peers
    expected: Function  # the result in float64, for arguments in float64


def modules_of(library: str, *names: str) -> tuple[Any, ...]:
    """A library's modules; a peer that needs them is skipped where it is not installed."""
    try:
        return tuple(importlib.import_module(name) for name in names)
    except ImportError as error:
        raise Skipped(f"{library} cannot be imported: {error}") from error


def packed_bounds(task: Task) -> list[int] | None:
    """Where packed sequences begin, then the end of the last; None where each row is one."""
    if task.integer("seqs") == 0:
        return None
    if not task.lengths:
        raise Skipped("the lengths of the packed sequences are not told to peers")
    return [0, *itertools.accumulate(task.lengths)]


def needs_cuda(task: Task) -> None:
    if not task.device.startswith("cuda"):
        raise Skipped("needs a CUDA device")


def compiled(function: Function) -> tuple[Function, str]:
    """What Peer.load gives for torch.compile of a formula."""
    import torch

    return torch.compile(function, fullgraph=True, dynamic=False), torch.__version__
