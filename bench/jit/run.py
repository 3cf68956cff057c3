#!/usr/bin/env python3
"""What the JIT costs here, beside tvm-ffi's load_inline, as one JSON document on stdout.

python3 bench/jit/run.py [--build build] [--repeat 7] [--no-peers] > FILE of bench/results

Each number is the median of processes of their own. With a GPU a time ends at the launched kernel,
without one at the compiled artifact, and for the peer at the loaded module.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNELS = {
    "add_constant": (str(ROOT / "examples/jit_kernel/add_constant.cuh"), "add_constant<int, 4>"),
    "rms_norm": (
        "ops/norm/rms_norm/smxx/rows_v1.cu",
        "einkorn::rms_norm::smxx::rows_v1<einkorn::rms_norm::Traits<einkorn::bf16, einkorn::bf16, "
        "einkorn::none, 0, false, false>, 8, 16, 256, 2, 1, true>",
    ),
}
POOL_KERNELS = 64
POOL_ROUNDS = 3
RACERS = 8


def run(bench: pathlib.Path, cache: str, *words: str) -> dict:
    """One measurement in a process of its own."""
    environment = os.environ | {"EINKORN_CACHE_DIR": cache}
    done = subprocess.run(
        [str(bench), *words], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    return json.loads(done.stdout)


def medians(samples: list[dict]) -> dict:
    """The median of each number; None where it was not measured."""
    return {
        key: None if value is None else statistics.median(sample[key] for sample in samples)
        for key, value in samples[0].items()
    }


def einkorn_numbers(bench: pathlib.Path, file: str, entry: str, repeat: int) -> dict:
    out = {}
    with tempfile.TemporaryDirectory() as scratch:
        for what in ("cold", "second"):
            fresh = [os.path.join(scratch, f"{what}{i}") for i in range(repeat)]
            out[what] = medians([run(bench, cache, what, file, entry) for cache in fresh])
        warm = os.path.join(scratch, "cold0")
        out["warm"] = medians([run(bench, warm, "warm", file, entry) for _ in range(repeat)])
        out["hit"] = medians([run(bench, warm, "hit", file, entry) for _ in range(3)])
    return out


def apart(bench: pathlib.Path, folder: str, cores: int) -> float:
    """Milliseconds of as many processes at once as cores, each with its share and its own cache.

    What the machine itself gives: cores that work at once are slower than one alone.
    """
    begin = time.perf_counter()
    processes = [
        subprocess.Popen(
            [str(bench), "share", str(POOL_KERNELS), str(i), str(cores)],
            env=os.environ | {"EINKORN_CACHE_DIR": os.path.join(folder, str(i))},
            stdout=subprocess.DEVNULL,
        )
        for i in range(cores)
    ]
    if any([process.wait() for process in processes]):
        sys.exit("einkorn_jit_bench share: a process failed")
    return (time.perf_counter() - begin) * 1e3


def pool_numbers(bench: pathlib.Path) -> dict:
    """Medians of rounds, each with one process, the pool and processes of their own."""
    rounds = []
    for _ in range(POOL_ROUNDS):
        with tempfile.TemporaryDirectory() as scratch:
            serial = run(bench, os.path.join(scratch, "serial"), "serial", str(POOL_KERNELS))
            pool = run(bench, os.path.join(scratch, "pool"), "pool", str(POOL_KERNELS))
            separate = apart(bench, scratch, pool["cores"])
        rounds.append({"serial": serial["ms"], "pool": pool["ms"], "separate": separate})
    ms = medians(rounds)
    times = ms["serial"] / ms["pool"]
    return {
        "kernels": POOL_KERNELS,
        "cores": pool["cores"],
        "ms": ms,
        "rounds": rounds,
        "times_one_process": times,
        "per_core": times / pool["cores"],
        "separate_per_core": ms["serial"] / ms["separate"] / pool["cores"],
    }


def race_numbers(bench: pathlib.Path, file: str, entry: str) -> dict:
    """Eight processes that want the same cold kernel at once, and one alone.

    Without the driver: eight starts of it at once would be most of the time, and none of the JIT's.
    """

    def start(cache: str, count: int) -> tuple[float, int]:
        environment = os.environ | {"EINKORN_CACHE_DIR": cache}
        words = [str(bench), "compile", file, entry]
        begin = time.perf_counter()
        racers = [
            subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True)
            for _ in range(count)
        ]
        outputs = [racer.communicate()[0] for racer in racers]
        seconds = time.perf_counter() - begin
        return seconds * 1e3, sum(json.loads(text)["compilations"] for text in outputs)

    with tempfile.TemporaryDirectory() as scratch:
        alone = [start(os.path.join(scratch, f"a{i}"), 1) for i in range(5)]
        together = [start(os.path.join(scratch, f"t{i}"), RACERS) for i in range(5)]
    alone_ms = statistics.median(ms for ms, _ in alone)
    together_ms = statistics.median(ms for ms, _ in together)
    return {
        "processes": RACERS,
        "compilations": max(count for _, count in together),
        "alone_ms": alone_ms,
        "together_ms": together_ms,
        "ratio": together_ms / alone_ms,
    }


PEER = """
import json, sys, time
try:
    import torch
    on_gpu = torch.cuda.is_available()
except ImportError:
    on_gpu = False
if on_gpu:  # the driver's start and the memory are not the peer's
    kinds = {"add_constant": torch.int32, "rms_norm": torch.bfloat16}
    shape = (4096,) if sys.argv[3] == "add_constant" else (1, 4096)
    tensors = [torch.zeros(shape, dtype=kinds[sys.argv[3]], device="cuda") for _ in range(2)]
    if sys.argv[3] == "rms_norm":
        tensors.append(tensors[0][0].clone())
    torch.cuda.synchronize()
start = time.perf_counter()
import tvm_ffi.cpp
imported = time.perf_counter()
source = open(sys.argv[1]).read()
module = tvm_ffi.cpp.load_inline(name="peer", cuda_sources=source, functions=["run"],
                                 build_directory=sys.argv[2])
done = time.perf_counter()
if on_gpu:
    module.run(*tensors)
    torch.cuda.synchronize()
launched = (time.perf_counter() - imported) * 1e3 if on_gpu else None
print(json.dumps({"import_ms": (imported - start) * 1e3, "load_inline_ms": (done - imported) * 1e3,
                  "launched_ms": launched, "version": tvm_ffi.__version__}))
"""

# The same kernels behind the smallest host function that tvm-ffi can export.
PEER_SOURCES = {
    "add_constant": """
#include <cuda_runtime.h>
template <class T, int kConstant>
__global__ void add_constant(T* dst, const T* src, int n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) dst[i] = src[i] + static_cast<T>(kConstant);
}
void run(tvm::ffi::TensorView dst, tvm::ffi::TensorView src) {
  const int n = static_cast<int>(dst.numel());
  add_constant<int, 4><<<(n + 255) / 256, 256>>>(static_cast<int*>(dst.data_ptr()),
                                                static_cast<const int*>(src.data_ptr()), n);
}
""",
    "rms_norm": """
#include "ops/norm/rms_norm/smxx/rows_v1.cu"
using namespace einkorn;
void run(tvm::ffi::TensorView y, tvm::ffi::TensorView x, tvm::ffi::TensorView weight) {
  rms_norm::Params p{};
  p.x = x.data_ptr();
  p.y = y.data_ptr();
  p.weight = weight.data_ptr();
  p.rows = x.size(0);
  p.cols = static_cast<int>(x.size(1));
  p.x_stride = p.y_stride = p.cols;
  p.inverse_cols = 1.0f / static_cast<float>(p.cols);
  p.eps = 1e-6f;
  rms_norm::smxx::rows_v1<rms_norm::Traits<bf16, bf16, none, 0, false, false>, 8, 16, 256, 2, 1,
                          true><<<static_cast<unsigned>(p.rows), 256>>>(p);
}
""",
}


def peer_numbers(name: str) -> dict:
    if shutil.which("nvcc") is None:
        return {"skipped": "no nvcc in PATH"}
    arch = os.environ.get("TVM_FFI_CUDA_ARCH_LIST", "9.0a")
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch, "source.cu")
        source.write_text(PEER_SOURCES[name].replace('#include "ops', f'#include "{ROOT}/ops'))
        environment = os.environ | {
            "TVM_FFI_CUDA_ARCH_LIST": arch,
            "TVM_FFI_CACHE_DIR": scratch,
            "CPATH": str(ROOT),
            "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}",
        }
        samples = []
        for i in range(3):
            build = os.path.join(scratch, f"build{i}")
            done = subprocess.run(
                [sys.executable, "-c", PEER, str(source), build, name],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode != 0:
                return {"skipped": done.stderr[-2000:]}
            samples.append(json.loads(done.stdout))
    version = samples[0].pop("version")
    for sample in samples[1:]:
        sample.pop("version")
    return {"name": "tvm_ffi.cpp.load_inline", "version": version, **medians(samples)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    build = pathlib.Path(options.build)
    bench = build / "bench" / "einkorn_jit_bench"
    doctor = json.loads(
        subprocess.run(
            [str(build / "einkorn"), "doctor", "--json"],
            capture_output=True,
            text=True,
            check=False,
        ).stdout
    )
    out = {
        "what": "jit",
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": doctor["commit"],
        "device": [device["title"] for device in doctor["devices"]],
        "driver": doctor["driver"],
        "cpus": len(os.sched_getaffinity(0)),
        "machine": platform.machine(),
        "compilers": doctor["compilers"],
        "kernels": {},
    }
    for name, (file, entry) in KERNELS.items():
        row = einkorn_numbers(bench, file, entry, options.repeat)
        if not options.no_peers:
            row["peer"] = peer_numbers(name)
            if "load_inline_ms" in row["peer"]:
                ours = row["cold"]["launched_ms"] or row["cold"]["compiled_ms"]
                theirs = row["peer"]["launched_ms"] or row["peer"]["load_inline_ms"]
                row["times_faster_than_peer"] = theirs / ours
        out["kernels"][name] = row
    out["pool"] = pool_numbers(bench)
    out["race"] = race_numbers(bench, *KERNELS["rms_norm"])
    json.dump(out, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
