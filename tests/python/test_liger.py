"""examples/python/liger_rms_norm.py: another library's kernel as a variant."""

import importlib.util

import einkorn
import pytest
from interpreter import SOURCE, works

pytest.importorskip("liger_kernel")
torch = pytest.importorskip("torch")

EXAMPLE = SOURCE / "examples" / "python" / "liger_rms_norm.py"
NAME = "python/liger_v1"
ID = f"rms_norm/{NAME}"
PROBLEM = {"rows": 4096, "cols": 4096, "dtype": "bf16"}

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch sees no CUDA device")


@pytest.fixture(autouse=True)
def registered():
    """Run anew for each test, as each takes out what is registered."""
    spec = importlib.util.spec_from_file_location("liger_rms_norm", EXAMPLE)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def refusal(**problem):
    """Why not, or None."""
    tried = einkorn.explain("rms_norm", **{**PROBLEM, **problem})["tried"]
    return next(row["refusal"] for row in tried if row["variant"] == ID)


def test_it_is_one_of_the_variants():
    row = next(row for row in einkorn.variants("rms_norm") if row["name"] == NAME)
    assert row["language"] == "python"
    assert row["summary"].startswith("Liger-Kernel's LigerRMSNormFunction")


def test_it_serves_gpus_only():
    assert "needs cuda" in refusal(device="cpu")
    assert refusal(device="h100") is None


def test_it_is_chosen_by_name():
    named = einkorn.explain("rms_norm", variant=NAME, device="h100", **PROBLEM)
    assert named["chosen"].startswith(ID)
    free = einkorn.explain("rms_norm", device="h100", **PROBLEM)
    assert not free["chosen"].startswith(ID)


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        ({"rounding": "none"}, "rounding none"),
        ({"weight": "none"}, "no weight"),
        ({"residual": "bf16"}, "residual and rstd"),
        ({"rstd": True}, "residual and rstd"),
        ({"cols": 65537}, "cols 65537 > 65536"),
        ({"dtype": "f64"}, "dtype f64"),
    ],
)
def test_what_liger_does_not_do_is_refused(problem, reason):
    assert reason in refusal(device="h100", **problem)


def test_a_call_on_the_cpu_is_refused():
    x, weight = torch.ones(2, 8), torch.ones(8)
    with pytest.raises(NotImplementedError, match="needs cuda"):
        einkorn.ops.rms_norm(x, weight, variant=NAME)


def test_it_runs_as_a_program():
    said = works(str(EXAMPLE))
    assert ID in said
    last = "largest difference" if torch.cuda.is_available() else "no GPU here"
    assert last in said


@needs_gpu
@pytest.mark.parametrize("rounding", ["llama", "gemma"])
@pytest.mark.parametrize("offset", [0, 1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_values(dtype, offset, rounding):
    """Of equal formulas: two roundings to the dtype may fall on neighbouring numbers."""
    torch.manual_seed(0)
    x = torch.randn(64, 4096, device="cuda").to(dtype)
    weight = torch.randn(4096, device="cuda").to(dtype)
    keywords = {"eps": 1e-5, "offset": offset, "rounding": rounding}
    theirs = einkorn.ops.rms_norm(x, weight, variant=NAME, **keywords)
    ours = einkorn.ops.rms_norm(x, weight, **keywords)
    tolerance = 2 * torch.finfo(dtype).eps if dtype != torch.float32 else 1e-5
    torch.testing.assert_close(theirs, ours, rtol=tolerance, atol=tolerance)
