"""Whole calls of the prefill ops on inputs made on the GPU, fla beside them.

    .venv/bin/python bench/linear_attention/prefill.py [--rows NAME,...] [--peers] [--seconds S]

For sizes whose inputs take long to make on the CPU (`einkorn bench` makes them there). Every
contender of a row runs on the same inputs, interleaved; a sample is one replay of a CUDA graph of
calls, between two events, behind an untimed one. Prints one JSON document.
"""

import argparse
import dataclasses
import datetime
import importlib
import json
import pathlib
import statistics
import subprocess
import sys
from collections.abc import Callable
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import einkorn  # noqa: E402
import torch  # noqa: E402

DIM = 128  # K and V
SAMPLE_US = 3000.0


@dataclasses.dataclass(frozen=True)
class Row:
    op: str
    batch: int
    tokens: int
    heads: int
    lengths: tuple[int, ...] = ()  # of packed sequences


# Ten sequences as the split's test has them: one of half of the tokens, the others shorter.
SKEWED = (4096, 1024, 768, 640, 512, 384, 320, 256, 128, 64)
ROWS = {
    "kda": Row("kda_prefill", 1, 8192, 64),
    "kda-b2": Row("kda_prefill", 2, 8192, 64),
    "kda-t1024": Row("kda_prefill", 1, 1024, 64),
    "kda-t65536-h32": Row("kda_prefill", 1, 65536, 32),
    "kda-t65536-h4": Row("kda_prefill", 1, 65536, 4),
    "kda-packed": Row("kda_prefill", 1, 8192, 64, SKEWED),
    "gdn": Row("gdn_prefill", 1, 8192, 64),
    "lightning": Row("lightning_prefill", 1, 8192, 64),
    "kda-h16-8k": Row("kda_prefill", 1, 1 << 13, 16),
    "kda-h16-64k": Row("kda_prefill", 1, 1 << 16, 16),
    "kda-h16-256k": Row("kda_prefill", 1, 1 << 18, 16),
    "kda-h16-1m": Row("kda_prefill", 1, 1 << 20, 16),
}


def draw(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    return torch.empty(shape, device="cuda", dtype=dtype).normal_()


def inputs(row: Row) -> dict[str, Any]:
    lead = (row.batch, row.tokens, row.heads)
    made: dict[str, Any] = {name: draw(*lead, DIM) for name in "qkv"}
    if row.op == "lightning_prefill":
        # As the models have it: slopes of attention with linear biases.
        steps = torch.arange(1, row.heads + 1, device="cuda", dtype=torch.float32)
        return made | {"decay": -(2.0 ** (-8.0 * steps / row.heads))}
    channels = (DIM,) if row.op == "kda_prefill" else ()
    made["g"] = draw(*lead, *channels)
    made["beta"] = draw(*lead)
    made["a_log"] = draw(row.heads, dtype=torch.float32)
    made["dt_bias"] = draw(row.heads, *channels, dtype=torch.float32)
    return made


def bounds(row: Row) -> torch.Tensor | None:
    if not row.lengths:
        return None
    assert sum(row.lengths) == row.tokens
    return torch.tensor((0, *row.lengths)).cumsum(0).int()


def ours(row: Row, made: dict[str, Any]) -> Callable[[], torch.Tensor]:
    op = getattr(einkorn.ops, row.op)
    said: dict[str, Any] = {"state_layout": "vk"}
    if row.op != "lightning_prefill":
        said |= {"beta_form": "logit", "l2norm": True}
        said["gate"] = "lower_bound" if row.op == "kda_prefill" else "softplus"
    on_cpu = bounds(row)
    if on_cpu is not None:
        said |= {"cu_seqlens": on_cpu.cuda(), "cu_seqlens_cpu": on_cpu}
    sequences = len(row.lengths) or row.batch
    out = torch.empty_like(made["v"])
    state = torch.empty(sequences, row.heads, DIM, DIM, device="cuda")
    return lambda: op(**made, **said, out=out, final_state=state)[0]


def fla(row: Row, made: dict[str, Any]) -> Callable[[], torch.Tensor]:
    said: dict[str, Any] = {"output_final_state": True}
    on_cpu = bounds(row)
    if on_cpu is not None:
        said |= {"cu_seqlens": on_cpu.long().cuda(), "cu_seqlens_cpu": on_cpu.long()}
    q, k, v = (made[name] for name in "qkv")
    if row.op == "lightning_prefill":
        function = importlib.import_module("fla.ops.simple_gla").chunk_simple_gla
        return lambda: function(q, k, v, g_gamma=made["decay"], **said)[0]
    said |= {"use_qk_l2norm_in_kernel": True, "use_beta_sigmoid_in_kernel": True}
    said |= {"use_gate_in_kernel": True, "A_log": made["a_log"], "dt_bias": made["dt_bias"]}
    said |= {"state_v_first": True}
    if row.op == "kda_prefill":
        said |= {"safe_gate": True, "lower_bound": -5.0, "dt_bias": made["dt_bias"].flatten()}
        function = importlib.import_module("fla.ops.kda").chunk_kda
    else:
        function = importlib.import_module("fla.ops.gated_delta_rule").chunk_gated_delta_rule
    return lambda: function(q, k, v, made["g"], made["beta"], **said)[0]


class Sample:
    """Takes samples of a call, microseconds."""

    def __init__(self, call: Callable[[], torch.Tensor]) -> None:
        self.call = call
        self.stream = torch.cuda.Stream()
        self.events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        with torch.inference_mode(), torch.cuda.stream(self.stream):
            self.first = call()  # compiles, tunes
            call()
        self.stream.synchronize()
        self.record(1)
        self.record(max(1, min(64, int(SAMPLE_US / min(self.take() for _ in range(2))))))

    def record(self, calls: int) -> None:
        self.calls = calls
        self.graph = torch.cuda.CUDAGraph()
        with torch.inference_mode(), torch.cuda.graph(self.graph, stream=self.stream):
            for _ in range(calls):
                self.call()

    def take(self) -> float:
        with torch.cuda.stream(self.stream):
            self.graph.replay()  # keeps the device busy until the timed one is queued
            self.events[0].record()
            self.graph.replay()
            self.events[1].record()
        self.stream.synchronize()
        return 1e3 * self.events[0].elapsed_time(self.events[1]) / self.calls


def apart(got: torch.Tensor, want: torch.Tensor) -> float:
    """Relative RMS distance of the first and the last 1024 tokens."""
    worst = 0.0
    for part in (slice(0, 1024), slice(-1024, None)):
        a, b = got[:, part].double(), want[:, part].double()
        worst = max(worst, ((a - b).norm() / b.norm()).item())
    return worst


def measure(row: Row, seconds: float, with_peers: bool) -> dict[str, Any]:
    made = inputs(row)
    contenders = {"einkorn": ours(row, made)}
    if with_peers:
        contenders["fla"] = fla(row, made)
    out: dict[str, Any] = dataclasses.asdict(row)
    samples: dict[str, Sample] = {}
    for name, call in contenders.items():
        try:
            samples[name] = Sample(call)
        except Exception as error:  # of a peer: it is reported; of ours: nothing is left to measure
            if name == "einkorn":
                raise
            out[f"{name}_skipped"] = f"{type(error).__name__}: {str(error)[:200]}"
    if "fla" in samples:
        out["fla_apart"] = apart(samples["fla"].first, samples["einkorn"].first)
    times: dict[str, list[float]] = {name: [] for name in samples}
    spent = 0.0
    while spent < seconds * 1e6 or len(times["einkorn"]) < 5:
        for name, sample in samples.items():
            times[name].append(sample.take())
            spent += 2 * times[name][-1] * sample.calls
    for name, taken in times.items():
        out[f"{name}_us"] = round(statistics.median(taken), 2)
    return out


def commit() -> str:
    said = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True
    )
    return said.stdout.strip() if said.returncode == 0 else "unknown"


def driver() -> str:
    said = subprocess.run(
        ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
        capture_output=True,
        text=True,
        check=True,
    )
    return said.stdout.splitlines()[0]


def versions(with_peers: bool) -> dict[str, str]:
    out = {"einkorn": einkorn.__version__, "torch": torch.__version__}
    if with_peers:
        out["triton"] = importlib.import_module("triton").__version__
        out["fla"] = importlib.import_module("fla").__version__
    return out


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", default=",".join(ROWS), help="names, by commas")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--seconds", type=float, default=0.3, help="measuring time of a row")
    args = parser.parse_args()
    torch.manual_seed(1)
    results = []
    for name in args.rows.split(","):
        results.append({"name": name} | measure(ROWS[name], args.seconds, args.peers))
        said = {k: v for k, v in results[-1].items() if k.endswith(("_us", "apart", "skipped"))}
        print(name, said, file=sys.stderr, flush=True)
        torch.cuda.empty_cache()
    document = {
        "what": "whole calls, microseconds; medians",
        "device": torch.cuda.get_device_name(0),
        "driver": driver(),
        "versions": versions(args.peers),
        "commit": commit(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "results": results,
    }
    print(json.dumps(document, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
