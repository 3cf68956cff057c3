"""Op.direct and Op.torch_function, which go round tvm-ffi, beside Op.function, which goes by it."""

import ctypes
import gc
import sys
import threading
import time

import pytest

torch = pytest.importorskip("torch", reason="could not import 'torch'")

import einkorn.torch  # noqa: E402
from einkorn import _torch_calls, ops  # noqa: E402
from einkorn._native import library  # noqa: E402
from einkorn._op import no_direct_way  # noqa: E402
from einkorn.torch import _direct  # noqa: E402

OP = ops.TABLE["rms_norm"]
SCALARS = (1e-6, 0, "llama")


@pytest.fixture(autouse=True)
def prepared():
    """The op's ways for PyTorch's tensors, made anew: no variant of another test wraps them."""
    if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        pytest.skip("this PyTorch has no C exchange of tensors")
    OP._wrap, OP._function, OP._torch_function = None, None, None
    _direct.prepare(OP)
    yield
    OP._function, OP._torch_function, OP.direct = None, None, no_direct_way


def tensors(rows=3, cols=64, dtype=torch.float32):
    torch.manual_seed(0)
    return torch.randn(rows, cols).to(dtype), torch.randn(cols).to(dtype)


def flat(x, weight, y, residual=None, residual_out=None, rstd=None, scalars=SCALARS, variant=None):
    return (x, weight, residual, y, residual_out, rstd, *scalars, variant)


def failure(function, values):
    with pytest.raises(Exception) as caught:
        function(*values)
    return type(caught.value), str(caught.value)


def test_both_ways_are_there_and_differ():
    assert OP.direct is not no_direct_way
    assert OP.torch_function is not OP.function


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_results_are_the_same_bits(dtype):
    x, weight = tensors(dtype=dtype)
    wanted, residual = torch.empty_like(x), torch.randn(3, 64).to(dtype)
    OP.function(*flat(x, weight, wanted, residual))
    for way in (OP.torch_function, OP.direct):
        y = torch.empty_like(x)
        assert way(*flat(x, weight, y, residual)) is (y if way is OP.direct else None)
        assert torch.equal(y, wanted)


def test_direct_gives_what_a_call_gives():
    x, weight = tensors()
    y, rstd = torch.empty_like(x), torch.empty(3)
    assert OP.direct(*flat(x, weight, y)) is y
    got = OP.direct(*flat(x, weight, y, rstd=rstd))
    assert type(got) is tuple
    assert got[0] is y
    assert got[1] is rstd
    torch.testing.assert_close(rstd, (x.pow(2).mean(1) + 1e-6).rsqrt())


def test_versions_are_counted_up_of_what_was_written():
    x, weight = tensors()
    y, rstd = torch.empty_like(x), torch.empty(3)
    before = [one._version for one in (x, weight, y, rstd)]
    ops.rms_norm(x, weight, out=y)
    ops.rms_norm(x, weight, out=y, rstd=rstd)
    after = [one._version for one in (x, weight, y, rstd)]
    assert [a - b for a, b in zip(after, before, strict=True)] == [0, 0, 2, 1]
    with pytest.raises(ValueError, match="eps"):
        ops.rms_norm(x, weight, out=y, eps=-1.0)
    assert y._version == after[2]


def bad_calls():
    x, weight = tensors()
    y = torch.empty_like(x)
    wide = torch.empty(3, 65)
    yield "a weight of another length", flat(x, weight[:5], y)
    yield "an output of another length", flat(x, weight, wide)
    yield "no input", flat(None, weight, y)
    yield "an output that overlaps", flat(x, weight, x.view(-1)[: x.numel()].view(3, 64)[:, :])
    yield "an integer dtype", flat(x.int(), weight, y)
    yield "a dtype that nobody has", flat(x.to(torch.complex64), weight, y)
    yield "rank 9", flat(x.view(1, 1, 1, 1, 1, 1, 1, 3, 64), weight, y)
    yield "rank 0", flat(torch.tensor(1.0), weight, y)
    yield "a str for a tensor", flat(x, "weight", y)
    yield "a list for a tensor", flat([1.0], weight, y)
    yield "True for an output", flat(x, weight, True)
    yield "a str for a number", flat(x, weight, y, scalars=("small", 0, "llama"))
    yield "None for a variant that is no str", flat(x, weight, y, variant=3)
    yield "a float for an integer", flat(x, weight, y, scalars=(1e-6, 0.5, "llama"))
    yield "an integer past 32 bits", flat(x, weight, y, scalars=(1e-6, 1 << 40, "llama"))
    yield "an integer past 64 bits", flat(x, weight, y, scalars=(1e-6, 1 << 80, "llama"))
    yield "a choice that is none", flat(x, weight, y, scalars=(1e-6, 0, "lama"))
    yield "a choice with a zero", flat(x, weight, y, scalars=(1e-6, 0, "lla\0ma"))
    yield "a choice that is no str", flat(x, weight, y, scalars=(1e-6, 0, b"llama"))
    yield "an eps that is refused", flat(x, weight, y, scalars=(float("nan"), 0, "llama"))
    yield "no such variant", flat(x, weight, y, variant="nobody/none_v1")
    yield "a variant not of ASCII", flat(x, weight, y, variant="ähnlich")
    yield "a surrogate", flat(x, weight, y, variant="\udc80")
    yield "too few", flat(x, weight, y)[:-1]
    yield "too many", (*flat(x, weight, y), None)
    yield "none at all", ()
    yield "sparse", flat(x.to_sparse(), weight, y)
    yield "meta", flat(x.to("meta"), weight, y)
    yield "an output that is meta", flat(x, weight, y.to("meta"))


@pytest.mark.parametrize("values", [pytest.param(v, id=name) for name, v in bad_calls()])
def test_errors_are_the_same(values):
    # What passes with one has to pass with the other.
    try:
        OP.function(*values)
    except Exception as error:
        wanted = type(error), str(error)
    else:
        OP.torch_function(*values)
        return
    got = failure(OP.torch_function, values)
    if "Exception raised from" in wanted[1]:  # PyTorch's, with a backtrace of addresses
        got, wanted = ((kind, text.partition("\n")[0]) for kind, text in (got, wanted))
    assert got == wanted
    # The other way raises the same, or leaves the call to the handlers.
    try:
        assert OP.direct(*values) is None
    except Exception as error:
        assert (type(error), str(error)) == wanted


def test_values_that_tvm_ffi_converts_pass():
    numpy = pytest.importorskip("numpy", reason="could not import 'numpy'")
    x, weight = tensors()
    y, wanted = torch.empty_like(x), torch.empty_like(x)
    for scalars in ((numpy.float64(1e-6), 0, "llama"), (1, 0, "llama")):
        OP.function(*flat(x, weight, wanted, scalars=scalars))
        OP.torch_function(*flat(x, weight, y, scalars=scalars))
        assert torch.equal(y, wanted)
    array = numpy.ones((3, 64), numpy.float32)
    OP.torch_function(*flat(x, weight, array))
    assert torch.equal(torch.from_numpy(array), result_of(x, weight))


def result_of(x, weight):
    y = torch.empty_like(x)
    OP.function(*flat(x, weight, y))
    return y


class Sub(torch.Tensor):
    pass


def left_to_the_handlers():
    x, weight = tensors()
    y = torch.empty_like(x)
    yield "no output", flat(x, weight, None)
    yield "an output to allocate", flat(x, weight, True)
    yield "another to allocate", flat(x, weight, y, rstd=True)
    yield "an input with gradients", flat(x.clone().requires_grad_(), weight, y)
    yield "a parameter", flat(x, torch.nn.Parameter(weight), y)
    yield "an output with gradients", flat(x, weight, y.clone().requires_grad_())
    yield "a subclass", flat(x.as_subclass(Sub), weight, y)
    yield "sparse", flat(x.to_sparse(), weight, y)
    yield "quantised", flat(x, weight, torch.quantize_per_tensor(x, 1.0, 0, torch.qint8))
    yield "meta", flat(x.to("meta"), weight, y)
    yield "an int for a tensor", flat(x, 3, y)


@pytest.mark.filterwarnings("ignore")
def test_what_is_left_to_the_handlers():
    for name, values in left_to_the_handlers():
        output = next((one for one in values[3:] if type(one) is torch.Tensor), None)
        version = None if output is None else output._version
        assert OP.direct(*values) is None, name
        assert version is None or output._version == version, name


def test_modes_and_transforms_are_left_to_the_handlers():
    from torch.utils._python_dispatch import TorchDispatchMode

    class Seen(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            names.append(str(function))
            return function(*args, **(kwargs or {}))

    names = []
    x, weight = tensors()
    y = torch.empty_like(x)
    with Seen():
        assert OP.direct(*flat(x, weight, y)) is None
        ops.rms_norm(x, weight, out=y)
    assert any("rms_norm_out" in name for name in names)

    seen = []

    def inside(one):
        seen.append(OP.direct(*flat(one, weight, y[0])))
        return one * 1

    torch.vmap(inside)(x)
    torch.func.grad(lambda one: inside(one).sum())(x[0])
    assert seen == [None, None]


def test_parameters_pass_without_gradients():
    x, weight = tensors()
    y = torch.empty_like(x)
    with torch.no_grad():
        assert OP.direct(*flat(x, torch.nn.Parameter(weight), y)) is y
    with torch.inference_mode():
        z = torch.empty_like(x)
        assert OP.direct(*flat(x, torch.nn.Parameter(weight), z)) is z
    assert torch.equal(y, z)


def test_views_are_lent_as_they_are():
    base = torch.randn(6, 128)
    x, weight = base[1::2, 16:80], torch.randn(130)[2:66]
    y = torch.zeros(3, 128)
    ops.rms_norm(x, weight, out=y[:, 64:])
    wanted = torch.nn.functional.rms_norm(x, (64,), weight, 1e-6)
    torch.testing.assert_close(y[:, 64:], wanted, rtol=1e-5, atol=1e-5)
    assert not y[:, :64].any()


def test_no_reference_is_kept_or_lost():
    x, weight = tensors(1, 8)
    y, rstd, variant = torch.empty_like(x), torch.empty(1), "cpu/" + "reference_v1"
    good = flat(x, weight, y, scalars=(0.125, 0, "llama"), variant=variant)
    two = flat(x, weight, y, rstd=rstd, scalars=(0.125, 0, "llama"))
    refused = flat(x, weight[:3], y, scalars=(0.125, 0, "llama"))
    left = flat(x, weight, None)
    held = [x, weight, y, rstd, variant, None, good[6]]
    for way in (OP.direct, OP.torch_function):
        way(*two)
    gc.collect()
    before = [sys.getrefcount(one) for one in held]
    for turn in range(100_000):
        OP.direct(*good)
        OP.torch_function(*good)
        OP.direct(*left)
        if turn % 10 == 0:
            OP.direct(*two)
            for way in (OP.direct, OP.torch_function):
                try:
                    way(*refused)
                except ValueError:
                    continue
                raise AssertionError
    gc.collect()
    after = [sys.getrefcount(one) for one in held]
    # None is counted for others as well, and no longer at all since Python 3.12.
    assert all(abs(a - b) < 50 for a, b in zip(after, before, strict=True)), (before, after)
    assert before[:5] == after[:5]


def test_functions_are_let_go():
    x, weight = tensors(1, 8)
    for _ in range(200):
        _, direct = _direct.functions("rms_norm", OP.function)
        direct(*flat(x, weight, torch.empty_like(x)))
    before = sys.getrefcount(OP.function)
    for _ in range(200):
        _direct.functions("rms_norm", OP.function)
    after = sys.getrefcount(OP.function)
    assert after == before


def test_threads():
    problems = [tensors(rows, cols) for rows, cols in ((1, 8), (5, 96), (17, 256), (64, 1000))]
    wanted = [result_of(x, weight) for x, weight in problems]
    wrong = []

    def work(start):
        for turn in range(400):
            at = (start + turn) % len(problems)
            x, weight = problems[at]
            y = torch.full_like(x, float("nan"))
            if ops.rms_norm(x, weight, out=y) is not y or not torch.equal(y, wanted[at]):
                wrong.append(at)
            try:
                ops.rms_norm(x, weight[:1], out=y)
                wrong.append("passed")
            except ValueError:
                pass

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert wrong == []


def turns_beside(function, values):
    """How often this thread runs while another makes the call, and the call's seconds."""
    started, done = threading.Event(), threading.Event()
    seconds = []

    def run():
        started.set()
        start = time.perf_counter()
        function(*values)
        seconds.append(time.perf_counter() - start)
        done.set()

    thread = threading.Thread(target=run)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    try:
        thread.start()
        started.wait()
        turns = 0
        while not done.is_set():
            time.sleep(1e-4)
            turns += 1
    finally:
        sys.setswitchinterval(interval)
        thread.join()
    return turns, seconds[0]


# Without the lock given up the other thread would have had a turn or two.


@pytest.mark.parametrize("way", ["direct", "torch_function"])
def test_the_lock_is_given_up_while_the_cpu_works(way):
    x, weight = torch.randn(3000, 4096), torch.randn(4096)
    values = flat(x, weight, torch.empty_like(x), variant="cpu/reference_v1")
    turns, seconds = turns_beside(getattr(OP, way), values)
    assert turns > 5, seconds


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU that PyTorch sees")
@pytest.mark.parametrize(("way", "cols"), [("direct", 1864), ("torch_function", 1872)])
def test_the_lock_is_given_up_while_a_kernel_is_compiled(way, cols, monkeypatch, tmp_path):
    monkeypatch.setenv("EINKORN_CACHE_DIR", str(tmp_path))
    library().jit_forget()  # what another test compiled
    x = torch.randn(7, cols, device="cuda", dtype=torch.float16)
    values = flat(x, x[0].clone(), torch.empty_like(x))
    turns, seconds = turns_beside(getattr(OP, way), values)
    assert turns > 5, seconds


def test_a_variant_in_python_runs_and_its_errors_are_chained():
    seen = []

    @einkorn.variant("rms_norm", "fast_calls")
    def twice(x, weight, residual, *, eps, offset, rounding):
        seen.append((eps, offset, rounding))
        if eps == 0.5:
            raise KeyError("told")
        return x * 2

    x, weight = tensors()
    y = torch.empty_like(x)
    name = "python/fast_calls_v1"
    for _ in range(2):
        assert ops.rms_norm(x, weight, out=y, eps=0.25, variant=name) is y
        assert torch.equal(y, x * 2)
    assert OP.direct is no_direct_way
    with pytest.raises(RuntimeError, match="told") as caught:
        ops.rms_norm(x, weight, out=y, eps=0.5, variant=name)
    assert isinstance(caught.value.__cause__, KeyError)
    assert seen[0] == (0.25, 0, "llama")


def without_exchange(monkeypatch):
    monkeypatch.delattr(torch.Tensor, "__dlpack_c_exchange_api__")
    return "__dlpack_c_exchange_api__"


def of_another_version(monkeypatch):
    class Exchange(ctypes.Structure):
        _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32)] + [
            (name, ctypes.c_void_p) for name in "abcdef"
        ]

    exchange = Exchange(major=2)
    make = ctypes.pythonapi.PyCapsule_New
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    capsule = make(ctypes.addressof(exchange), b"dlpack_exchange_api", None)
    monkeypatch.setattr(torch.Tensor, "__dlpack_c_exchange_api__", capsule)
    monkeypatch.setattr(of_another_version, "kept", exchange, raising=False)
    return "expected DLPack 1, got 2.0"


def that_is_no_capsule(monkeypatch):
    monkeypatch.setattr(torch.Tensor, "__dlpack_c_exchange_api__", 3)
    return "PyCapsule"


@pytest.mark.parametrize("lacks", [without_exchange, of_another_version, that_is_no_capsule])
def test_what_is_missing_falls_back_to_tvm_ffi(lacks, monkeypatch):
    x, weight = tensors()
    y = torch.empty_like(x)
    plain, wanted = OP.function, result_of(x, weight)
    text = lacks(monkeypatch)
    with pytest.raises((AttributeError, RuntimeError, TypeError, ValueError), match=text):
        _direct.functions("rms_norm", plain)
    OP._torch_function, OP.direct = None, no_direct_way
    _direct.prepare(OP)
    assert OP.direct is no_direct_way
    assert OP.torch_function is plain
    monkeypatch.undo()
    assert ops.rms_norm(x, weight, out=y) is y
    assert torch.equal(y, wanted)
    assert torch.equal(ops.rms_norm(x, weight), wanted)


def test_an_unknown_op_is_refused():
    with pytest.raises(ValueError, match="rms_nom"):
        _direct.functions("rms_nom", OP.function)


def test_first_call_prepares_the_direct_way():
    x, weight = tensors()
    y = torch.empty_like(x)
    OP._torch_function, OP.direct = None, no_direct_way
    ops.rms_norm(x, weight, out=y)
    assert OP.direct is not no_direct_way
    assert _torch_calls.call(OP, (x, weight, None), (y, None, None), SCALARS, None) is y
