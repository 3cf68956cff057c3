"""NumPy: which arrays einkorn.ops takes, which it refuses, and that it keeps none."""

import gc
import sys
import threading
import weakref

import numpy as np
import pytest
from einkorn import ops

ml_dtypes = pytest.importorskip("ml_dtypes")

BF16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = [np.dtype(np.float32), np.dtype(np.float16), np.dtype(np.float64), BF16]
# Of one operation in a dtype: the unit roundoff, with some for the roundings before it.
TOLERANCE = {"float32": 1e-6, "float16": 2e-3, "float64": 1e-14, "bfloat16": 2e-2}


def normal(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


def rms_norm(x, weight=None, residual=None, eps=1e-6):
    """The formula in float64."""
    h = x.astype(np.float64) + (0 if residual is None else residual.astype(np.float64))
    y = h / np.sqrt(np.mean(h * h, -1, keepdims=True) + eps)
    return y if weight is None else y * weight.astype(np.float64)


def near(found, wanted):
    tolerance = TOLERANCE[found.dtype.name]
    np.testing.assert_allclose(
        found.astype(np.float64), wanted, rtol=tolerance, atol=tolerance, equal_nan=False
    )


class TestArrays:
    @pytest.mark.parametrize("dtype", FLOATS, ids=str)
    @pytest.mark.parametrize("shape", [(64,), (3, 64), (2, 3, 64)])
    def test_dtypes(self, dtype, shape):
        x, weight = normal(*shape, dtype=dtype), normal(64, dtype=dtype)
        y = ops.rms_norm(x, weight)
        assert (type(y), y.dtype, y.shape) == (np.ndarray, dtype, shape)
        near(y, rms_norm(x, weight))

    @pytest.mark.parametrize("dtype", FLOATS, ids=str)
    def test_outputs(self, dtype):
        x, residual = normal(3, 64, dtype=dtype), normal(3, 64, dtype=dtype, seed=1)
        y, stream, rstd = ops.rms_norm(x, residual=residual, residual_out=True, rstd=True)
        wide = np.float64 if dtype == np.float64 else np.float32
        assert (y.dtype, stream.dtype, rstd.dtype) == (dtype, dtype, wide)
        assert (y.shape, stream.shape, rstd.shape) == (x.shape, x.shape, (3,))
        near(y, rms_norm(x, residual=residual))
        near(stream, x.astype(np.float64) + residual.astype(np.float64))

    @pytest.mark.parametrize("dtype", FLOATS, ids=str)
    def test_given_outputs(self, dtype):
        x, out, rstd = normal(3, 64, dtype=dtype), np.zeros((3, 64), dtype), np.zeros(3, "f4")
        if dtype == np.float64:
            rstd = rstd.astype(dtype)
        found = ops.rms_norm(x, out=out, rstd=rstd)
        assert found[0] is out
        assert found[1] is rstd
        near(out, rms_norm(x))
        assert rstd.all()

    @pytest.mark.parametrize("dtype", FLOATS, ids=str)
    def test_in_place(self, dtype):
        x = normal(3, 64, dtype=dtype)
        wanted = rms_norm(x)
        assert ops.rms_norm(x, out=x) is x
        near(x, wanted)

    def test_mixed_dtypes(self):
        x, weight = normal(3, 64, dtype=BF16), normal(64)
        near(ops.rms_norm(x, weight), rms_norm(x, weight))

    @pytest.mark.parametrize("dtype", FLOATS, ids=str)
    def test_read_only_input(self, dtype):
        x, weight = normal(3, 64, dtype=dtype), normal(64, dtype=dtype)
        x.flags.writeable = weight.flags.writeable = False
        near(ops.rms_norm(x, weight), rms_norm(x, weight))
        assert not x.flags.writeable

    def test_of_immutable_bytes(self):
        x = np.frombuffer(normal(3, 64).tobytes(), np.float32).reshape(3, 64)
        near(ops.rms_norm(x), rms_norm(x))

    @pytest.mark.parametrize("dtype", FLOATS, ids=str)
    def test_strided_rows(self, dtype):
        whole = normal(6, 128, dtype=dtype)
        for x in (whole[:, :64], whole[:, 64:], whole[1::2, 32:96], whole[2:4]):
            near(ops.rms_norm(x), rms_norm(x))

    @pytest.mark.parametrize("dtype", FLOATS, ids=str)
    def test_strided_output(self, dtype):
        x, whole = normal(3, 64, dtype=dtype), np.full((3, 128), 7, dtype)
        out = whole[:, 32:96]
        ops.rms_norm(x, out=out)
        near(np.ascontiguousarray(out), rms_norm(x))
        assert (whole[:, :32] == 7).all()
        assert (whole[:, 96:] == 7).all()

    def test_negative_row_stride(self):
        x = normal(5, 64)[::-1]
        try:
            near(ops.rms_norm(x), rms_norm(x))
        except ValueError as error:
            assert "rms_norm: x stride" in str(error)

    def test_offset_view_of_bytes(self):
        raw = np.zeros(4 * 65, np.uint8)
        x = raw[4:].view(np.float32)
        x[:] = normal(64)
        near(ops.rms_norm(x), rms_norm(x))

    def test_empty(self):
        assert ops.rms_norm(np.zeros((0, 64), "f4")).shape == (0, 64)
        assert ops.rms_norm(np.zeros((2, 0, 64), BF16)).shape == (2, 0, 64)

    def test_subclasses(self, tmp_path):
        x = normal(3, 64)
        mapped = np.memmap(tmp_path / "x", "f4", "w+", shape=x.shape)
        mapped[:] = x
        for other in (mapped, np.memmap(tmp_path / "x", "f4", "r", shape=x.shape)):
            found = ops.rms_norm(other)
            assert type(found) is np.ndarray
            near(found, rms_norm(x))

    def test_same_array_twice(self):
        x = normal(3, 64)
        near(ops.silu_mul(x, x), x.astype(np.float64) ** 2 / (1 + np.exp(-x.astype(np.float64))))

    def test_packed(self):
        packed = normal(3, 64)
        y = ops.silu_mul(packed=packed, packing="interleaved")
        assert y.shape == (3, 32)
        np.testing.assert_array_equal(
            y, ops.silu_mul(np.ascontiguousarray(packed[:, ::2]), packed[:, 1::2].copy())
        )

    def test_scalars_of_numpy(self):
        x = normal(3, 64)
        found = ops.rms_norm(x, eps=np.float64(0.5), offset=np.int64(0))
        np.testing.assert_array_equal(found, ops.rms_norm(x, eps=0.5))

    def test_variant(self):
        x = normal(3, 64)
        near(ops.rms_norm(x, variant="reference"), rms_norm(x))
        near(ops.rms_norm(x, variant="cpu/rows_v1"), rms_norm(x))


X = normal(4, 64)
W = normal(64)
LOCKED = np.zeros((4, 64), np.float32)
LOCKED.flags.writeable = False
LOCKED_BF16 = LOCKED.astype(BF16)
LOCKED_BF16.flags.writeable = False


class TestBadInput:
    @pytest.mark.parametrize(
        ("call", "kind", "parts"),
        [
            (lambda: ops.rms_norm([[1.0, 2.0]]), TypeError, "x: expected an array of.*got list"),
            (lambda: ops.rms_norm(None), TypeError, "x: expected an array of .*got None"),
            (lambda: ops.rms_norm(1.0), TypeError, "x: expected an array of .*got float"),
            (lambda: ops.rms_norm(np.float32(1)), TypeError, "x: expected numpy.ndarray, got fl"),
            (lambda: ops.rms_norm(np.array(1, "f4")), TypeError, r"x rank: expected at least 1"),
            (lambda: ops.rms_norm(X, [1.0] * 64), TypeError, "weight: expected an array of numpy"),
            (lambda: ops.rms_norm(X, W, out=[0]), TypeError, "y: expected an array of numpy"),
            (lambda: ops.rms_norm(X.astype(int)), TypeError, "x dtype: expected one of .*got i64"),
            (lambda: ops.rms_norm(X.astype(bool)), TypeError, "x dtype: expected one of .*got boo"),
            (lambda: ops.rms_norm(X.astype(object)), TypeError, "x dtype: expected real numbers"),
            (lambda: ops.rms_norm(X.astype("c8")), TypeError, "x dtype: expected real .*complex64"),
            (lambda: ops.rms_norm(X.astype("m8[s]")), TypeError, "x dtype: expected real numbers"),
            (lambda: ops.rms_norm(X.astype("S4")), TypeError, "x dtype: expected real numbers"),
            (lambda: ops.rms_norm(np.zeros(4, "f4,i4")), TypeError, "x dtype: expected real numb"),
            (
                lambda: ops.rms_norm(X.astype(np.longdouble)),
                TypeError,
                "x: tensor dtype: expec",
            ),
            (lambda: ops.rms_norm(X.astype(">f4")), TypeError, "x dtype: expected the machine's b"),
            (lambda: ops.rms_norm(X, W.astype(">f4")), TypeError, "weight dtype: expected the mac"),
            (
                lambda: ops.rms_norm(X, out=np.zeros((4, 64), ">f4")),
                TypeError,
                "y dtype: expected the machine's byte order",
            ),
            (lambda: ops.rms_norm(X.T), ValueError, "x stride of dim 1: expected 1"),
            (lambda: ops.rms_norm(X[:, ::-1]), ValueError, "x stride of dim 1: expected 1, got -1"),
            (lambda: ops.rms_norm(X[:, ::2]), ValueError, "x stride of dim 1: expected 1, got 2"),
            (lambda: ops.rms_norm(X, W[:3]), ValueError, "weight dim 0: expected cols = 64"),
            (lambda: ops.rms_norm(X[:, :0]), ValueError, "x dim 1: expected cols in"),
            (lambda: ops.rms_norm(X, out=X[:3].copy()), ValueError, "y dim 0"),
            (lambda: ops.rms_norm(X, out=X.astype("f8")), TypeError, "y dtype"),
            (lambda: ops.rms_norm(X, out=LOCKED), ValueError, "y: expected an array that can be w"),
            (lambda: ops.rms_norm(X.astype(BF16), out=LOCKED_BF16), ValueError, "y: expected an a"),
            (lambda: ops.rms_norm(X, rstd=LOCKED[:, 0]), ValueError, "rstd: expected an array tha"),
            (
                lambda: ops.rms_norm(X[1:], out=X[:-1]),
                ValueError,
                "y memory: expected memory apart",
            ),
            (
                lambda: ops.rms_norm(np.ma.masked_array(X)),
                TypeError,
                "x: expected .*without a mask",
            ),
            (lambda: ops.rms_norm(X, eps=0.0), ValueError, "eps value: expected a positive finite"),
            (lambda: ops.rms_norm(X, eps="1"), TypeError, "eps: expected a number, got str"),
            (lambda: ops.rms_norm(X, offset=1.5), TypeError, "offset: expected int, got float"),
            (lambda: ops.rms_norm(X, offset=2**40), ValueError, "offset: expected an integer of"),
            (lambda: ops.rms_norm(X, rounding="up"), ValueError, "rounding: expected llama or gem"),
            (lambda: ops.rms_norm(X, variant="none"), ValueError, "variant: expected one of"),
            (lambda: ops.rms_norm(X, variant=1), TypeError, "variant: expected str or None"),
            (
                lambda: ops.rms_norm(X, variant="sm90/bulk_v1"),
                NotImplementedError,
                r"no variant for cpu[\s\S]*sm90/bulk_v1 +refused: tensors are on cpu",
            ),
            (
                lambda: ops.rms_norm(X, residual_out=True),
                ValueError,
                "residual_out: expected not to be asked for without residual, got no residual",
            ),
            (lambda: ops.silu_mul(None, X), TypeError, "gate"),
            (
                lambda: ops.silu_mul(packed=X, packing="split"),
                ValueError,
                "packed: expected no ten",
            ),
            (
                lambda: ops.silu_mul(packed=np.array(1, "f4"), packing="halves"),
                TypeError,
                "packed rank",
            ),
        ],
    )
    def test_typed_error(self, call, kind, parts):
        before = X.copy()
        with pytest.raises(kind, match=parts) as caught:
            call()
        assert caught.type is kind
        np.testing.assert_array_equal(X, before)
        assert not LOCKED.any()

    def test_strides_that_no_element_divides(self):
        """Of a member of a packed struct: 5 bytes apart."""
        x = np.zeros(64, np.dtype([("a", "f4"), ("b", "i1")]))["a"]
        with pytest.raises(ValueError, match=r"rms_norm: x strides: expected multiples of the 4"):
            ops.rms_norm(x)
        with pytest.raises(ValueError, match=r"rms_norm: weight strides"):
            ops.rms_norm(X, x)

    def test_unaligned(self):
        x = np.zeros(4 * 64 + 1, np.uint8)[1:].view(np.float32)
        with pytest.raises(ValueError, match="x data: expected an address aligned to 4 bytes"):
            ops.rms_norm(x)

    def test_nothing_is_written(self):
        out = np.full((4, 64), 7, np.float32)
        for bad in ({"eps": -1.0}, {"weight": W[:3]}, {"variant": "sm90/bulk_v1"}):
            with pytest.raises((ValueError, NotImplementedError)):
                ops.rms_norm(X, out=out, **bad)
        assert (out == 7).all()

    def test_mixed_frameworks(self):
        torch = pytest.importorskip("torch")
        with pytest.raises(
            TypeError, match="weight: expected an array of numpy as x is, got one o"
        ):
            ops.rms_norm(X, torch.ones(64))
        with pytest.raises(TypeError, match="y: expected an array of numpy as x is, got one of t"):
            ops.rms_norm(X, out=torch.zeros(4, 64))
        with pytest.raises(TypeError, match="weight: expected an array of torch as x is, got one "):
            ops.rms_norm(torch.ones(4, 64), W)


class TestLifetime:
    @pytest.mark.parametrize("dtype", FLOATS, ids=str)
    @pytest.mark.parametrize("writable", [True, False])
    def test_keeps_no_array(self, dtype, writable):
        x, out = normal(4, 64, dtype=dtype), np.zeros((4, 64), dtype)
        x.flags.writeable = writable
        ops.rms_norm(x, out=out)
        with pytest.raises(ValueError, match="eps"):
            ops.rms_norm(x, out=out, eps=-1.0)
        with pytest.raises(TypeError, match="eps"):
            ops.rms_norm(x, out=out, eps="1")
        gone = [weakref.ref(x), weakref.ref(out)]
        del x, out
        gc.collect()
        assert [one() for one in gone] == [None, None]

    def test_many_calls_keep_nothing(self):
        x, out = normal(4, 64, dtype=BF16), np.zeros((4, 64), BF16)

        def blocks(calls):
            for _ in range(calls):
                ops.rms_norm(x, out=out)
            gc.collect()
            return sys.getallocatedblocks()

        blocks(1000)  # caches of the interpreter grow by some hundred, once
        before = blocks(1)
        assert blocks(1000) - before < 200

    def test_error_of_a_later_argument(self):
        """Raised by tvm-ffi while it has taken the arrays before."""
        x = normal(4, 64, dtype=BF16)
        for bad in (1 << 70, 1j):
            with pytest.raises((TypeError, OverflowError)):
                ops.rms_norm(x, offset=bad)

    def test_other_libraries_may_set_ctypes(self):
        """ctypes.pythonapi is shared: what others declare there does not reach us."""
        import ctypes

        function = ctypes.pythonapi.PyCapsule_New
        before = function.argtypes
        function.argtypes = (ctypes.c_char_p,)
        try:
            near(ops.rms_norm(X.astype(BF16)), rms_norm(X.astype(BF16)))
        finally:
            function.argtypes = before

    def test_threads(self):
        x = normal(64, 256, dtype=BF16)
        x.flags.writeable = False
        wanted = ops.rms_norm(x)
        failures = []

        def work(first):
            try:
                for k in range(100):
                    start = (first + k) % 32
                    found = ops.rms_norm(x[start : start + 32])
                    np.testing.assert_array_equal(found, wanted[start : start + 32])
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert not failures
