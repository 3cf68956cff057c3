"""Variants in Python, and the registry's questions."""

import textwrap
import uuid

import einkorn
import numpy as np
import pytest
from einkorn._native import library
from interpreter import counted_while, works


def fresh_name() -> str:
    """None that another test has."""
    return "t" + uuid.uuid4().hex[:8]


def rms_norm(x, weight, residual, *, eps, offset, rounding, **rest):
    del rounding, rest
    h = x if residual is None else x + residual
    y = h / np.sqrt((h.astype(np.float64) ** 2).mean(-1, keepdims=True) + eps)
    return (y if weight is None else y * (weight + offset)).astype(x.dtype)


def data(rows=3, cols=32):
    rng = np.random.default_rng(7)
    return rng.standard_normal((rows, cols), np.float32), rng.standard_normal(cols, np.float32)


def test_variants_lists_the_order_of_preference():
    rows = einkorn.variants("rms_norm")
    names = [row["name"] for row in rows]
    assert names[0] == "smxx/rows_v1" and names[-1] == "cpu/reference_v1"
    assert all(row["available"] or row["reason"] for row in rows)
    with pytest.raises(ValueError, match="did you mean 'rms_norm'"):
        einkorn.variants("rms_nrm")


def test_explain_says_why_each_other_one_lost():
    found = einkorn.explain("rms_norm", device="h100", rows=16384, cols=4096, dtype="bf16")
    assert found["chosen"].startswith("rms_norm/smxx/rows_v1")
    refused = {row["variant"]: row["refusal"] for row in found["tried"]}
    assert "tensors are on cuda:0" in refused["rms_norm/cpu/rows_v1"]
    with pytest.raises(ValueError, match=r"unknown key|expected one of"):
        einkorn.explain("rms_norm", device="cpu", rowz=3)


def test_dump_shows_all_ops():
    text = einkorn.dump()
    assert "rms_norm" in text and "silu_mul" in text


def test_a_callable_becomes_a_full_citizen():
    name = fresh_name()
    einkorn.variant("rms_norm", name, arrays="numpy")(rms_norm)
    full = f"python/{name}_v1"
    row = next(row for row in einkorn.variants("rms_norm") if row["name"] == full)
    assert row["language"] == "python" and row["available"]
    x, w = data()
    want = einkorn.ops.rms_norm(x, w, variant="reference")
    np.testing.assert_allclose(einkorn.ops.rms_norm(x, w, variant=full), want, rtol=1e-6)
    tried = {row["variant"] for row in einkorn.explain("rms_norm", device="cpu")["tried"]}
    assert f"rms_norm/{full}" in tried


def test_outputs_named_as_parameters_are_written_in_place():
    name = fresh_name()

    @einkorn.variant("silu_mul", name, arrays="numpy")
    def mine(gate, up, packed, y, *, packing, **rest):
        assert packed is None and packing == "split" and rest["limit"] == 7.0
        y[...] = gate / (1 + np.exp(-gate)) * up

    gate, _ = data()
    up, _ = data()
    out = np.empty_like(gate)
    got = einkorn.ops.silu_mul(gate, up, out=out, variant=f"python/{name}_v1")
    assert got is out
    np.testing.assert_allclose(out, einkorn.ops.silu_mul(gate, up), rtol=1e-5, atol=1e-6)


def test_a_duplicate_name_is_an_error_unless_forced():
    name = fresh_name()
    einkorn.variant("rms_norm", name, arrays="numpy")(rms_norm)
    with pytest.raises(ValueError, match="expected a new one"):
        einkorn.variant("rms_norm", name, arrays="numpy")(rms_norm)

    @einkorn.variant("rms_norm", name, arrays="numpy", force=True)
    def ones(x, weight, residual, *, eps, offset, rounding):
        return np.ones_like(x)

    x, w = data()
    assert (einkorn.ops.rms_norm(x, w, variant=f"python/{name}_v1") == 1).all()
    assert sum(row["name"] == f"python/{name}_v1" for row in einkorn.variants("rms_norm")) == 1


def test_a_variant_can_be_taken_out_again():
    name = fresh_name()
    einkorn.variant("rms_norm", name, arrays="numpy")(rms_norm)
    full = f"rms_norm/python/{name}_v1"
    einkorn.remove_variant(full)
    assert full not in {row["id"] for row in einkorn.variants("rms_norm")}
    with pytest.raises(ValueError, match="id"):
        einkorn.remove_variant(full)
    with pytest.raises(ValueError, match="id"):
        einkorn.remove_variant("rms_norm/cpu/rows_v1")
    einkorn.variant("rms_norm", name, arrays="numpy")(rms_norm)


def test_refusals_are_told_and_looked_at_anew():
    name = fresh_name()
    here = []
    einkorn.variant(
        "rms_norm",
        name,
        arrays="numpy",
        requires=[lambda: None if here else "the accelerator sleeps"],
        supports=lambda problem, device, cc: (
            None if int(problem["cols"]) % 32 == 0 else f"cols {problem['cols']} is odd to me"
        ),
    )(rms_norm)
    x, w = data()
    with pytest.raises(NotImplementedError, match="the accelerator sleeps"):
        einkorn.ops.rms_norm(x, w, variant=f"python/{name}_v1")
    here.append(True)
    einkorn.ops.rms_norm(x, w, variant=f"python/{name}_v1")
    with pytest.raises(NotImplementedError, match="cols 33 is odd to me"):
        einkorn.ops.rms_norm(*data(cols=33), variant=f"python/{name}_v1")


def test_requirements_name_modules_and_devices():
    name = fresh_name()
    einkorn.variant("rms_norm", name, requires=("no_such_module", "cuda>=90"))(rms_norm)
    refused = einkorn.explain("rms_norm", device="cpu", variant=f"python/{name}_v1")
    row = next(r for r in refused["tried"] if r["variant"].endswith(f"/{name}_v1"))
    assert "the module no_such_module is not installed" in row["refusal"]
    name = fresh_name()
    einkorn.variant("rms_norm", name, requires=("cuda>=90",))(rms_norm)
    for device, reason in (("cpu", "needs cuda"), ("a100", "needs sm_90"), ("h100", None)):
        tried = einkorn.explain("rms_norm", device=device)["tried"]
        row = next(r for r in tried if r["variant"].endswith(f"/{name}_v1"))
        assert row["refusal"] is None if reason is None else reason in row["refusal"]


def test_a_lazy_factory_that_raises_is_shown_whole_and_chained_and_may_be_repaired():
    name = fresh_name()
    broken = [True]

    @einkorn.variant("rms_norm", name, arrays="numpy", lazy=True)
    def factory():
        if broken:
            raise ImportError("libnpu.so: cannot open shared object file")
        return rms_norm

    x, w = data()
    with pytest.raises(RuntimeError, match=r"libnpu.so: cannot open") as raised:
        einkorn.ops.rms_norm(x, w, variant=f"python/{name}_v1")
    assert "in factory" in str(raised.value)
    assert isinstance(raised.value.__cause__.__cause__, ImportError)
    broken.clear()
    einkorn.ops.rms_norm(x, w, variant=f"python/{name}_v1")


def test_what_a_callable_raises_keeps_its_kind():
    name = fresh_name()

    @einkorn.variant("rms_norm", name, arrays="numpy")
    def fails(x, weight, residual, *, eps, offset, rounding):
        raise ValueError("x is not to my liking")

    with pytest.raises(ValueError, match="not to my liking") as raised:
        einkorn.ops.rms_norm(*data(), variant=f"python/{name}_v1")
    assert raised.value.__cause__ is not None


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        (dict(name="Bad Name"), ValueError, "variant name"),
        (dict(op="rms_nrm"), ValueError, "did you mean"),
        (dict(arrays="tensorflow"), ValueError, "expected one of torch"),
        (dict(function=lambda a, b: a), TypeError, "parameters"),
    ],
)
def test_bad_registrations_change_nothing(change, error, text):
    before = einkorn.dump()
    given = dict(op="rms_norm", name=fresh_name(), arrays="numpy", function=rms_norm) | change
    function = given.pop("function")
    with pytest.raises(error, match=text):
        einkorn.variant(given.pop("op"), given.pop("name"), **given)(function)
    assert einkorn.dump() == before


def test_wrong_results_are_errors():
    name = fresh_name()

    @einkorn.variant("rms_norm", name, arrays="numpy")
    def short(x, weight, residual, *, eps, offset, rounding):
        return x[1:]

    with pytest.raises(ValueError, match="y shape: expected"):
        einkorn.ops.rms_norm(*data(), variant=f"python/{name}_v1")


KERNELS = """
import einkorn, numpy as np

@einkorn.variant("silu_mul", "mine", arrays="numpy", tilings=[{"block": 64}, {"block": 256}])
def mine(gate, up, packed, y, *, packing, clamp, tiling, **rest):
    assert tiling["block"] in (64, 256)
    y[...] = gate / (1 + np.exp(-gate)) * up
"""


def command(folder, *words):
    words = ("-m", "einkorn", "--import", "my_kernels", *words)
    return works(*words, folder=folder, EINKORN_TRIALS=str(folder / "trials"))


def test_the_command_checks_and_measures_it(tmp_path):
    (tmp_path / "my_kernels.py").write_text(textwrap.dedent(KERNELS))
    problem = ("rows=64", "cols=256", "dtype=f32")
    checked = command(tmp_path, "check", "silu_mul/python/mine_v1", *problem, "--device", "cpu")
    assert "python/mine_v1" in checked
    command(tmp_path, "bench", "silu_mul/python/mine_v1", *problem, "--device", "cpu")
    tuned = command(
        tmp_path,
        "tune",
        "silu_mul/python/mine_v1",
        *problem,
        "--device",
        "cpu",
        "--budget-trials",
        "2",
    )
    assert "block=" in tuned


def test_the_lock_is_released_while_it_tunes(tmp_path, monkeypatch):
    monkeypatch.setenv("EINKORN_TRIALS", str(tmp_path))
    tune = library().command  # loaded before it counts
    words = ("tune", "rms_norm/cpu/rows_v1", "rows=32", "cols=256", "dtype=f32", "--device", "cpu")
    status = []
    assert counted_while(lambda: status.append(tune(*words, "--budget-trials", "2"))) > 20_000
    assert status == [0]
    assert any(tmp_path.rglob("*")), "nothing was tuned"
