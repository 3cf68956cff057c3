"""Documents for the tests of `einkorn report`: small, of every kind, and of known numbers."""

import json
import pathlib

GPU = "NVIDIA H100 80GB HBM3"
CPU = "Intel(R) Xeon(R) Processor"
HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"><b>&amp;{{data}}"


def result(variant: str, median: float, *, rows: int = 16384, **more) -> dict:
    """A row of bench whose rates follow from its time: 8192 bytes and 8192 flops a row."""
    size = rows * 4096 * 4
    over = median or float("inf")
    return {
        "variant": variant,
        "case": "command line",
        "problem": f"rows={rows} cols=4096 dtype=bf16",
        "tiling": "lanes=128 items=4",
        "median_us": median,
        "q1_us": round(median * 0.99, 3),
        "q3_us": round(median * 1.02, 3),
        "samples": 97,
        "gbps": round(size / over / 1000, 3),
        "tflops": round(size / over / 1e6, 3),
        "roof": "memory",
        "percent_of_roof": round(size / over / 1000 / 33.5, 3),
        "predicted_us": 80.127,
        "copy_us": 91.5,
        "copied_by": "kernel",
        "percent_of_copy": round(9150 / over, 3),
        "input_sets": 2,
        "clocks": {"sm_mhz_start": 1980, "sm_mhz_end": 1980, "memory_mhz": 2619, "throttle": ""},
        "peers": [],
        **more,
    }


def bench(results: list[dict], *, device: str = GPU, date: str = "2026-11-28T02:17:59Z") -> dict:
    gpu = device == GPU
    return {
        "op": "rms_norm",
        "device": device,
        "driver": "580.159.04" if gpu else "",
        "versions": {"einkorn": "0.1.0", "torch": "2.11.0+cu130"},
        "commit": "128a538a9ca0",
        "date": date,
        "results": results,
    }


def peers(median: float) -> list[dict]:
    return [
        {"name": "torch", "version": "2.11.0", "median_us": median, "q1_us": median - 1.5,
         "q3_us": median + 2.25},
        {"name": "liger", "version": "", "skipped": "not installed"},
    ]  # fmt: skip


def trial(order: int, median: float, predicted: float, **more) -> dict:
    """A line of a trial store; a time of 0 is a tiling that gave a wrong answer."""
    return {
        "schema": 1,
        "op": "rms_norm",
        "variant": "rms_norm/sm90/bulk_v2",
        "problem": "rows=16384 cols=4096 dtype=bf16",
        "tiling": f"lanes={32 << order % 3} items={1 + order % 4} stages={order}",
        "device": GPU,
        "cc": 90,
        "sm_count": 132,
        "driver": "580.159.04",
        "compiler": "nvrtc 13.0",
        "source": "5f2a90c1e6d7b834",
        "mode": "graph",
        "l2": "cold",
        "status": "ok" if median else "wrong",
        "reason": "" if median else "2 of 4096 elements",
        "median_us": median,
        "q1_us": round(median * 0.995, 3),
        "q3_us": round(median * 1.01, 3),
        "samples": 31 if median else 0,
        "predicted_us": predicted,
        "resources": {"threads": 256, "registers": 64, "smem": 49152},
        "sm_mhz": 1980,
        "throttle": "",
        "date": f"2026-11-28T03:{order:02}:00Z",
        "version": "0.1.0",
        "commit": "128a538a9ca0",
        **more,
    }


def profile() -> dict:
    def stage(name: str, depth: int, median: float, predicted: float) -> dict:
        return {"name": name, "median_us": median, "q1_us": median * 0.98, "q3_us": median * 1.03,
                "predicted_us": predicted, "depth": depth}  # fmt: skip

    return {
        "mode": "event",
        "device": GPU,
        "driver": "580.159.04",
        "variant": "gated_rms_norm/smxx/sequence_v1",
        "problem": "rows=16384 cols=4096 dtype=bf16",
        "stages": [
            stage("sequence", 0, 190.5, 172.25),
            stage("rms_norm", 1, 92.75, 80.125),
            stage("silu_mul", 1, 97.25, 92.125),
        ],
        "total_us": 190.5,
        "commit": "128a538a9ca0",
        "date": "2026-11-28T04:00:00Z",
    }


def write(path: pathlib.Path, document: dict | list | str) -> pathlib.Path:
    """A list becomes JSON lines, a text is written as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(document, list):
        document = "".join(json.dumps(line) + "\n" for line in document)
    elif isinstance(document, dict):
        document = json.dumps(document, indent=1)
    path.write_text(document, encoding="utf-8")
    return path


def write_all(folder: pathlib.Path) -> pathlib.Path:
    """A folder with everything that a page can show, of two devices, and what it cannot."""
    old = result("rms_norm/sm90/bulk_v1", 99.5)
    new = [
        result("rms_norm/sm90/bulk_v1", 95.125, peers=peers(131.75)),
        result("rms_norm/sm90/bulk_v2", 90.5, peers=peers(131.75)),
        result("rms_norm/smxx/rows_v1", 96.25, peers=peers(131.75)),
        result("rms_norm/smxx/loop_v1", 120.375, peers=peers(131.75)),
        result("rms_norm/sm90/bulk_v2", 12.125, rows=2048, roof="cache", percent_of_roof=0,
               copy_us=12.5),
        result("rms_norm/sm90/ring_v1", 0, failure="illegal memory access", gbps=0, tflops=0),
    ]  # fmt: skip
    write(folder / "old.json", bench([old], date="2026-11-20T10:00:00Z"))
    write(folder / "new.json", bench(new))
    cpu = result("rms_norm/cpu/rows_v1", 20627.5, rows=4096, roof="cache", percent_of_roof=0,
                 copy_us=15737.25, copied_by="memcpy", predicted_us=0)  # fmt: skip
    write(folder / "cpu.json", bench([cpu], device=CPU))
    times = [142.5, 131.0, 0, 118.25, 109.5, 121.75, 0, 98.125, 101.5, 95.25, 92.875, 90.625,
             94.0, 91.5]  # fmt: skip
    trials = [trial(i + 1, t, 80.125 + (t or 100) / 4 + i % 5) for i, t in enumerate(times)]
    write(folder / "trials" / "h100.jsonl", trials)
    write(folder / "profiles" / "event" / "profile.json", profile())
    write(folder / "notes.json", {"what": "something else"})
    return folder
