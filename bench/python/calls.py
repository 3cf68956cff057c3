"""What one call costs the CPU from Python, beside PyTorch's own and beside a call from C++.

    .venv/bin/python bench/python/calls.py [--json]

On the GPU where there is one, else on the CPU. Small tensors, so that the kernel's own time hides
behind the queue on a GPU. Medians of repeated loops; on a GPU the queue is emptied between loops,
and no loop is longer than what the queue holds.
"""

import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import einkorn  # noqa: E402
import einkorn.torch  # noqa: E402  (registers the operators)
import torch  # noqa: E402

ROWS, COLS, LOOP, REPEATS = 16, 256, 200, 41


def medians(calls: dict, device: torch.device) -> dict[str, float]:
    """Microseconds a call, the calls' loops interleaved."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(REPEATS + 3):
        for name, call in calls.items():
            if device.type == "cuda":
                torch.cuda.synchronize()
            start = time.perf_counter_ns()
            for _ in range(LOOP):
                call()
            if turn >= 3:
                times[name].append((time.perf_counter_ns() - start) / LOOP * 1e-3)
    return {name: statistics.median(one) for name, one in times.items()}


def custom_of_the_same_signature() -> object:
    """torch.library.custom_op with the arguments of torch.ops.einkorn.rms_norm, doing the same."""

    @torch.library.custom_op("einkorn_bench::same", mutates_args=())
    def same(
        x: torch.Tensor,
        weight: torch.Tensor | None = None,
        residual: torch.Tensor | None = None,
        *,
        eps: float = 1e-6,
        offset: int = 0,
        rounding: str = "llama",
        variant: str | None = None,
    ) -> torch.Tensor:
        y = torch.empty_like(x)
        function(x, weight, residual, y, None, None, eps, offset, rounding, variant)
        return y

    function = einkorn.ops.TABLE["rms_norm"].function
    return same


def cpp_call_us(device: str) -> float | None:
    """The same call from C++, by the command."""
    command = os.environ.get("EINKORN_BIN", str(ROOT / "build/einkorn"))
    words = ["bench", "rms_norm", f"rows={ROWS}", f"cols={COLS}", "dtype=bf16", "--device", device]
    done = subprocess.run(
        [command, *words, "--call-cost", "--json"], capture_output=True, text=True
    )
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
        return None
    return json.loads(done.stdout)["call_cost"][0]["op_ns"] * 1e-3


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(1)
    name = "cuda:0" if torch.cuda.is_available() else "cpu"
    device = torch.device(name)
    x = torch.randn(ROWS, COLS, dtype=torch.bfloat16, device=device)
    weight = torch.ones(COLS, dtype=torch.bfloat16, device=device)
    y = torch.empty_like(x)
    same = custom_of_the_same_signature()
    op = torch.ops.einkorn.rms_norm
    rms_norm = einkorn.ops.rms_norm
    calls = {
        "einkorn.ops.rms_norm(x, w, out=y)": lambda: rms_norm(x, weight, out=y),
        "torch.add(x, 1, out=y)": lambda: torch.add(x, 1, out=y),
        "einkorn.ops.rms_norm(x, w)": lambda: rms_norm(x, weight),
        "torch.ops.einkorn.rms_norm(x, w)": lambda: op(x, weight),
        "torch.library.custom_op": lambda: same(x, weight),
        "torch.nn.functional.rms_norm": lambda: torch.nn.functional.rms_norm(x, (COLS,), weight),
    }
    measured = medians(calls, device)
    cpp = cpp_call_us(name)
    where = (
        torch.cuda.get_device_name(0)
        if device.type == "cuda"
        else einkorn.explain("rms_norm")["device"]
    )
    out = {
        "what": "cost of one call, microseconds",
        "device": where,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": {
            "einkorn": einkorn.__version__,
            "torch": torch.__version__,
            "python": sys.version.split()[0],
        },
        "problem": f"rows={ROWS} cols={COLS} dtype=bf16",
        "calls_us": measured,
        "cpp_call_us": cpp,
    }
    if args.json:
        print(json.dumps(out, indent=2))
        return 0
    for call, us in measured.items():
        print(f"{call:36} {us:7.2f} us")
    if cpp is not None:
        print(f"{'C++':36} {cpp:7.2f} us")
    return 0


if __name__ == "__main__":
    sys.exit(main())
