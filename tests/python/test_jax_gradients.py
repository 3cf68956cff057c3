"""JAX: gradients of einkorn's ops, against those of the same formulas in JAX's own operations."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import einkorn  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from einkorn import ops  # noqa: E402
from jax.test_util import check_grads  # noqa: E402
from jax_support import BF16, normal, rms_norm, same  # noqa: E402


class TestGradients:
    X, W, R = normal(5, 16), normal(16), normal(5, 16, seed=1)

    @staticmethod
    def value(*outputs):
        """A number that depends on every element of every output, each by another weight."""
        return sum(
            (one * jnp.cos(jnp.arange(one.size, dtype=one.dtype) + k).reshape(one.shape)).sum()
            for k, one in enumerate(outputs)
        )

    def gradients(self, function, *arrays):
        every = tuple(range(len(arrays)))
        return jax.grad(lambda *a: self.value(*function(*a)), every)(*map(jnp.asarray, arrays))

    def agree(self, found, wanted, *arrays):
        for one, other in zip(
            self.gradients(found, *arrays), self.gradients(wanted, *arrays), strict=True
        ):
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5)

    def test_rms_norm(self):
        self.agree(
            lambda x, w: (ops.rms_norm(x, w),), lambda x, w: (rms_norm(x, w)[0],), self.X, self.W
        )

    def test_without_weight(self):
        self.agree(lambda x: (ops.rms_norm(x),), lambda x: (rms_norm(x)[0],), self.X)

    def test_offset(self):
        self.agree(
            lambda x, w: (ops.rms_norm(x, w, offset=1, rounding="gemma", eps=0.1),),
            lambda x, w: (rms_norm(x, w, offset=1, eps=0.1)[0],),
            self.X,
            self.W,
        )

    def test_residual_stream(self):
        arrays = self.X, self.W, self.R
        self.agree(
            lambda x, w, r: ops.rms_norm(x, w, r, residual_out=True),
            rms_norm,
            *arrays,
        )
        self.agree(lambda x, w, r: (ops.rms_norm(x, w, r),), lambda *a: (rms_norm(*a)[0],), *arrays)
        only_stream = lambda x, w, r: (ops.rms_norm(x, w, r, residual_out=True)[1],)  # noqa: E731
        self.agree(only_stream, lambda *a: (rms_norm(*a)[1],), *arrays)

    def test_wider_residual_stream(self):
        """Its gradient is not rounded to x's dtype on its way through."""
        x, r = self.X.astype(BF16), self.R
        stream = jnp.asarray(normal(5, 16, seed=2))

        def loss(x, r):
            return (ops.rms_norm(x, residual=r, residual_out=True)[1] * stream).sum()

        dx, dr = jax.grad(loss, (0, 1))(jnp.asarray(x), jnp.asarray(r))
        same(dr, stream)
        same(dx, stream.astype(BF16))

    def test_through_rstd(self):
        def plain(x, w):
            return jax.lax.rsqrt(jnp.mean(x * x, -1) + 1e-6), rms_norm(x, w)[0]

        def ours(x, w):
            y, rstd = ops.rms_norm(x, w, rstd=True)
            return rstd, y

        self.agree(ours, plain, self.X, self.W)

    def test_silu_mul(self):
        self.agree(
            lambda g, u: (ops.silu_mul(g, u),), lambda g, u: (jax.nn.silu(g) * u,), self.X, self.R
        )

    @pytest.mark.parametrize("packing", ["halves", "interleaved"])
    def test_silu_mul_packed(self, packing):
        def plain(p):
            half = p.shape[-1] // 2
            g, u = (p[:, :half], p[:, half:]) if packing == "halves" else (p[:, ::2], p[:, 1::2])
            return (jax.nn.silu(g) * u,)

        self.agree(lambda p: (ops.silu_mul(packed=p, packing=packing),), plain, self.X)

    def test_silu_mul_clamped(self):
        def plain(g, u):
            g, u = jnp.minimum(g, 0.7), jnp.clip(u, -0.7, 0.7)
            return (g * jax.nn.sigmoid(1.702 * g) * (u + 1),)

        clamped = {"clamp": True, "limit": 0.7, "alpha": 1.702, "up_offset": 1.0}
        self.agree(lambda g, u: (ops.silu_mul(g, u, **clamped),), plain, self.X, self.R)

    def test_numerically_in_float64(self):
        with jax.enable_x64(True):
            x, w, r = (jnp.asarray(one, jnp.float64) for one in (self.X, self.W, self.R))
            every = {"residual_out": True, "rstd": True}
            check_grads(lambda *a: ops.rms_norm(*a, **every), (x, w, r), 1, modes=["rev"])
            check_grads(ops.silu_mul, (x, r), 1, modes=["rev"])

    def test_bfloat16(self):
        x, w = jnp.asarray(self.X, BF16), jnp.asarray(self.W, BF16)
        dx, dw = jax.grad(lambda x, w: ops.rms_norm(x, w).astype(jnp.float32).sum(), (0, 1))(x, w)
        wanted = jax.grad(
            lambda x, w: rms_norm(x.astype(jnp.float32), w.astype(jnp.float32))[0].sum(), (0, 1)
        )(x, w)
        assert dx.dtype == dw.dtype == BF16
        np.testing.assert_allclose(*(np.float32(one) for one in (dx, wanted[0])), atol=0.03)
        np.testing.assert_allclose(*(np.float32(one) for one in (dw, wanted[1])), atol=0.1)

    def test_under_jit(self):
        loss = lambda x, w: (ops.rms_norm(x, w) ** 2).sum()  # noqa: E731
        eager = jax.grad(loss, (0, 1))(self.X, self.W)
        for one, other in zip(jax.jit(jax.grad(loss, (0, 1)))(self.X, self.W), eager, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)

    def test_by_other_arguments_after(self):
        """JAX keeps a traced function, and what its forward rule said when first differentiated."""
        x, w = jnp.asarray(self.X[:3]), jnp.asarray(self.W)
        loss = jax.jit(lambda x, w: (ops.rms_norm(x, w, eps=0.3) ** 2).sum())
        plain = lambda x, w: (rms_norm(x, w, eps=0.3)[0] ** 2).sum()  # noqa: E731
        for which in (0, 1, (0, 1)):
            found, wanted = jax.grad(loss, which)(x, w), jax.grad(plain, which)(x, w)
            for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
                np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5)

    def test_of_one_result_after_another(self):
        arrays = jnp.asarray(self.X[:2]), jnp.asarray(self.W), jnp.asarray(self.R[:2])
        both = jax.jit(lambda *a: ops.rms_norm(*a, residual_out=True, eps=0.4))
        plain = lambda *a: rms_norm(*a, eps=0.4)  # noqa: E731
        for k in (0, 1, 0):
            found, wanted = (
                jax.grad(lambda *a, f=f, k=k: (f(*a)[k] ** 2).sum(), (0, 1, 2))(*arrays)
                for f in (both, plain)
            )
            for one, other in zip(found, wanted, strict=True):
                np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5)

    def test_rematerialised(self):
        loss = lambda x: einkorn.jax.rms_norm(jnp.sin(x), self.W).sum()  # noqa: E731
        same(jax.grad(jax.checkpoint(loss))(self.X), jax.grad(loss)(self.X))

    def test_of_vmap(self):
        x = normal(3, 5, 16)
        loss = lambda x, w: self.value(jax.vmap(einkorn.jax.rms_norm, (0, None))(x, w))  # noqa: E731
        plain = lambda x, w: self.value(rms_norm(x, w)[0])  # noqa: E731
        found, wanted = (jax.grad(one, (0, 1))(x, self.W) for one in (loss, plain))
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5)

    def test_vmap_of_it(self):
        """A gradient of the weight for each element: not one summed over the batch."""
        x = normal(3, 5, 16)
        found, wanted = (
            jax.vmap(jax.grad(lambda x, w, f=f: self.value(f(x, w)), (0, 1)), (0, None))(x, self.W)
            for f in (einkorn.jax.rms_norm, lambda x, w: rms_norm(x, w)[0])
        )
        for one, other in zip(found, wanted, strict=True):
            assert one.shape == other.shape
            np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5)

    def test_op_without_backward(self):
        x, w = jnp.asarray(self.X), jnp.asarray(self.W)
        with pytest.raises(NotImplementedError, match=r"gated_rms_norm: gradient: .*\n  hint: jax"):
            jax.grad(lambda x: ops.gated_rms_norm(x, x, w).sum())(x)
        # Where it is not differentiated it may be.
        kept = jax.lax.stop_gradient(x)
        jax.grad(lambda x: (x * ops.gated_rms_norm(kept, kept, w)).sum())(x)

    def test_second_order(self):
        x = jnp.asarray(self.X)
        slope = jax.grad(lambda x: ops.silu_mul(x, x).sum())
        with pytest.raises(NotImplementedError, match="silu_mul_bwd: gradient"):
            jax.grad(lambda x: slope(x).sum())(x)

    def test_forward_mode(self):
        with pytest.raises(TypeError, match="custom_vjp"):
            jax.jvp(ops.rms_norm, (jnp.asarray(self.X),), (jnp.asarray(self.X),))
