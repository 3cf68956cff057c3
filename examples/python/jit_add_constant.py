"""A kernel of one's own, from its file to its result; without a GPU it is compiled only."""

import pathlib

import einkorn

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "jit_kernel" / "add_constant.cuh"


def compile_only() -> None:
    # Without a GPU somebody has to say for which one.
    compiled = einkorn.jit.compile(
        "add_constant", cuda=SOURCE, entry="add_constant<int, 4>", arch="sm_90a"
    )
    entry = compiled.entries[0]
    print(f"{entry.expression}: {entry.registers} registers, {entry.spills} bytes spilled")
    print(f"no GPU here: compiled for sm_90a, {len(compiled.image)} bytes, not launched")


def launch() -> None:
    import torch

    add = einkorn.jit.load(
        "add_constant", cuda=SOURCE, entry="add_constant", template=(torch.int32, 4)
    )
    print(
        f"{add.entry.expression}: {add.entry.registers} registers, {add.entry.spills} bytes spilled"
    )
    src = torch.arange(1000, dtype=torch.int32, device="cuda")
    dst = torch.empty_like(src)
    add(dst, src, src.numel(), grid=(src.numel() + 255) // 256, block=256)
    print(f"src[999] = {src[999].item()}, dst[999] = {dst[999].item()}")

    # What does not fit the kernel's own parameters is said by name, and nothing is launched.
    try:
        add(dst, src.float(), src.numel(), grid=4, block=256)
    except TypeError as error:
        print(error)


def gpu_is_here() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


if __name__ == "__main__":
    launch() if gpu_is_here() else compile_only()
