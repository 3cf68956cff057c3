"""Values of each op as NumPy computes them in f64, and the limits that the ops' READMEs name."""

import numpy as np
import pytest
from einkorn import ops

random = np.random.default_rng(1)


def normal(*shape):
    return random.standard_normal(shape).astype(np.float32)


def silu(x):
    return x / (1 + np.exp(-x))


def normalised(x, weight, eps):
    return x / np.sqrt(np.mean(x**2, -1, keepdims=True) + eps) * weight


def f64(*arrays):
    return [one.astype(np.float64) for one in arrays]


def test_gated_rms_norm():
    x, gate, weight = normal(5, 32), normal(5, 32), normal(32)
    got = ops.gated_rms_norm(x, gate, weight, eps=1e-3)
    x, gate, weight = f64(x, gate, weight)
    np.testing.assert_allclose(got, silu(gate) * normalised(x, weight, 1e-3), rtol=2e-5, atol=1e-6)


def test_gated_norm_pair():
    gate, up, gate_weight, up_weight = normal(5, 32), normal(5, 32), normal(32), normal(32)
    got = ops.gated_norm_pair(gate, up, gate_weight, up_weight, eps=1e-3)
    gate, up, gate_weight, up_weight = f64(gate, up, gate_weight, up_weight)
    want = silu(normalised(gate, gate_weight, 1e-3)) * normalised(up, up_weight, 1e-3)
    np.testing.assert_allclose(got, want, rtol=5e-5, atol=1e-6)


def test_rms_norm_bwd():
    """By differences of the forward in f64."""
    dy, x, weight = f64(normal(3, 8), normal(3, 8), normal(8))
    dx, dweight = ops.rms_norm_bwd(dy, x, weight, eps=1e-3, dweight=True)
    step = 1e-6
    for at in np.ndindex(x.shape):
        moved = x.copy()
        moved[at] += step
        change = normalised(moved, weight, 1e-3) - normalised(x, weight, 1e-3)
        np.testing.assert_allclose(dx[at], np.sum(dy * change) / step, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(dweight, np.sum(dy * normalised(x, 1, 1e-3), 0), rtol=1e-9)


@pytest.mark.parametrize("variant", ["cpu/rows_v1"])
class TestLimits:
    def test_squares_of_rms_norm_overflow_beyond_1_8e19(self, variant):
        """... where their sum counts as infinite."""
        below, beyond = np.float32(1.8e19), np.float32(1.9e19)
        row = np.zeros((1, 4), np.float32)
        row[0, 0] = below
        assert ops.rms_norm(row, variant=variant)[0, 0] == pytest.approx(2)
        row[0, 0] = beyond
        assert not ops.rms_norm(row, variant=variant).any()

    def test_sums_of_rms_norm_bwd_overflow_beyond_3_4e38(self, variant):
        """... and dx is that of a row with an infinity, NaN or 0; other rows are as they were."""
        x = np.ones((2, 4), np.float32)
        x[0] = 2e19  # its square is beyond 3.4e38
        dx = ops.rms_norm_bwd(np.ones_like(x), x, variant=variant)
        assert not np.nan_to_num(dx[0]).any()
        np.testing.assert_allclose(dx[1], 0, atol=1e-5)

    def test_silu_mul_below_a_gate_of_minus_88(self, variant):
        """-0 for what is exactly a number under 2^-120 in size."""
        gate = np.array([[-88.8, -100]], np.float32)
        exact = silu(gate.astype(np.float64))
        assert (np.abs(exact) < 2.0**-120).all()
        got = ops.silu_mul(gate, np.ones_like(gate), variant=variant)
        assert (got == 0).all() and np.signbit(got).all()

    def test_silu_mul_bwd_below_a_gate_of_minus_87(self, variant):
        """The sigmoid may be 0 for what is exactly a number under 2^-120; at -87 it is not yet."""
        gate = np.array([[-87, -87.5, -89, -100]], np.float32)
        ones = np.ones_like(gate)
        exact = silu(gate.astype(np.float64))  # what dup is with dy = 1
        sigmoid = exact / gate
        assert (sigmoid < 2.0**-120).all()
        _, dup = ops.silu_mul_bwd(ones, gate, ones, variant=variant)
        np.testing.assert_allclose(dup[0, 0], exact[0, 0], rtol=1e-4)
        np.testing.assert_allclose(dup / gate, sigmoid, rtol=0, atol=2.0**-120)
