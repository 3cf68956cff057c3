#!/usr/bin/env python3
"""What the first call of a prefill costs, compilation and all, as one JSON document.

python3 bench/linear_attention/first_call.py [--rows kda,gdn] [--peers] [--repeat 3] [--output FILE]

Each number is of processes of their own: the library imported, the inputs made, the CUDA context
there, and nothing compiled before. "workers" has a plan's kernels compiled at once, "in_process"
one after the other; "warm" is a later process, which finds them in the cache.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

import prefill
import torch

CACHES = ("EINKORN_CACHE_DIR", "TRITON_CACHE_DIR")


def child(row: str, name: str) -> None:
    """Times the calls of one implementation in this process."""
    import einkorn

    task = prefill.task_of(prefill.ROWS[row])
    peer = next(one for one in prefill.peers_of(prefill.ROWS[row], task) if name in one.name)
    function, version = peer.load()
    einkorn.ops.silu_mul(torch.zeros(1, 8), torch.zeros(1, 8))  # loads the library
    times = []
    for _ in range(2):
        torch.cuda.synchronize()
        start = time.perf_counter()
        function(*peer.inputs[0])
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) * 1e3)
    print(json.dumps({"version": version, "first_ms": times[0], "then_ms": times[1]}))


def sample(row: str, name: str, cache: str, **variables: str) -> dict[str, Any]:
    environment = os.environ | dict.fromkeys(CACHES, cache) | variables
    done = subprocess.run(
        [sys.executable, __file__, "--child", row, name],
        env=environment,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        sys.exit(f"{row} by {name}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def medians(samples: list[dict[str, Any]]) -> dict[str, float]:
    return {
        key: round(statistics.median(one[key] for one in samples), 3)
        for key in ("first_ms", "then_ms")
    }


def measure(row: str, repeat: int, with_peers: bool) -> dict[str, Any]:
    out: dict[str, Any] = {"name": row}
    taken: dict[str, list[dict[str, Any]]] = {"workers": [], "in_process": [], "warm": []}
    for _ in range(repeat):
        with tempfile.TemporaryDirectory() as cache:
            taken["workers"].append(sample(row, "einkorn", cache))
            taken["warm"].append(sample(row, "einkorn", cache))
        with tempfile.TemporaryDirectory() as cache:
            alone = sample(row, "einkorn", cache, EINKORN_JIT_WORKERS="1")
            taken["in_process"].append(alone)
    out |= {name: medians(samples) for name, samples in taken.items()}
    if with_peers:
        with tempfile.TemporaryDirectory() as cache:
            out["fla"] = sample(row, "fla", cache)
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default="kda,gdn,lightning", help="of prefill.py, by commas")
    parser.add_argument("--peers", action="store_true", help="flash-linear-attention beside it")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("--child", nargs=2, metavar=("ROW", "NAME"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child(*args.child)
        return 0
    results: list[dict[str, Any]] = []
    document = prefill.facts() | {
        "what": "the first call of a process and the one after it, milliseconds; medians",
        "cpus": len(os.sched_getaffinity(0)),
        "results": results,
    }
    for row in args.rows.split(","):
        results.append(measure(row, args.repeat, args.peers))
        print(results[-1], file=sys.stderr, flush=True)
        if args.output:
            args.output.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    if not args.output:
        print(json.dumps(document, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
