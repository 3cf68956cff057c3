"""Whole calls of the prefill ops on inputs made on the GPU, other libraries beside them.

    .venv/bin/python bench/linear_attention/prefill.py [--rows NAME,...] [--peers]
        [--seconds S] [--output FILE]

For sizes whose inputs take long to make on the CPU (`einkorn bench` makes them there). Every
contender of a row runs on the same inputs, interleaved; a sample is one replay of a CUDA graph of
calls, between two events, behind an untimed one (../peers/timers.py). Beside that, `do_bench`: each
call alone behind a flush of the L2, as triton.testing.do_bench has it; the calls of a graph
follow each other, which warms the device until it lowers its clocks. Prints one JSON document.
"""

import argparse
import dataclasses
import datetime
import functools
import importlib
import json
import pathlib
import statistics
import subprocess
import sys
import time
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "bench/peers")]

import einkorn  # noqa: E402
import torch  # noqa: E402
from task import Function, Peer, Task  # noqa: E402
from timers import GraphSample  # noqa: E402
from triton.testing import do_bench  # noqa: E402

DIM = 128  # K and V
GATES = {"kda_prefill": "lower_bound", "gdn_prefill": "softplus", "lightning_prefill": "log"}


@dataclasses.dataclass(frozen=True)
class Row:
    op: str
    batch: int
    tokens: int
    heads: int
    lengths: tuple[int, ...] = ()  # of packed sequences


# Ten sequences, half of the tokens in one.
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


def task_of(row: Row) -> Task:
    """The row as `einkorn bench` would ask peers for it."""
    keys = {
        "batch": row.batch,
        "tokens": row.tokens,
        "seqs": len(row.lengths),
        "heads": row.heads,
        "value_heads": row.heads,
        "key_dim": DIM,
        "value_dim": DIM,
        "dtype": "bf16",
        "gate_dtype": "bf16",
        "beta_dtype": "bf16",
        "gate": GATES[row.op],
        "beta_form": "logit",
        "negative_eigenvalues": "false",
        "l2norm": "false" if row.op == "lightning_prefill" else "true",
        "a_log": "true",
        "dt_bias": "true",
        "initial_state": "none",
        "final_state": "f32",
        "state_layout": "vk",
    }
    return Task(
        {k: str(v) for k, v in keys.items()},
        frozenset(keys),
        "cuda:0",
        seed=1,
        sets=1,
        lengths=row.lengths,
    )


def bounds(row: Row) -> torch.Tensor | None:
    if not row.lengths:
        return None
    assert sum(row.lengths) == row.tokens
    return torch.tensor((0, *row.lengths)).cumsum(0).int()


def ours(row: Row, task: Task) -> tuple[Function, str]:
    op = getattr(einkorn.ops, row.op)
    said: dict[str, Any] = {"state_layout": "vk", "gate": GATES[row.op]}
    if row.op != "lightning_prefill":
        said |= {"beta_form": "logit", "l2norm": True}
    on_cpu = bounds(row)
    if on_cpu is not None:
        said |= {"cu_seqlens": on_cpu.cuda(), "cu_seqlens_cpu": on_cpu}
    lead = (row.batch, row.tokens, row.heads, DIM)
    out = torch.empty(lead, device=task.device, dtype=torch.bfloat16)
    state = torch.empty(len(row.lengths) or row.batch, row.heads, DIM, DIM, device=task.device)
    return lambda *inputs: op(*inputs, **said, out=out, final_state=state)[0], einkorn.__version__


def peers_of(row: Row, task: Task) -> list[Peer]:
    """ours first, then the libraries that `einkorn bench --peers` knows."""
    known = importlib.import_module(row.op).peers(task)
    mine = dataclasses.replace(known[0], name="einkorn", load=lambda: ours(row, task))
    # The plain PyTorch program takes many times the memory and the time.
    return [mine, *(peer for peer in known if not peer.name.startswith("torch"))]


def key_of(peer: Peer) -> str:
    """What the peer's results are called: its name up to what is to be known of them."""
    return peer.name.partition(",")[0].replace(" ", "_").lower()


def apart(got: torch.Tensor, want: torch.Tensor) -> float:
    """Relative RMS distance of the first and the last 1024 tokens."""
    worst = 0.0
    for part in (slice(0, 1024), slice(-1024, None)):
        a, b = got[:, part].double(), want[:, part].double()
        worst = max(worst, ((a - b).norm() / b.norm()).item())
    return worst


def measure(row: Row, seconds: float, with_peers: bool) -> dict[str, Any]:
    task = task_of(row)
    out: dict[str, Any] = dataclasses.asdict(row)
    samples: dict[str, GraphSample] = {}
    mine, *others = peers_of(row, task)
    want = None
    for peer in [mine, *others] if with_peers else [mine]:
        key = key_of(peer)
        try:
            function, out[f"{key}_version"] = peer.load()
            got = function(*peer.inputs[0]).clone()
            want = got if want is None else want
            if peer is not mine:
                out[f"{key}_apart"] = apart(got, want)
            alone = do_bench(functools.partial(function, *peer.inputs[0]), return_mode="median")
            out[f"{key}_do_bench_us"] = round(alone * 1e3, 2)
            samples[key] = GraphSample(peer, function)
        except Exception as error:  # of a peer: it is reported; of ours: nothing is left to measure
            if peer is mine:
                raise
            out[f"{key}_skipped"] = f"{type(error).__name__}: {str(error)[:200]}"
        note = peer.name.partition(", ")[2]
        if note:
            out[f"{key}_note"] = note
    times: dict[str, list[float]] = {name: [] for name in samples}
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(times["einkorn"]) < 5:
        for name, sample in samples.items():
            times[name].append(sample.take())
    for name, taken in times.items():
        out[f"{name}_us"] = round(statistics.median(taken), 2)
        out[f"{name}_least_us"] = round(min(taken), 2)
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


def facts() -> dict[str, Any]:
    return {
        "what": "whole calls, microseconds; medians, least of the graphs', and by do_bench",
        "device": torch.cuda.get_device_name(0),
        "driver": driver(),
        "versions": {"einkorn": einkorn.__version__, "torch": torch.__version__},
        "commit": commit(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", default=",".join(ROWS), help="names, by commas")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--seconds", type=float, default=0.3, help="measuring time of a row")
    parser.add_argument(
        "--output", type=pathlib.Path, help="file for the document, whole after each row"
    )
    args = parser.parse_args()
    results: list[dict[str, Any]] = []
    document = facts() | {"results": results}
    for name in args.rows.split(","):
        results.append({"name": name} | measure(ROWS[name], args.seconds, args.peers))
        said = {k: v for k, v in results[-1].items() if k.endswith(("_us", "apart", "skipped"))}
        print(name, said, file=sys.stderr, flush=True)
        if args.output:
            args.output.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
        torch.cuda.empty_cache()
    if not args.output:
        print(json.dumps(document, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
