"""JAX: einkorn.ops and einkorn.jax under jit and vmap, on the CPU."""

import threading

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import einkorn  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from einkorn import ops  # noqa: E402
from interpreter import works  # noqa: E402
from jax_support import BF16, lowered, normal, rms_norm, same  # noqa: E402


class TestCalls:
    @pytest.mark.parametrize("dtype", [np.float32, np.float16, BF16])
    @pytest.mark.parametrize("shape", [(64,), (3, 64), (2, 3, 64), (0, 64), (2, 0, 64)])
    def test_equal_to_numpy(self, dtype, shape):
        x, weight = normal(*shape, dtype=dtype), normal(shape[-1], dtype=dtype)
        same(ops.rms_norm(jnp.asarray(x), jnp.asarray(weight)), ops.rms_norm(x, weight))

    def test_all_tensors(self):
        arrays = normal(5, 32), normal(32), normal(5, 32, seed=1)
        found = ops.rms_norm(*map(jnp.asarray, arrays), residual_out=True, rstd=True)
        wanted = ops.rms_norm(*arrays, residual_out=True, rstd=True)
        assert len(found) == 3
        for one, other in zip(found, wanted, strict=True):
            same(one, other)

    def test_middle_input_left_out(self):
        x, residual = normal(5, 32), normal(5, 32, seed=1)
        same(
            ops.rms_norm(jnp.asarray(x), residual=jnp.asarray(residual)),
            ops.rms_norm(x, residual=residual),
        )

    def test_first_inputs_left_out(self):
        packed = normal(4, 2, 64)
        for packing in ("halves", "interleaved"):
            same(
                ops.silu_mul(packed=jnp.asarray(packed), packing=packing),
                ops.silu_mul(packed=packed, packing=packing),
            )

    def test_every_scalar_arrives(self):
        gate, up = 9 * normal(4, 64), 9 * normal(4, 64, seed=1)
        scalars = {"clamp": True, "limit": 3.3, "alpha": 1.702, "up_offset": -0.7}
        found = ops.silu_mul(jnp.asarray(gate), jnp.asarray(up), rounding="silu", **scalars)
        same(found, ops.silu_mul(gate, up, rounding="silu", **scalars))
        assert np.abs(np.asarray(found) - ops.silu_mul(gate, up)).max() > 0.1

    def test_integer_scalar(self):
        x, weight = normal(4, 64), normal(64)
        found = ops.rms_norm(jnp.asarray(x), jnp.asarray(weight), offset=1, rounding="gemma")
        np.testing.assert_allclose(found, rms_norm(x, weight, offset=1)[0], rtol=1e-5, atol=1e-6)

    def test_numpy_scalars_are_numbers(self):
        x = jnp.asarray(normal(4, 64))
        same(ops.rms_norm(x, eps=np.float64(1e-3), offset=np.int32(0)), ops.rms_norm(x, eps=1e-3))
        same(ops.silu_mul(x, x, clamp=np.bool(True)), ops.silu_mul(x, x, clamp=True))

    def test_float64_needs_x64(self):
        with jax.enable_x64(True):
            x = jnp.asarray(normal(4, 64, dtype=np.float64))
            y, rstd = ops.rms_norm(x, rstd=True)
            assert y.dtype == rstd.dtype == jnp.float64
            np.testing.assert_allclose(y, rms_norm(x)[0], rtol=1e-14)

    def test_same_array_twice(self):
        x = jnp.asarray(normal(4, 64))
        same(ops.silu_mul(x, x), ops.silu_mul(np.asarray(x), np.asarray(x)))

    def test_variant(self):
        x = normal(4, 64)
        same(
            ops.rms_norm(jnp.asarray(x), variant="reference"), ops.rms_norm(x, variant="reference")
        )

    def test_composite_op(self):
        x, gate, weight = normal(4, 64), normal(4, 64, seed=1), normal(64)
        same(
            ops.gated_rms_norm(*map(jnp.asarray, (x, gate, weight))),
            ops.gated_rms_norm(x, gate, weight),
        )

    def test_result_that_is_not_row_major(self):
        x = jnp.asarray(normal(8, 64))
        same(jax.jit(lambda x: ops.rms_norm(x.T).T)(x), ops.rms_norm(np.ascontiguousarray(x.T)).T)


class TestJit:
    def test_equal_to_eager(self):
        x, weight = jnp.asarray(normal(4, 64)), jnp.asarray(normal(64))
        same(jax.jit(ops.rms_norm)(x, weight), ops.rms_norm(x, weight))

    def test_inside_a_program(self):
        x, weight = jnp.asarray(normal(4, 64)), jnp.asarray(normal(64))

        @jax.jit
        def twice(x):
            return ops.rms_norm(ops.rms_norm(x + 1, weight), weight) * 2

        same(twice(x), ops.rms_norm(ops.rms_norm(x + 1, weight), weight) * 2)

    def test_scan(self):
        x, weights = jnp.asarray(normal(4, 64)), jnp.asarray(normal(3, 64))
        found, _ = jax.lax.scan(lambda h, w: (ops.rms_norm(h, w), None), x, weights)
        wanted = np.asarray(x)
        for weight in np.asarray(weights):
            wanted = ops.rms_norm(wanted, weight)
        same(found, wanted)

    def test_shapes_without_running(self):
        described = jax.ShapeDtypeStruct((4, 64), BF16)
        y, rstd = jax.eval_shape(lambda x: ops.rms_norm(x, rstd=True), described)
        assert (y.shape, y.dtype) == ((4, 64), BF16)
        assert (rstd.shape, rstd.dtype) == ((4,), jnp.float32)

    def test_static_scalar(self):
        x = jnp.asarray(normal(4, 64))
        call = jax.jit(lambda x, eps: ops.rms_norm(x, eps=eps), static_argnames="eps")
        same(call(x, eps=0.1), ops.rms_norm(x, eps=0.1))

    def test_program_says_all_of_the_call(self):
        text = lowered(lambda x: ops.rms_norm(x, eps=0.5, rstd=True), jnp.asarray(normal(4, 64)))
        assert "@einkorn" in text
        for part in ('op = "rms_norm"', 'tensors = "x,y,rstd"', "eps = 5.000000e-01 : f64"):
            assert part in text

    def test_equal_calls_share_a_program(self):
        from einkorn.jax._program import program

        x = jnp.asarray(normal(4, 64))
        ops.rms_norm(x, eps=0.25)
        before = program.cache_info().currsize
        ops.rms_norm(x + 1, eps=np.float32(0.25))
        assert program.cache_info().currsize == before

    def test_exported_with_open_sizes(self):
        rows = jax.export.symbolic_shape("rows, 64")
        exported = jax.export.export(
            jax.jit(ops.rms_norm),
            disabled_checks=[jax.export.DisabledSafetyCheck.custom_call("einkorn")],
        )(jax.ShapeDtypeStruct(rows, jnp.float32))
        for count in (3, 5):
            x = normal(count, 64)
            same(exported.call(jnp.asarray(x)), ops.rms_norm(x))


class TestBadInput:
    X = jnp.asarray(normal(4, 64))
    W = jnp.asarray(normal(64))

    @pytest.mark.parametrize(
        ("call", "kind", "parts"),
        [
            (lambda x, w: ops.rms_norm(x, w[:3]), ValueError, "weight dim 0: expected cols = 64"),
            (lambda x, w: ops.rms_norm(x.astype(int)), TypeError, "x dtype: expected one of"),
            (lambda x, w: ops.rms_norm(x.astype(jnp.complex64)), TypeError, "x dtype: expected"),
            (lambda x, w: ops.rms_norm(x[0, 0]), TypeError, "x rank"),
            (lambda x, w: ops.rms_norm(x, eps=-1.0), ValueError, "eps value"),
            (lambda x, w: ops.rms_norm(x, eps=float("nan")), ValueError, "eps value"),
            (lambda x, w: ops.rms_norm(x, eps="1"), TypeError, "eps: expected float, got str"),
            (lambda x, w: ops.rms_norm(x, offset=0.5), TypeError, "offset: expected int"),
            (lambda x, w: ops.rms_norm(x, offset=2), ValueError, "offset"),
            (lambda x, w: ops.rms_norm(x, rounding="up"), ValueError, "rounding: expected llama"),
            (lambda x, w: ops.rms_norm(x, residual_out=True), ValueError, "residual_out"),
            (lambda x, w: ops.rms_norm(x, variant="none"), ValueError, "variant: expected one of"),
            (
                lambda x, w: ops.rms_norm(x, variant="sm90/bulk_v1"),
                NotImplementedError,
                "refused: tensors are on cpu",
            ),
            (lambda x, w: ops.silu_mul(None, x), TypeError, "gate"),
            (lambda x, w: ops.silu_mul(packed=x[0, 0], packing="halves"), TypeError, "packed rank"),
            (lambda x, w: ops.silu_mul(x, x, clamp="yes"), TypeError, "clamp: expected bool"),
        ],
    )
    @pytest.mark.parametrize("mode", ["eager", "jit"])
    def test_typed_error(self, call, kind, parts, mode):
        function = call if mode == "eager" else jax.jit(call)
        with pytest.raises(kind) as caught:
            function(self.X, self.W)
        assert caught.type is kind
        assert parts in str(caught.value)

    def test_traced_scalar(self):
        with pytest.raises(
            TypeError, match=r"eps: expected a Python float, got a JAX array\n.*sta"
        ):
            jax.jit(lambda x, eps: ops.rms_norm(x, eps=eps))(self.X, 1e-6)
        with pytest.raises(TypeError, match="eps: expected a Python float"):
            ops.rms_norm(self.X, eps=jnp.float32(1e-6))

    def test_output_given(self):
        with pytest.raises(TypeError, match="out: expected no array with inputs of JAX"):
            ops.rms_norm(self.X, out=self.X)
        with pytest.raises(TypeError, match="rstd: expected no array"):
            ops.rms_norm(self.X, rstd=np.zeros(4, np.float32))

    @pytest.mark.parametrize("given", [True, np.zeros((1, 2, 8, 8), np.float32)])
    def test_output_that_only_the_caller_makes(self, given):
        """It is never there; without it the call is as every other."""
        x = jnp.ones((1, 70, 2, 8), jnp.float32)
        match = r"checkpoints: expected no array with inputs of JAX.*\n  hint: only the caller"
        with pytest.raises(TypeError, match=match):
            ops.lightning_prefill(x, x, x, -x[0, 0, :, 0], checkpoint_every=64, checkpoints=given)
        assert ops.lightning_prefill(x, x, x, -x[0, 0, :, 0], checkpoints=False).shape == x.shape

    def test_mixed_frameworks(self):
        with pytest.raises(TypeError, match=r"weight: expected an array of jax .*\n.*einkorn\.jax"):
            ops.rms_norm(self.X, np.ones(64, np.float32))

    @pytest.mark.parametrize(
        ("change", "parts"),
        [
            ({"eps": np.float64(-1)}, ["INVALID_ARGUMENT", "ValueError: rms_norm: eps value"]),
            ({"op": "none"}, ["INVALID_ARGUMENT", "none"]),
            ({"op": 3}, ["op: expected a string attribute"]),
            ({"tensors": "x"}, ["INTERNAL", "of different versions"]),
            ({"tensors": "x,y,rstd"}, ["INTERNAL", "of different versions"]),
            ({"tensors": "x,z"}, ["INTERNAL", "of different versions"]),
            ({"tensors": "x,eps"}, ["rms_norm: "]),
            ({"more": 1.0}, ["INTERNAL", "of different versions"]),
            ({"eps": np.float32(1)}, ["eps: expected an attribute of type"]),
            ({"eps": np.array([1.0, 2.0])}, ["eps: expected an attribute of type"]),
            ({"eps": "1"}, ["TypeError: rms_norm: eps: expected a number, got str"]),
            (
                {"variant": "sm90/bulk_v1"},
                ["UNIMPLEMENTED", "NotImplementedError: rms_norm: no va"],
            ),
        ],
    )
    def test_bad_foreign_call(self, change, parts):
        """What a program compiled with other files may ask for is an error, not a crash."""
        ops.rms_norm(self.X)  # registers the target
        given = {
            "op": "rms_norm",
            "tensors": "x,y",
            "eps": np.float64(1e-6),
            "variant": "",
        } | change
        described = jax.ShapeDtypeStruct(self.X.shape, self.X.dtype)
        with pytest.raises(jax.errors.JaxRuntimeError) as caught:
            jax.ffi.ffi_call("einkorn", described)(self.X, **given).block_until_ready()
        for part in parts:
            assert part in str(caught.value)


class TestVmap:
    X = normal(3, 5, 64)
    W = normal(64)

    def test_folds_into_rows(self):
        call = jax.vmap(einkorn.jax.rms_norm, in_axes=(0, None))
        same(call(self.X, self.W), ops.rms_norm(self.X, self.W))
        text = lowered(call, self.X, self.W)
        assert text.count("@einkorn") == 1
        assert "while" not in text

    @pytest.mark.parametrize("axis", [0, 1, -2])
    def test_axis(self, axis):
        found = jax.vmap(einkorn.jax.rms_norm, in_axes=(axis, None), out_axes=axis)(self.X, self.W)
        same(found, ops.rms_norm(self.X, self.W))

    def test_of_vectors(self):
        same(
            jax.vmap(einkorn.jax.rms_norm, (0, None))(self.X[0], self.W),
            ops.rms_norm(self.X[0], self.W),
        )

    def test_nested(self):
        call = jax.vmap(jax.vmap(einkorn.jax.rms_norm, (0, None)), (0, None))
        same(call(self.X, self.W), ops.rms_norm(self.X, self.W))
        assert lowered(call, self.X, self.W).count("@einkorn") == 1

    def test_residual_is_repeated(self):
        residual = normal(5, 64, seed=1)
        call = jax.vmap(
            lambda x, r: einkorn.jax.rms_norm(x, self.W, r, residual_out=True, rstd=True), (0, None)
        )
        wanted = ops.rms_norm(
            self.X,
            self.W,
            np.stack([residual] * 3),
            residual_out=True,
            rstd=True,
        )
        for one, other in zip(call(self.X, residual), wanted, strict=True):
            same(one, other)

    def test_only_residual_is_batched(self):
        residuals = normal(3, 5, 64, seed=1)
        found = jax.vmap(lambda r: ops.rms_norm(jnp.asarray(self.X[0]), residual=r))(residuals)
        same(found, ops.rms_norm(np.stack([self.X[0]] * 3), residual=residuals))

    def test_batched_weight_runs_one_by_one(self):
        weights = normal(3, 64, seed=1)
        call = jax.vmap(einkorn.jax.rms_norm)
        wanted = np.stack([ops.rms_norm(x, w) for x, w in zip(self.X, weights, strict=True)])
        same(call(self.X, weights), wanted)
        assert "while" in lowered(call, self.X, weights)

    def test_batched_weight_nested_in_folded(self):
        weights = normal(3, 64, seed=1)
        call = jax.vmap(jax.vmap(einkorn.jax.rms_norm, (0, None)), (None, 0))
        wanted = np.stack([ops.rms_norm(self.X, w) for w in weights])
        same(call(self.X, weights), wanted)

    def test_packed(self):
        call = jax.vmap(lambda p: ops.silu_mul(packed=p, packing="interleaved"))
        same(call(self.X), ops.silu_mul(packed=self.X, packing="interleaved"))

    def test_empty_batch(self):
        assert jax.vmap(einkorn.jax.rms_norm, (0, None))(self.X[:0], self.W).shape == (0, 5, 64)

    def test_bad_input(self):
        with pytest.raises(ValueError, match="weight dim 0: expected cols = 64"):
            jax.vmap(einkorn.jax.rms_norm, (0, None))(self.X, self.W[:3])


class TestModule:
    def test_takes_what_jax_takes(self):
        x, weight = normal(4, 64), normal(64)
        found = einkorn.jax.rms_norm(x, weight.tolist())
        assert isinstance(found, jax.Array)
        same(found, ops.rms_norm(x, weight))
        same(
            einkorn.jax.silu_mul(packed=x, packing="halves"),
            ops.silu_mul(packed=x, packing="halves"),
        )

    def test_names(self):
        assert set(ops.__all__) <= set(dir(einkorn.jax))
        assert einkorn.jax.rms_norm.__doc__ == ops.rms_norm.__doc__
        assert einkorn.jax.rms_norm is einkorn.jax.rms_norm
        with pytest.raises(AttributeError, match=r"module 'einkorn\.jax' has no attribute 'none'"):
            _ = einkorn.jax.none

    def test_batch_invariant_mode_is_in_the_program(self):
        x = jnp.asarray(normal(4, 64))
        with einkorn.batch_invariant():
            assert "batch_invariant = true" in lowered(ops.rms_norm, x)
            same(ops.rms_norm(x)[:1], ops.rms_norm(x[:1]))
        assert "batch_invariant = false" in lowered(ops.rms_norm, x)

    def test_missing_jax(self):
        """An ImportError that says how to get it, and no lasting harm."""
        code = """
import sys, numpy
import einkorn
sys.modules["jax"] = None
for _ in range(2):
    try:
        einkorn.jax
    except ImportError as error:
        assert "JAX cannot be imported" in str(error) and "pip install" in str(error), error
    else:
        raise AssertionError
einkorn.ops.rms_norm(numpy.ones((2, 8), "f4"))
del sys.modules["jax"]
einkorn.jax.rms_norm(numpy.ones((2, 8), "f4")).block_until_ready()
"""
        works("-c", code)

    def test_threads(self):
        x, weight = normal(64, 256), jnp.asarray(normal(256))
        wanted = ops.rms_norm(x, np.asarray(weight))
        call = jax.jit(lambda x: ops.rms_norm(x, weight))
        failures = []

        def work(first):
            try:
                for k in range(20):
                    start = (first + k) % 32
                    same(call(jnp.asarray(x[start : start + 32])), wanted[start : start + 32])
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert not failures

    def test_sharded(self):
        """Two devices: rows gathered by jit, kept where they are by shard_map."""
        code = """
import jax, numpy
import einkorn
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2,), ("d",))
x = numpy.random.default_rng(0).standard_normal((4, 64)).astype("f4")
weight = numpy.linspace(0.5, 1.5, 64, dtype="f4")
wanted = einkorn.ops.rms_norm(x, weight)
split = jax.device_put(x, NamedSharding(mesh, P("d")))
numpy.testing.assert_array_equal(jax.jit(einkorn.jax.rms_norm)(split, weight), wanted)
each = lambda check: jax.shard_map(
    einkorn.jax.rms_norm, mesh=mesh, in_specs=(P("d"), P()), out_specs=P("d"), check_vma=check
)
numpy.testing.assert_array_equal(jax.jit(each(True))(split, weight), wanted)
found, whole = (
    jax.jit(jax.grad(lambda w, f=f, x=x: f(x, w).sum()))(weight)
    for f, x in ((each(False), split), (einkorn.jax.rms_norm, x))
)
numpy.testing.assert_allclose(found, whole, rtol=1e-5)
"""
        works("-c", code, XLA_FLAGS="--xla_force_host_platform_device_count=2")
