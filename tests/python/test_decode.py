"""The decode ops of linear attention from Python: the pool of states is updated in place, whichever
framework has it, and what cannot be written is refused.

Every variant is held against the reference by tests/ops/op_test.cc and decode_test.cc; the
reference itself and the boundaries: tests/unit/ops/decode_reference_test.cc and
decode_contract_test.cc.
"""

import decode_arguments
import einkorn
import numpy as np
import pytest
from einkorn import ops

OPS = decode_arguments.OPS
CLOSE = {"rtol": 2e-5, "atol": 2e-6}


def test_smoke():
    for variant in ("cpu/heads_v1", "reference"):
        given = decode_arguments.arguments("kda_decode")
        want, state = decode_arguments.decoded(given)
        np.testing.assert_allclose(ops.kda_decode(**given, variant=variant), want, **CLOSE)
        np.testing.assert_allclose(given["state"], state, **CLOSE)
        given = decode_arguments.arguments("gdn_decode")
        want, state = decode_arguments.decoded(given)
        np.testing.assert_allclose(ops.gdn_decode(**given, variant=variant), want, **CLOSE)
        np.testing.assert_allclose(given["state"], state, **CLOSE)
        given = decode_arguments.arguments("lightning_decode")
        want, state = decode_arguments.decoded(given, scale=0.5)
        got = ops.lightning_decode(**given, scale=0.5, variant=variant)
        np.testing.assert_allclose(got, want, **CLOSE)
        np.testing.assert_allclose(given["state"], state, **CLOSE)


@pytest.mark.parametrize("op", OPS)
def test_rows_of_a_pool(op):
    given = decode_arguments.arguments(op, tokens=2, pool=6)
    rows = np.array([4, -1, 1], np.int32)
    want, state = decode_arguments.decoded(given, rows=rows)
    out = np.full_like(given["v"], 7)
    got = getattr(ops, op)(**given, state_indices=rows, out=out)
    assert got is out
    np.testing.assert_allclose(got[::2], want[::2], **CLOSE)
    np.testing.assert_array_equal(got[1], np.full_like(got[1], 7))
    np.testing.assert_allclose(given["state"], state, **CLOSE)


@pytest.mark.parametrize("op", OPS)
def test_both_layouts(op):
    given = decode_arguments.arguments(op)
    turned = given | {"state": given["state"].transpose(0, 1, 3, 2).copy()}
    want = getattr(ops, op)(**given)
    got = getattr(ops, op)(**turned, state_layout="kv")
    np.testing.assert_allclose(got, want, **CLOSE)
    np.testing.assert_allclose(turned["state"].transpose(0, 1, 3, 2), given["state"], **CLOSE)


@pytest.mark.parametrize("op", OPS)
def test_a_state_that_cannot_be_written(op):
    given = decode_arguments.arguments(op)
    given["state"].flags.writeable = False
    with pytest.raises(ValueError, match=f"{op}: state: expected an array that can be written"):
        getattr(ops, op)(**given)


@pytest.mark.parametrize("op", OPS)
def test_round_trip(op):
    """The keys of a problem come back as they were given."""
    keys = {"seqs": 3, "tokens": 2, "heads": 2, "value_heads": 4, "key_dim": 64, "value_dim": 64}
    found = einkorn.explain(op, device="cpu", dtype="f16", indices="i32", per_token=True, **keys)
    words = " ".join(f"{name}={value}" for name, value in keys.items())
    assert found["problem"] == f"{words} dtype=f16 indices=i32 per_token=true"
    assert found["chosen"].startswith(f"{op}/cpu/heads_v1")


class TestTorch:
    @pytest.fixture(autouse=True)
    def torch(self):
        return pytest.importorskip("torch")

    @pytest.fixture(params=OPS)
    def op(self, request):
        return request.param

    @pytest.fixture
    def given(self, torch, op):
        return {n: torch.from_numpy(a) for n, a in decode_arguments.arguments(op).items()}

    def test_the_state_is_written_and_its_version_counted(self, op, given):
        want, state = decode_arguments.decoded({n: a.numpy() for n, a in given.items()})
        before = given["state"]._version
        got = getattr(ops, op)(**given)
        assert given["state"]._version > before
        np.testing.assert_allclose(got.numpy(), want, **CLOSE)
        np.testing.assert_allclose(given["state"].numpy(), state, **CLOSE)

    def test_with_an_output_given(self, torch, op, given):
        want, state = decode_arguments.decoded({n: a.numpy() for n, a in given.items()})
        start = given["state"].clone()
        for _ in range(3):  # the first call may take another way than later ones
            given["state"].copy_(start)
            versions = given["state"]._version
            out = torch.empty_like(given["v"])
            assert getattr(ops, op)(**given, out=out) is out
            assert given["state"]._version > versions
            assert out._version > 0
            np.testing.assert_allclose(out.numpy(), want, **CLOSE)
            np.testing.assert_allclose(given["state"].numpy(), state, **CLOSE)

    def test_schema_says_what_is_written(self, torch, op):
        for name, written in ((op, ["state"]), (f"{op}_out", ["state", "o"])):
            schema = getattr(torch.ops.einkorn, name).default._schema
            assert schema.is_mutable
            annotated = [
                one.name for one in schema.arguments if one.alias_info and one.alias_info.is_write
            ]
            assert annotated == written

    def test_opcheck(self, torch, op, given):
        values = {name: one.clone() for name, one in given.items()}
        torch.library.opcheck(getattr(torch.ops.einkorn, op).default, (), values)

    def test_a_gradient_is_refused_and_nothing_written(self, op, given):
        before = given["state"].clone()
        given["v"].requires_grad_()
        with pytest.raises(RuntimeError, match=f"{op}: v: expected a tensor that requires no"):
            getattr(ops, op)(**given)
        assert (given["state"] == before).all()

    def test_fake_tensors(self, torch, op, given):
        from torch._subclasses.fake_tensor import FakeTensorMode

        with FakeTensorMode() as mode:
            fakes = {name: mode.from_tensor(one) for name, one in given.items()}
            out = getattr(ops, op)(**fakes)
            assert out.shape == given["v"].shape
            fakes["state"] = torch.empty(3, 3, 32, 32)
            with pytest.raises(ValueError, match=f"{op}: state shape"):
                getattr(ops, op)(**fakes)

    def test_compiled(self, torch, op, given):
        function = getattr(ops, op)
        want, state = decode_arguments.decoded({n: a.numpy() for n, a in given.items()})

        def step(given):
            return 2 * function(**given)

        got = torch.compile(step, fullgraph=True, backend="aot_eager")(given)
        np.testing.assert_allclose(got.numpy(), 2 * want, **CLOSE)
        np.testing.assert_allclose(given["state"].numpy(), state, **CLOSE)


class TestJax:
    """Arrays of JAX cannot be written: the new state comes back behind the result."""

    @pytest.fixture(autouse=True)
    def jax(self):
        return pytest.importorskip("jax")

    @pytest.fixture(params=OPS)
    def op(self, request):
        return request.param

    @pytest.fixture
    def given(self, jax, op):
        return {n: jax.numpy.asarray(a) for n, a in decode_arguments.arguments(op).items()}

    def test_the_new_state_comes_back(self, op, given):
        arrays = {name: np.asarray(one).copy() for name, one in given.items()}
        want, state = decode_arguments.decoded(arrays)
        got, after = getattr(ops, op)(**given)
        np.testing.assert_allclose(got, want, **CLOSE)
        np.testing.assert_allclose(after, state, **CLOSE)
        np.testing.assert_array_equal(given["state"], arrays["state"])  # as it was

    def test_in_a_program_that_gives_its_state_away(self, jax, op, given):
        arrays = {name: np.asarray(one).copy() for name, one in given.items()}
        want, state = decode_arguments.decoded(arrays)
        state_first = jax.jit(
            lambda state, rest: getattr(ops, op)(state=state, **rest), donate_argnums=0
        )
        rest = {name: one for name, one in given.items() if name != "state"}
        got, after = state_first(given["state"], rest)
        np.testing.assert_allclose(got, want, **CLOSE)
        np.testing.assert_allclose(after, state, **CLOSE)

    def test_a_batch_of_calls(self, jax, op):
        both = [decode_arguments.arguments(op) for _ in range(2)]
        batch = {name: np.stack([one[name] for one in both]) for name in both[0]}
        got, after = jax.vmap(lambda given: getattr(ops, op)(**given))(batch)
        for i, one in enumerate(both):
            want, state = decode_arguments.decoded(one)
            np.testing.assert_allclose(got[i], want, **CLOSE)
            np.testing.assert_allclose(after[i], state, **CLOSE)

    def test_a_gradient_is_refused(self, jax, op, given):
        def total(v):
            return getattr(ops, op)(**(given | {"v": v}))[0].sum()

        with pytest.raises(NotImplementedError, match=f"{op}: gradient"):
            jax.grad(total)(given["v"])
