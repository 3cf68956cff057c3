"""lightning_prefill from Python: results, states, packed sequences, and what it says of a call that
is wrong.

Every variant is held against the reference by tests/ops; beside it are the reference itself and the
boundaries: tests/unit/ops/lightning_prefill_reference_test.cc and
lightning_prefill_contract_test.cc.
"""

import itertools

import einkorn
import numpy as np
import pytest
from einkorn import ops
from linear_attention import BATCH, TOKENS, VALUE_HEADS, K, V, definition, normal, qkv, uniform

CLOSE = {"rtol": 1e-4, "atol": 1e-5}


def calls(tokens=TOKENS, batch=BATCH):
    return *qkv(batch, tokens), -uniform(VALUE_HEADS, seed=8)


def expected(q, k, v, decay, state=None):
    return definition(q, k, v, np.exp(decay)[:, None], None, state)


@pytest.mark.parametrize("variant", ["cpu/heads_v1", "reference"])
def test_smoke(variant):
    q, k, v, decay = calls()
    o = ops.lightning_prefill(q, k, v, decay, variant=variant)
    assert o.shape == v.shape
    np.testing.assert_allclose(o, expected(q, k, v, decay)[0], **CLOSE)


def test_states_in_and_out():
    q, k, v, decay = calls()
    initial = normal(BATCH, VALUE_HEADS, K, V)
    o, state = ops.lightning_prefill(q, k, v, decay, initial_state=initial, final_state=True)
    want_o, want_state = expected(q, k, v, decay, initial)
    np.testing.assert_allclose(o, want_o, **CLOSE)
    np.testing.assert_allclose(state, want_state, **CLOSE)
    turned = np.ascontiguousarray(initial.transpose(0, 1, 3, 2))
    o, state = ops.lightning_prefill(
        q, k, v, decay, initial_state=turned, state_layout="vk", final_state=True
    )
    np.testing.assert_allclose(o, want_o, **CLOSE)
    np.testing.assert_allclose(state.transpose(0, 1, 3, 2), want_state, **CLOSE)


def test_state_in_place():
    q, k, v, decay = calls()
    state = normal(BATCH, VALUE_HEADS, K, V)
    want = expected(q, k, v, decay, state)[1]
    _, got = ops.lightning_prefill(q, k, v, decay, initial_state=state, final_state=state)
    assert got is state
    np.testing.assert_allclose(state, want, **CLOSE)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_packed(dtype):
    q, k, v, decay = calls(tokens=50, batch=1)
    bounds = np.array([0, 20, 20, 21, 50], dtype)
    o, state = ops.lightning_prefill(q, k, v, decay, cu_seqlens=bounds, final_state=True)
    assert state.shape == (4, VALUE_HEADS, K, V)
    for i, (begin, end) in enumerate(itertools.pairwise(bounds)):
        part = (x[:, begin:end] for x in (q, k, v))
        want_o, want_state = expected(*part, decay)
        np.testing.assert_allclose(o[:, begin:end], want_o, **CLOSE)
        np.testing.assert_allclose(state[i], want_state[0], **CLOSE)


def test_checkpoints():
    q, k, v, decay = calls(tokens=130, batch=1)
    stored = np.zeros((2, VALUE_HEADS, K, V), np.float32)
    o, back = ops.lightning_prefill(q, k, v, decay, checkpoint_every=64, checkpoints=stored)
    assert back is stored
    np.testing.assert_array_equal(o, ops.lightning_prefill(q, k, v, decay))
    for i in range(2):
        part = (x[:, : 64 * (i + 1)] for x in (q, k, v))
        np.testing.assert_allclose(stored[i], expected(*part, decay)[1][0], **CLOSE)
    with pytest.raises(ValueError, match="checkpoints: expected an array, got True"):
        ops.lightning_prefill(q, k, v, decay, checkpoint_every=64, checkpoints=True)


def test_factor():
    q, k, v, decay = calls()
    o = ops.lightning_prefill(q, k, v, np.exp(decay), gate="factor", scale=1.0)
    want = definition(q, k, v, np.exp(decay)[:, None], None, scale=1.0)[0]
    np.testing.assert_allclose(o, want, **CLOSE)


def test_module():
    """As the naive recurrence in PyTorch, bf16 at the borders."""
    torch = pytest.importorskip("torch")
    q, k, v, decay = (torch.from_numpy(x) for x in calls())
    q, k, v = (x.to(torch.bfloat16) for x in (q, k, v))
    o = ops.lightning_prefill(q, k, v, decay)
    assert o.dtype == torch.bfloat16
    want = expected(*(x.float().numpy() for x in (q, k, v, decay)))[0]
    error = np.sqrt(np.mean((o.float().numpy() - want) ** 2) / np.mean(want**2))
    assert error < 0.004


def test_in_a_compiled_graph():
    torch = pytest.importorskip("torch")
    arrays = [torch.from_numpy(x) for x in calls()]

    def both(*arrays):
        return ops.lightning_prefill(*arrays, final_state=True)

    compiled = torch.compile(both, fullgraph=True, backend="aot_eager")
    for got, want in zip(compiled(*arrays), both(*arrays), strict=True):
        torch.testing.assert_close(got, want, rtol=0, atol=0)
    with torch.device("meta"):
        o, state = both(*(torch.empty_like(x, device="meta") for x in arrays))
    assert (o.shape, state.shape) == ((BATCH, TOKENS, VALUE_HEADS, V), (BATCH, VALUE_HEADS, K, V))
    assert state.dtype == torch.float32


def test_round_trip():
    """The keys of a problem come back as they were given."""
    found = einkorn.explain(
        "lightning_prefill", device="cpu", tokens=100, heads=2, dtype="f16", gate="factor", seqs=3
    )
    assert found["problem"] == (
        "batch=1 tokens=100 heads=2 value_heads=2 key_dim=128 value_dim=128 dtype=f16 seqs=3 "
        "gate=factor"
    )
    assert found["chosen"].startswith("lightning_prefill/cpu/heads_v1")


class TestBoundary:
    def test_value_heads_are_groups(self):
        q, k, v, decay = calls()
        with pytest.raises(ValueError, match="lightning_prefill: v heads: expected a multiple"):
            ops.lightning_prefill(q, k, v[:, :, :3].copy(), decay)

    @pytest.mark.parametrize("bounds", [[1, 37], [0, 36], [0, 38, 37]])
    def test_bounds(self, bounds):
        arrays = calls(batch=1)
        o = np.zeros_like(arrays[2])
        with pytest.raises(ValueError, match=r"lightning_prefill: cu_seqlens\["):
            ops.lightning_prefill(*arrays, cu_seqlens=np.array(bounds), out=o)
        assert not o.any()

    def test_no_raw_gate(self):
        with pytest.raises(ValueError, match="lightning_prefill: gate: expected log or factor"):
            ops.lightning_prefill(*calls(), gate="softplus")

    def test_a_cpu_does_not_split(self):
        with pytest.raises(
            ValueError, match="lightning_prefill: split: expected off or auto on a CPU"
        ):
            ops.lightning_prefill(*calls(), split="force")
