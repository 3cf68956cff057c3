"""Liger's RMSNorm as a variant of rms_norm, beside einkorn's own.

    python -m einkorn --import liger_rms_norm check rms_norm/python/liger_v1
    python -m einkorn --import liger_rms_norm bench rms_norm/python/liger_v1 rows=16384 cols=4096

in this folder, or as a program: what the registry says of it, and a call where there is a GPU.
"""

import einkorn

# Liger's casting modes have the same meaning; "none" rounds the sum of squares as well, which the
# contract does not allow.
MODES = ("llama", "gemma")


def refusal(problem: dict[str, str], device: str, cc: int) -> str | None:
    """Liger normalises rows of up to 65536 elements, with a weight, and writes nothing but y."""
    if problem.get("rounding", "llama") not in MODES:
        return f"rounding {problem['rounding']} is not one of {', '.join(MODES)}"
    if problem.get("weight") == "none":
        return "no weight"
    if problem.get("residual", "none") != "none" or problem.get("rstd") == "true":
        return "residual and rstd are of other functions"
    if problem.get("layout", "contiguous") != "contiguous":
        return "rows with gaps would be copied"
    if problem["dtype"] == "f64":
        return "dtype f64"
    if int(problem["rows"]) == 0:
        return "no rows"
    return None if int(problem["cols"]) <= 65536 else f"cols {problem['cols']} > 65536"


@einkorn.variant("rms_norm", "liger", requires=("liger_kernel", "cuda>=80"), supports=refusal)
def liger(x, weight, residual, *, eps, offset, rounding):
    """Liger-Kernel's LigerRMSNormFunction, through its public function"""
    from liger_kernel.transformers.functional import liger_rms_norm

    return liger_rms_norm(x, weight, eps, offset=float(offset), casting_mode=rounding)


def main() -> None:
    print(next(row for row in einkorn.variants("rms_norm") if row["name"] == "python/liger_v1"))
    for row in einkorn.explain("rms_norm", rows=4096, cols=4096)["tried"]:
        print(f"{row['variant']:28} {row['refusal'] or 'would serve'}")
    import torch

    if not torch.cuda.is_available():
        print("no GPU here: Liger's kernels are Triton's, nothing was called")
        return
    x = torch.randn(4096, 4096, dtype=torch.bfloat16, device="cuda")
    weight = torch.ones(4096, dtype=torch.bfloat16, device="cuda")
    theirs = einkorn.ops.rms_norm(x, weight, variant="python/liger_v1")
    ours = einkorn.ops.rms_norm(x, weight)
    print("largest difference:", (theirs.float() - ours.float()).abs().max().item())


if __name__ == "__main__":
    main()
