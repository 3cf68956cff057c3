"""Samples taken the way einkorn takes its own: CUDA graphs between events, or the steady clock."""

import math
import time
from collections.abc import Callable
from typing import Any

import torch
from task import Function, Peer, Skipped, Task

SAMPLE_US = 5000.0
MAX_CALLS = 4096
CHECKED_ROWS = 64
# Largest ||got - want|| / ||want||: loose, only a broken peer is beyond it.
LOOSE = {torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 3e-2}


def calls_for(call_us: float, sets: int) -> int:
    """Calls that make a sample of about 5 ms, in whole rotations over the sets."""
    calls = min(max(math.ceil(SAMPLE_US / max(call_us, 0.01)), 1), MAX_CALLS)
    return -(-calls // sets) * sets if calls > sets else calls


def first_tensor(result: Any) -> torch.Tensor:
    return result[0] if isinstance(result, tuple) else result


def check_result(task: Task, peer: Peer, function: Function) -> None:
    """Compares the first rows of the first result with float64; all of one whose op has no rows."""
    arguments = peer.inputs[0]
    by_row = "rows" in task.keys
    with torch.no_grad():
        got = first_tensor(function(*arguments)).double()
        wide = [one.double() for one in arguments if one is not None]
        if by_row:
            rows = min(CHECKED_ROWS, task.integer("rows"))
            got = got[:rows]
            wide = [one.narrow(0, 0, rows) if one.ndim > 1 else one for one in wide]
        narrowed = iter(wide)
        want = first_tensor(
            peer.expected(*[None if one is None else next(narrowed) for one in arguments])
        )
    error = ((got - want).norm() / want.norm().clamp_min(1e-30)).item()
    bound = LOOSE[task.dtype("dtype")]
    if not error <= bound:  # NaN is not
        raise Skipped(f"wrong result: relative error {error:.3g} is over {bound}")


def make_sample(task: Task, peer: Peer, function: Function) -> Callable[[], float]:
    """A function that takes one sample, microseconds per call."""
    if task.device.startswith("cuda"):
        return GraphSample(peer, function).take
    return HostSample(peer, function).take


class GraphSample:
    def __init__(self, peer: Peer, function: Function) -> None:
        self.inputs = peer.inputs
        self.function = function
        self.stream = torch.cuda.Stream()
        # Results are held until their set comes again, so that outputs rotate like inputs.
        self.results: list[Any] = [None] * len(self.inputs)
        with torch.no_grad(), torch.cuda.stream(self.stream):
            for _ in range(2):
                self.call(len(self.inputs))
        self.stream.synchronize()
        self.start = torch.cuda.Event(enable_timing=True)
        self.stop = torch.cuda.Event(enable_timing=True)
        self.record(len(self.inputs))
        call_us = min(self.take() for _ in range(3))
        calls = max(calls_for(call_us, len(self.inputs)), len(self.inputs))
        if calls != self.calls:
            self.record(calls)

    def call(self, count: int) -> None:
        for i in range(count):
            which = i % len(self.inputs)
            self.results[which] = None
            self.results[which] = self.function(*self.inputs[which])

    def record(self, calls: int) -> None:
        self.results = [None] * len(self.inputs)
        self.calls = calls
        self.graph = torch.cuda.CUDAGraph()
        with torch.no_grad(), torch.cuda.graph(self.graph, stream=self.stream):
            self.call(calls)

    def take(self) -> float:
        with torch.cuda.stream(self.stream):
            self.graph.replay()  # keeps the device busy until the timed one is queued
            self.start.record()
            self.graph.replay()
            self.stop.record()
        self.stop.synchronize()
        return 1e3 * self.start.elapsed_time(self.stop) / self.calls


class HostSample:
    def __init__(self, peer: Peer, function: Function) -> None:
        self.inputs = peer.inputs
        self.function = function
        self.results: list[Any] = [None] * len(self.inputs)
        self.next = 0
        self.calls = len(self.inputs)
        self.take()
        self.calls = 1
        call_us = min(self.take() for _ in range(min(len(self.inputs), 5)))
        self.calls = calls_for(call_us, len(self.inputs))

    def take(self) -> float:
        with torch.no_grad():
            begin = time.perf_counter_ns()
            for _ in range(self.calls):
                self.results[self.next] = self.function(*self.inputs[self.next])
                self.next = (self.next + 1) % len(self.inputs)
            end = time.perf_counter_ns()
        return (end - begin) / 1e3 / self.calls
