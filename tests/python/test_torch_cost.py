"""What a call costs on the CPU beyond the library's, beside an operator made the usual way."""

import timeit

import pytest

torch = pytest.importorskip("torch", reason="could not import 'torch'")

from einkorn import ops  # noqa: E402
from einkorn._op import no_direct_way  # noqa: E402
from einkorn.ops import TABLE  # noqa: E402

# Short enough for a round to end before the scheduler takes the processor away.
CALLS = 200


def fastest(functions, rounds=200):
    """Seconds a call of each, the least of interleaved rounds: what others on the machine do not
    disturb."""
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(rounds):
        for name, function in functions.items():
            best[name] = min(best[name], timeit.timeit(function, number=CALLS) / CALLS)
    return best


@pytest.fixture(scope="module")
def usual():
    """The same call by torch.library.custom_op."""
    function = TABLE["rms_norm"].function
    library = torch.library.Library("einkorn_usual", "FRAGMENT")

    def rms_norm(
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

    yield torch.library.custom_op("einkorn_usual::rms_norm", rms_norm, mutates_args=())
    library._destroy()


def test_operator_beside_a_custom_op(usual):
    """Wanted: at most 0.6 times its cost, measured 0.53 to 0.56. The bound here leaves room for a
    machine that others use."""
    x, weight = torch.ones(2, 64), torch.ones(64)
    operator, theirs = torch.ops.einkorn.rms_norm, torch.ops.einkorn_usual.rms_norm
    assert torch.equal(operator(x, weight), theirs(x, weight))
    seconds = fastest({"ours": lambda: operator(x, weight), "usual": lambda: theirs(x, weight)})
    assert seconds["ours"] < 0.7 * seconds["usual"], seconds


@pytest.fixture
def unwrapped(monkeypatch):
    """rms_norm as in a process where nobody registered a variant written in Python: its calls take
    the shorter way until then."""
    op = TABLE["rms_norm"]
    for name, value in (
        ("_wrap", None),
        ("_function", None),
        ("_torch_function", None),
        ("direct", no_direct_way),
    ):
        monkeypatch.setattr(op, name, value)


def test_out_beside_tvm_ffi(unwrapped):
    """The whole call, checks and all, beside the bare function by tvm-ffi: measured 1.0 times its
    cost. By tvm-ffi it would be 2.3 times."""
    x, weight, y = torch.ones(2, 64), torch.ones(64), torch.ones(2, 64)
    if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        pytest.skip("this PyTorch has no C exchange of tensors")
    function = TABLE["rms_norm"].function
    ops.rms_norm(x, weight, out=y)
    seconds = fastest(
        {
            "library": lambda: function(x, weight, None, y, None, None, 1e-6, 0, "llama", None),
            "ops": lambda: ops.rms_norm(x, weight, out=y),
        }
    )
    # In units of another call, so that a slower machine has the same bound.
    assert seconds["ops"] < 1.5 * seconds["library"], seconds
