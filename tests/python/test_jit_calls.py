"""einkorn.jit: calls of kernels for the CPU, with NumPy and JAX."""

import copy
import ctypes
import pickle
import struct
from typing import Any

import pytest
from jit_sources import cpu, jit

np = pytest.importorskip("numpy")


@pytest.fixture
def scale() -> Any:
    return cpu("scale<float, 3>")


def test_numpy_arrays(scale: Any) -> None:
    src = np.arange(5, dtype=np.float32)
    dst = np.zeros_like(src)
    scale(dst, src, 5)
    assert dst.tolist() == [0, 3, 6, 9, 12]
    src.flags.writeable = False  # only read
    scale.launch(dst[1:], src[1:], np.int64(2))
    assert dst.tolist() == [0, 3, 6, 9, 12]
    with pytest.raises(ValueError, match=r"argument 1 \(float\*\): expected an array that can be"):
        scale(src, dst, 5)


def test_small_float_types_of_numpy() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    raw = "void copy(void* dst, const void* src, int n) { __builtin_memcpy(dst, src, n); }"
    copy = jit.load("copy", cpp_source=raw, entry="copy")
    src = np.array([1.5, -2], ml_dtypes.bfloat16)
    dst = np.zeros_like(src)
    copy(dst, src, src.nbytes)
    assert dst.tolist() == [1.5, -2]


def test_dtypes_and_kinds_are_checked(scale: Any) -> None:
    good = np.zeros(4, np.float32)
    for wrong, text in [
        ((good, good.astype(np.float64), 4), r"argument 2 \(float const\*\) dtype: expected f32"),
        ((good, good), r"expected 3 \(float\*, float const\*, long\), got 2"),
        ((good, good, good), r"argument 3 \(long\) kind: expected a number, got a tensor"),
        ((good, 1.5, 4), r"argument 2 \(float const\*\) kind: expected a tensor"),
        ((good, [1.0], 4), "argument 2 .*: expected an array of PyTorch.*got list"),
        ((good, "x", 4), "argument 2 .*: expected an array of PyTorch.*got str"),
    ]:
        with pytest.raises(TypeError, match=text):
            scale(*wrong)
    for number in (1.5, 2**70, float("nan")):
        with pytest.raises((ValueError, TypeError), match="argument 3"):
            scale(good, good, number)
    with pytest.raises(TypeError, match="by the name 'grid'"):
        scale(good, good, 4, grid=1)


def test_numbers_become_what_the_parameter_is() -> None:
    fill = cpu("kernels::fill")
    out = np.zeros(3, np.float32)
    fill(out, 0.1, False, 3)
    assert out.tolist() == [np.float32(0.1)] * 3
    fill(out, np.float16(2), True, np.int8(2))
    assert out.tolist() == [-2, -2, np.float32(0.1)]
    fill(out, 7, np.bool_(False), 3)
    assert out.tolist() == [7, 7, 7]
    with pytest.raises(ValueError, match=r"argument 2 \(float\) value: .*holds exactly, got"):
        fill(out, 2**24 + 1, False, 3)
    with pytest.raises(ValueError, match=r"argument 4 \(int\).*from -2147483648 to 2147483647"):
        fill(out, 1.0, False, 2**31)
    bits = cpu("takes_bits")
    wide = np.zeros(1, np.int64)
    bits(wide, 2**62, 255)
    assert wide[0] == 2**62 + 255
    with pytest.raises(ValueError, match="from 0 to 255"):
        bits(wide, 0, 256)


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [
        ("uint16", "unsigned short"),
        ("int16", "short"),
        ("uint32", "unsigned"),
        ("uint64", "unsigned long"),
    ],
)
def test_integers_without_a_dtype_of_einkorn(dtype: str, kind: str) -> None:
    x = np.full(1, 2**15 - 1, dtype)
    cpu(f"twice<{kind}>")(x)
    assert x[0] == np.array(2**15 - 1, dtype) * np.array(2, dtype)
    cpu("clear")(x, x.nbytes)
    assert x[0] == 0
    short = f"{dtype[0]}{x.itemsize * 8}"
    for other, expected in (("float", "f32"), ("int", "i32"), ("long", "i64")):
        with pytest.raises(
            TypeError, match=rf"argument 1 .* dtype: expected {expected}, got {short}"
        ):
            cpu(f"twice<{other}>")(x)


def test_null_addresses_structs_and_references() -> None:
    count = cpu("count_nulls")
    out = np.zeros(1, np.int64)
    count(out, None, None)
    assert out[0] == 2
    memory = ctypes.create_string_buffer(4)
    count(out, np.zeros(0, np.float32), ctypes.c_void_p(ctypes.addressof(memory)))
    assert out[0] in (0, 1)  # an empty array may have no address
    result = np.zeros(1, np.float32)
    cpu("take_pair")(result, struct.pack("if", 3, 0.5))
    assert result[0] == 1.5
    with pytest.raises(TypeError, match="size: expected 8 bytes, got 4"):
        cpu("take_pair")(result, b"1234")
    cpu("take_reference")(result, np.full(1, 4, np.float32))
    assert result[0] == 8


def test_copies_are_the_same_object(scale: Any) -> None:
    holder = {"kernel": scale, "compiled": scale.compiled}
    copied = copy.deepcopy(holder)
    assert copied["kernel"] is scale and copied["compiled"] is scale.compiled
    assert copy.copy(scale) is scale
    for one in (scale, scale.compiled):
        with pytest.raises(TypeError, match=r"(?s)^<einkorn cpu .*pickled.*hint: load it in each"):
            pickle.dumps(one)


def test_exceptions_of_a_function() -> None:
    throws = cpu("throws")
    with pytest.raises(RuntimeError, match="throws: threw: from inside"):
        throws(0)
    with pytest.raises(RuntimeError, match=r"no std::exception"):
        throws(1)


def test_arrays_of_jax_are_inputs_only(scale: Any) -> None:
    jax = pytest.importorskip("jax")
    with jax.default_device(jax.devices("cpu")[0]):
        src = jax.numpy.arange(4, dtype=jax.numpy.float32)
    dst = np.zeros(4, np.float32)
    scale(dst, src, 4)
    assert dst.tolist() == [0, 3, 6, 9]
    with pytest.raises(TypeError, match=r"argument 1 \(float\*\): .* got one of JAX"):
        scale(src, dst, 4)
    with pytest.raises(TypeError, match="tracer of JAX"):
        jax.jit(lambda x: scale(dst, x, 4))(src)
