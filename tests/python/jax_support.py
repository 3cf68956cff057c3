"""What the tests of JAX share."""

import jax
import jax.numpy as jnp
import numpy as np

BF16 = jnp.bfloat16


def normal(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


def same(found, wanted):
    """To the bit."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


def rms_norm(x, weight=None, residual=None, eps=1e-6, offset=0):
    """The formula in JAX's own operations; y and h."""
    h = x if residual is None else x + residual
    y = h * jax.lax.rsqrt(jnp.mean(h * h, -1, keepdims=True) + eps)
    return (y if weight is None else y * (weight + offset)), h


def lowered(function, *arrays):
    """The program of a trace of its own: JAX keeps those of functions that it has seen."""

    def traced(*arrays):
        return function(*arrays)

    return jax.jit(traced).lower(*arrays).as_text()
