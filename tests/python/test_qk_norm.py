"""qk_norm from Python: both results, in place in one qkv, and what it says of a call that is wrong.

Every variant is held against the reference by tests/ops/op_test.cc; beside it are the reference
itself and the boundaries: tests/unit/ops/qk_norm_reference_test.cc, qk_norm_contract_test.cc and
boundary_test.cc.
"""

import einkorn
import numpy as np
import pytest
from einkorn import ops

random = np.random.default_rng(11)
SHAPE = {"rows": 3, "q_heads": 4, "k_heads": 2, "cols": 32}


def normal(*shape):
    return random.standard_normal(shape).astype(np.float32)


def normalised(x, weight, eps):
    x = x.astype(np.float64)
    return x / np.sqrt(np.mean(x**2, -1, keepdims=True) + eps) * weight


def calls():
    return normal(3, 4, 32), normal(3, 2, 32), normal(32), normal(32)


@pytest.mark.parametrize("variant", ["cpu/rows_v1", "reference"])
def test_smoke(variant):
    q, k, q_weight, k_weight = calls()
    q_out, k_out = ops.qk_norm(q, k, q_weight, k_weight, eps=1e-3, variant=variant)
    assert (q_out.shape, k_out.shape) == (q.shape, k.shape)
    np.testing.assert_allclose(q_out, normalised(q, q_weight, 1e-3), rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(k_out, normalised(k, k_weight, 1e-3), rtol=2e-5, atol=1e-6)


def test_is_rms_norm_of_both():
    q, k, q_weight, k_weight = calls()
    q_out, k_out = ops.qk_norm(q, k, q_weight, k_weight, offset=1, rounding="gemma")
    for got, x, weight in ((q_out, q, q_weight), (k_out, k, k_weight)):
        want = ops.rms_norm(x, weight, offset=1, rounding="gemma")
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-7)


def test_without_weights():
    q, k, _, _ = calls()
    q_out, k_out = ops.qk_norm(q, k)
    np.testing.assert_allclose(q_out, normalised(q, 1, 1e-6), rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(k_out, normalised(k, 1, 1e-6), rtol=2e-5, atol=1e-6)


def test_in_place_in_one_qkv():
    qkv = normal(5, 4 + 2 + 2, 32)
    before = qkv.copy()
    q, k = qkv[:, :4], qkv[:, 4:6]
    got = ops.qk_norm(q, k, q_out=q, k_out=k)
    assert got[0] is q and got[1] is k
    np.testing.assert_allclose(qkv[:, :6], normalised(before[:, :6], 1, 1e-6), rtol=2e-5, atol=1e-6)
    np.testing.assert_array_equal(qkv[:, 6:], before[:, 6:])


def test_module():
    """As Qwen3's attention in PyTorch computes it, which rounds before the weight."""
    torch = pytest.importorskip("torch")

    def qwen3_norm(x, weight, eps):
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)
        return weight * h.to(x.dtype)

    torch.manual_seed(0)
    q = torch.randn(2, 7, 4, 64, dtype=torch.bfloat16)
    k = torch.randn(2, 7, 2, 64, dtype=torch.bfloat16)
    q_weight, k_weight = (torch.randn(64, dtype=torch.bfloat16) for _ in range(2))
    got = ops.qk_norm(q, k, q_weight, k_weight, eps=1e-6)
    for one, x, weight in zip(got, (q, k), (q_weight, k_weight), strict=True):
        want = qwen3_norm(x, weight, 1e-6)
        assert one.dtype == torch.bfloat16
        assert (one != want).float().mean() < 0.01  # ties that fall the other way
        torch.testing.assert_close(one, want, rtol=3 * 2**-8, atol=0)


def test_round_trip():
    """The keys of a problem come back as they were given."""
    found = einkorn.explain("qk_norm", device="cpu", dtype="f16", layout="row_strided", **SHAPE)
    assert found["problem"] == "rows=3 q_heads=4 k_heads=2 cols=32 dtype=f16 layout=row_strided"
    assert found["chosen"].startswith("qk_norm/cpu/rows_v1")


class TestBoundary:
    def test_weights_come_together(self):
        q, k, q_weight, _ = calls()
        with pytest.raises(TypeError, match=r"qk_norm: k_weight: .*got no tensor"):
            ops.qk_norm(q, k, q_weight)

    def test_heads_have_no_gaps(self):
        q, k, _, _ = calls()
        with pytest.raises(ValueError, match="qk_norm: q strides"):
            ops.qk_norm(normal(3, 8, 32)[:, ::2], k)
        with pytest.raises(ValueError, match="qk_norm: q strides"):
            ops.qk_norm(np.ascontiguousarray(q.transpose(1, 0, 2)).transpose(1, 0, 2), k)

    def test_widest_head(self):
        q_out, _ = ops.qk_norm(normal(1, 1, 1024), normal(1, 1, 1024))
        assert q_out.shape == (1, 1, 1024)
        with pytest.raises(ValueError, match=r"qk_norm: q dim 2: .*1024"):
            ops.qk_norm(normal(1, 1, 1025), normal(1, 1, 1025))

    def test_nothing_written_where_outputs_meet(self):
        q, k, _, _ = calls()
        out = np.zeros_like(k)
        with pytest.raises(ValueError, match="qk_norm: k_out"):
            ops.qk_norm(q[:, :2].copy(), k, q_out=out, k_out=out)
        assert not out.any()
