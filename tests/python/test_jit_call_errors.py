"""einkorn.jit: arguments of calls that no kernel takes, each told by its place and type."""

import ctypes
import decimal
from typing import Any

import pytest
from jit_sources import ADD_CONSTANT, cpu, jit

np = pytest.importorskip("numpy")


class Pair(ctypes.Structure):
    _fields_ = (("first", ctypes.c_int), ("second", ctypes.c_float))


@pytest.fixture
def scale() -> Any:
    return cpu("scale<float, 3>")


@pytest.fixture
def good() -> Any:
    return np.ones(4, np.float32)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("8", "expected a number, got str"),
        (1j, "expected a number, got complex"),
        (decimal.Decimal(8), r"got Decimal\n  hint: int\(x\) or float"),
        (ctypes.c_int(8), r"got c_int\n  hint: its value is x.value"),
        (np.complex64(8), "expected a number, got complex64 of NumPy"),
        (np.str_("8"), "expected a number, got str_ of NumPy"),
        (np.datetime64(1, "s"), "expected a number, got datetime64 of NumPy"),
        (np.float32, "expected a number, got type"),
        (np.dtype("f4"), "expected a number, got Float32DType"),
        (np.array(8), "kind: expected a number, got a tensor"),
        (None, "kind: expected a number, got a null pointer"),
    ],
)
def test_what_is_no_number(scale: Any, good: Any, value: Any, text: str) -> None:
    with pytest.raises(TypeError, match=rf"scale<float, 3>: argument 3 \(long\).*{text}"):
        scale(good, good, value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([1.0], r"got list\n  hint: an array of PyTorch or NumPy"),
        ((ctypes.c_float * 4)(), r"hint: ctypes.cast\(x, ctypes.c_void_p\)"),
        (bytearray(16), r"hint: bytes\(x\) for a struct, numpy.frombuffer"),
        (np.ma.ones(4, np.float32), r"got MaskedArray.*\n  hint: x.filled"),
        (94008809395104, r"got the integer .*\n  hint: .*in Python .*None.*ctypes.c_void_p"),
    ],
)
def test_what_is_no_array(scale: Any, good: Any, value: Any, text: str) -> None:
    with pytest.raises(TypeError, match=rf"(?s)argument 1 \(float\*\).*{text}"):
        scale(value, good, 4)


def test_integers_of_64_bits() -> None:
    bits, wide = cpu("takes_bits"), np.zeros(1, np.uint64).view(np.int64)
    for value in (2**64 - 1, np.uint64(2**64 - 1)):
        bits(wide, value, 0)
        assert wide.view(np.uint64)[0] == 2**64 - 1
    for place, wrong in (
        (2, (wide, 2**64, 0)),
        (3, (wide, 0, 2**70)),
        (2, (wide, -(2**63) - 1, 0)),
    ):
        with pytest.raises(ValueError, match=rf"argument {place} \(unsigned.*expected an integer"):
            bits(*wrong)
    with pytest.raises(ValueError, match=r"argument 3 \(long\) value: .* got 18446744073709551615"):
        cpu("scale<float, 3>")(None, None, 2**64 - 1)


def test_structs() -> None:
    out, take_pair = np.zeros(1, np.float32), cpu("take_pair")
    take_pair(out, Pair(3, 0.5))
    assert out[0] == 1.5
    take_pair(out, np.array((4, 0.5), [("first", "i4"), ("second", "f4")])[()])
    assert out[0] == 2
    with pytest.raises(TypeError, match=r"argument 2 \(Pair\).*got tuple\n.*struct.pack"):
        take_pair(out, (3, 0.5))
    with pytest.raises(
        TypeError, match=r"expected 8 bytes, got 4 .*\n  hint: .*in Python as bytes"
    ):
        take_pair(out, ctypes.string_at(ctypes.byref(Pair()), 4))


def test_a_reference_is_not_null(good: Any) -> None:
    for wrong in ((None, good), (good, None)):
        with pytest.raises(ValueError, match=r"argument . \(float( const)?&\) address: expected"):
            cpu("take_reference")(*wrong)


def test_arguments_by_name(scale: Any, good: Any) -> None:
    order = r"hint: arguments stand in the kernel's order: \(float\*, float const\*, long\)"
    with pytest.raises(TypeError, match=rf"scale<float, 3>: .* name 'dst'\n  {order}"):
        scale(dst=good, src=good, n=4)
    cpu("nothing")()
    with pytest.raises(TypeError, match="arguments: expected 0, got 1"):
        cpu("nothing")(1)


def test_arrays_of_jax_where_a_number_is(scale: Any, good: Any) -> None:
    jnp = pytest.importorskip("jax.numpy")
    with pytest.raises(TypeError, match=r"argument 3 \(long\): expected a number.*\n.*x\.item\(\)"):
        scale(good, good, jnp.int32(4))
    with pytest.raises(TypeError, match=r"argument 3 \(long\): expected a number, got "):
        scale(good, good, jnp.float32)


def test_tensors_without_plain_memory(scale: Any, good: Any) -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match=r"argument 2 .*plain memory, got one of torch.func"):
        torch.func.vmap(lambda x: scale(good, x, 4))(torch.zeros(2, 4))
    with pytest.raises(
        TypeError, match=r"argument 2 \(float const\*\) dtype: expected real .*\n.*hint"
    ):
        scale(good, torch.zeros(4, dtype=torch.complex64), 4)
    for wrong in (torch.float32, torch.device("cpu"), torch.nn.Linear(1, 1)):
        with pytest.raises(TypeError, match=r"argument 2 \(float const\*\): expected an array"):
            scale(good, wrong, 4)


# The geometry of a launch is checked before a GPU is asked for.


@pytest.mark.parametrize(
    ("settings", "kind", "text"),
    [
        ({"grid": 1.5}, TypeError, "grid: expected one to three integers, got 1.5"),
        ({"grid": None}, TypeError, "grid: expected one to three integers, got None"),
        ({"grid": "1"}, TypeError, "grid: expected one to three integers, got '1'"),
        ({"grid": (1, 2.0)}, TypeError, "grid: expected one to three integers"),
        ({"grid": np.ones(4, int)}, TypeError, "grid: expected one to three integers"),
        ({"grid": 1 << 70}, ValueError, "grid: expected a size from 0 to 4294967295"),
        ({"block": (1, -1)}, ValueError, "block: expected a size from 0 to 4294967295, got -1"),
        ({"smem": 1.5}, TypeError, "smem: expected an integer, got 1.5"),
        ({"smem": -1}, ValueError, "smem: expected a size from 0"),
        ({"cluster": "2"}, TypeError, "cluster: expected one to three integers"),
        ({"pdl": "no"}, TypeError, "pdl: expected True or False, got 'no'"),
        ({"cooperative": 1}, TypeError, "cooperative: expected True or False, got 1"),
        ({"device": "cuda:0"}, TypeError, "device: expected the index of a GPU, got 'cuda:0'"),
        ({"device": -1}, ValueError, "device: expected the index of a GPU, got -1"),
        ({"stream": 0}, TypeError, r"name 'stream'\n  hint: .*current stream"),
        ({"coperative": True}, TypeError, r"name 'coperative'\n  hint: did you mean cooperative=?"),
    ],
)
def test_settings_of_a_launch(settings: dict[str, Any], kind: type[Exception], text: str) -> None:
    add = jit.load("add", cuda=ADD_CONSTANT, entry="add_constant<int, 4>", arch="sm_90a")
    with pytest.raises(kind, match=rf"^add_constant<int, 4>: .*{text}"):
        add(None, None, 0, **{"grid": 1, "block": 32, **settings})
