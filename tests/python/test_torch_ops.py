"""torch.ops.einkorn and einkorn.ops with PyTorch tensors: forms, allocation, what is refused."""

import importlib
import math

import pytest

torch = pytest.importorskip("torch", reason="could not import 'torch'")

import einkorn  # noqa: E402
from einkorn import ops  # noqa: E402
from einkorn.torch._kernels import FORMS  # noqa: E402

K = torch.ops.einkorn
F = torch.nn.functional


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def rows(*shape, dtype=torch.float32):
    return torch.randn(*shape).to(dtype)


def test_every_op_has_its_operators():
    names = {form.name for form in FORMS}
    for name, op in ops.TABLE.items():
        assert f"{name}_out" in names
        # Those without a model only the caller makes, for the form that writes to given tensors.
        asked = [one for one in op.optional_outputs if op.models[one]]
        assert not asked or f"{name}_{'_'.join(asked)}" in names
    for form in FORMS:
        assert getattr(K, form.name).default is form.operator


def test_an_output_that_only_the_caller_makes():
    torch.manual_seed(0)
    q, k, v = torch.randn(1, 70, 2, 8), 0.3 * torch.randn(1, 70, 2, 8), torch.randn(1, 70, 2, 8)
    decay = -torch.rand(2)
    stored = torch.full((1, 2, 8, 8), torch.nan)
    o, back = ops.lightning_prefill(q, k, v, decay, checkpoint_every=64, checkpoints=stored)
    assert back is stored
    assert torch.equal(o, ops.lightning_prefill(q, k, v, decay))
    wanted = ops.lightning_prefill(q[:, :64], k[:, :64], v[:, :64], decay, final_state=True)[1]
    torch.testing.assert_close(stored, wanted)
    # The error says of what shape it has to be.
    match = r"checkpoints: expected an array, got True\n.*make it: \[stored, value_heads, ...\]"
    for out in (None, torch.empty_like(v)):
        with pytest.raises(ValueError, match=match):
            ops.lightning_prefill(q, k, v, decay, checkpoint_every=64, checkpoints=True, out=out)


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        (torch.empty(1, 2, 8, 8), "checkpoints device: expected meta, got cpu"),
        (torch.empty(3, device="meta"), "checkpoints rank: expected 4, got 1"),
        (torch.empty(1, 3, 8, 8, device="meta"), "checkpoints shape: expected .1, 2, 8, 8"),
        (
            torch.empty(1, 2, 8, 8, device="meta", dtype=torch.float16),
            "checkpoints dtype: expected torch.float32 or torch.bfloat16, got torch.float16",
        ),
    ],
)
def test_meta_tensors_of_an_output_that_only_the_caller_makes(stored, message):
    q, k, v, decay = (torch.empty(s, device="meta") for s in (*[(1, 70, 2, 8)] * 3, (2,)))
    good = torch.empty(5, 2, 8, 8, device="meta")
    assert ops.lightning_prefill(q, k, v, decay, checkpoint_every=64, checkpoints=good)[1] is good
    with pytest.raises((TypeError, ValueError), match=message):
        ops.lightning_prefill(q, k, v, decay, checkpoint_every=64, checkpoints=stored)


def test_fakes_are_named_functions_of_the_ops_module():
    for form in FORMS:
        module = importlib.import_module(f"einkorn.torch._kernels.{form.op.name}")
        fake = getattr(module, f"_fake_{form.name}")
        assert form.fake is fake
        assert fake.__name__ == f"_fake_{form.name}"


def test_schema_annotates_what_is_written():
    for form in FORMS:
        written = {one.name for one in form.operator._schema.arguments if one.is_write}
        assert written == {*form.op.inouts, *(() if form.returns else form.op.outputs)}
    schema = str(K.rms_norm_out.default._schema)
    assert "Tensor(a!) y" in schema
    assert "Tensor(c!)? rstd=None" in schema


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_rms_norm_is_torchs(dtype):
    x, weight = rows(5, 96, dtype=dtype), rows(96, dtype=dtype)
    got = K.rms_norm(x, weight)
    wanted = F.rms_norm(x.double(), (96,), weight.double(), 1e-6)
    assert got.dtype == dtype
    tolerance = 2 * torch.finfo(dtype).eps + 1e-6
    torch.testing.assert_close(got.double(), wanted, rtol=tolerance, atol=tolerance)
    assert torch.equal(got, ops.rms_norm(x, weight))


def test_forms_give_back_what_their_names_say():
    x, weight, residual = rows(5, 96), rows(96), rows(5, 96)
    y, h, rstd = K.rms_norm_residual_out_rstd(x, weight, residual)
    assert torch.equal(h, x + residual)
    torch.testing.assert_close(rstd, (h.square().mean(-1) + 1e-6).rsqrt())
    assert torch.equal(y, K.rms_norm(x, weight, residual))
    for got, wanted in zip(K.rms_norm_residual_out(x, weight, residual), (y, h), strict=True):
        assert torch.equal(got, wanted)
    for got, wanted in zip(K.rms_norm_rstd(x, weight, residual), (y, rstd), strict=True):
        assert torch.equal(got, wanted)
    for got, wanted in zip(
        ops.rms_norm(x, weight, residual, residual_out=True, rstd=True), (y, h, rstd), strict=True
    ):
        assert torch.equal(got, wanted)


def test_out_writes_what_is_given():
    x, weight, residual = rows(5, 96), rows(96), rows(5, 96)
    y, h = torch.full_like(x, math.nan), torch.full_like(x, math.nan)
    assert K.rms_norm_out(x, weight, residual, y=y, residual_out=h) is None
    assert torch.equal(y, K.rms_norm(x, weight, residual))
    assert torch.equal(h, x + residual)
    out = torch.full_like(x, math.nan)
    assert ops.rms_norm(x, weight, residual, out=out) is out
    assert torch.equal(out, y)
    got, made = ops.rms_norm(x, weight, residual, out=out, residual_out=True)
    assert got is out
    assert torch.equal(made, h)


def test_in_place():
    x, weight = rows(5, 96), rows(96)
    wanted = K.rms_norm(x, weight)
    ops.rms_norm(x, weight, out=x)
    assert torch.equal(x, wanted)


@pytest.mark.parametrize("call", ["ops", "operator"])
def test_a_write_is_known_to_autograd(call):
    """A tensor that is saved for a backward pass and written to afterwards is an error there."""
    leaf = torch.ones(2, 8, requires_grad=True)
    saved = torch.ones(2, 8)
    product = leaf * saved
    if call == "ops":
        ops.rms_norm(torch.ones(2, 8), out=saved)
    else:
        K.rms_norm_out(torch.ones(2, 8), y=saved)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()


def test_packed_gates():
    gate, up = rows(3, 4, 10), rows(3, 4, 10)
    wanted = K.silu_mul(gate, up)
    torch.testing.assert_close(wanted, F.silu(gate) * up)
    halves = torch.cat([gate, up], -1)
    assert torch.equal(K.silu_mul(packed=halves, packing="halves"), wanted)
    assert torch.equal(ops.silu_mul(packed=halves, packing="halves"), wanted)
    interleaved = torch.stack([gate, up], -1).flatten(-2)
    assert torch.equal(ops.silu_mul(packed=interleaved, packing="interleaved"), wanted)


def test_backward_ops_return_what_their_inputs_have():
    dy, gate, up = rows(3, 8), rows(3, 8), rows(3, 8)
    dgate, dup = ops.silu_mul_bwd(dy, gate, up)
    assert dgate.shape == dup.shape == gate.shape
    packed = torch.cat([gate, up], -1)
    dpacked = ops.silu_mul_bwd(dy, packed=packed, packing="halves")
    assert torch.equal(dpacked, torch.cat([dgate, dup], -1))


def test_zero_rows():
    assert K.rms_norm(torch.empty(0, 64), torch.ones(64)).shape == (0, 64)
    assert ops.rms_norm(torch.empty(3, 0, 64)).shape == (3, 0, 64)
    y, rstd = K.rms_norm_rstd(torch.empty(2, 0, 64))
    assert y.shape == (2, 0, 64)
    assert rstd.shape == (2, 0)


def test_one_row_without_leading_dimensions():
    x = rows(64)
    assert torch.equal(K.rms_norm(x), K.rms_norm(x[None])[0])
    y, rstd = K.rms_norm_rstd(x)
    assert rstd.shape == ()
    assert y.shape == (64,)


def test_strided_rows_are_honoured_and_others_refused():
    wide = rows(2, 3, 128)
    view = wide[..., 32:96]
    got = K.rms_norm(view)
    assert got.is_contiguous()
    assert torch.equal(got, K.rms_norm(view.contiguous()))
    expanded = rows(64).expand(5, 64)
    assert torch.equal(K.rms_norm(expanded), K.rms_norm(expanded.contiguous()))
    windows = rows(80).unfold(0, 64, 1)
    assert torch.equal(K.rms_norm(windows), K.rms_norm(windows.contiguous()))
    with pytest.raises(ValueError, match="x stride of dim 1: expected 1, got 4"):
        K.rms_norm(rows(64, 4).t())
    with pytest.raises(ValueError, match="rms_norm: x"):
        K.rms_norm(rows(2, 3, 5, 64).transpose(0, 1))


def test_lazily_negated_views_are_resolved():
    x, weight = rows(5, 96), rows(96)
    view = torch._neg_view(x)
    assert view.is_neg()
    wanted = K.rms_norm(-x, weight)
    assert torch.equal(K.rms_norm(view, weight), wanted)
    assert torch.equal(ops.rms_norm(view, weight), wanted)
    out = torch.empty_like(x)
    K.rms_norm_out(view, weight, y=out)
    assert torch.equal(out, wanted)


def test_negated_views_of_complex_tensors_are_refused_by_their_strides():
    """einkorn.ops does not look for them where an output is given."""
    view = torch.randn(5, 96, dtype=torch.complex64).conj().imag
    assert view.is_neg()
    with pytest.raises(ValueError, match="x stride of dim 1: expected 1, got 2"):
        ops.rms_norm(view, out=torch.empty(5, 96))


@pytest.mark.parametrize("enter", [torch.no_grad, torch.inference_mode])
def test_without_gradients(enter):
    x, weight = rows(5, 96), torch.nn.Parameter(rows(96))
    wanted = K.rms_norm(x, weight.detach())
    with enter():
        assert torch.equal(K.rms_norm(x, weight), wanted)
        assert torch.equal(ops.rms_norm(x, weight), wanted)
        out = torch.empty_like(x)
        ops.rms_norm(x, weight, out=out)
        K.rms_norm_out(x, weight, y=out)
        assert torch.equal(out, wanted)


def refused(kind, text, *inputs, out=None, **keywords):
    """By einkorn.ops and by the operator, with nothing written."""
    before = None if out is None else out.detach().clone()
    with pytest.raises(kind, match=text):
        ops.rms_norm(*inputs, out=out, **keywords)
    with pytest.raises(kind, match=text):
        if out is None:
            K.rms_norm(*inputs, **keywords)
        else:
            K.rms_norm_out(*inputs, y=out, **keywords)
    if out is not None:
        assert torch.equal(out, before)


def test_refuses_bad_arguments():
    x, weight = rows(5, 96), rows(96)
    refused(TypeError, "x dtype: expected", x.int(), weight)
    refused(ValueError, "weight dim 0", x, weight[:8])
    refused(TypeError, "weight rank", x, weight[None])
    refused(ValueError, "residual dim 0", x, weight, x[:2])
    refused(ValueError, "eps value", x, weight, eps=0.0)
    refused(ValueError, "rounding", x, weight, rounding="none of them")
    refused(ValueError, "variant: expected one of", x, weight, variant="cpu/rows_v99")
    refused(ValueError, "dim 0: expected 5", x, weight, out=torch.zeros(4, 96))
    refused(TypeError, "y dtype", x, weight, out=torch.zeros(5, 96, dtype=torch.float16))
    memory = rows(6, 96)
    refused(ValueError, "y memory: expected memory apart", memory[:5], weight, out=memory[1:])


def test_refuses_other_layouts():
    x, weight = rows(5, 96), rows(96)
    refused(TypeError, "x layout: expected torch.strided, got torch.sparse_coo", x.to_sparse())
    refused(TypeError, "x layout: .* got torch.sparse_csr", x.to_sparse_csr(), weight)
    refused(TypeError, "weight layout", x, weight.to_sparse())
    refused(TypeError, "x layout", x.to_sparse(), out=torch.zeros(5, 96))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_refuses_quantised_tensors():
    if not hasattr(torch, "quantize_per_tensor"):
        pytest.skip("this PyTorch has no quantised tensors")
    x = torch.quantize_per_tensor(rows(5, 96), 0.1, 0, torch.qint8)
    refused(TypeError, "x dtype: expected a plain one, got the quantised torch.qint8", x)
    refused(TypeError, "quantised", x, out=torch.zeros(5, 96))


def test_refuses_other_frameworks_and_objects():
    numpy = pytest.importorskip("numpy")
    x = rows(5, 96)
    out = torch.zeros(5, 96)
    for keywords in ({}, {"out": out}):
        with pytest.raises(
            TypeError, match=r"weight: expected an array of torch as x is, got .*num"
        ):
            ops.rms_norm(x, numpy.ones(96, numpy.float32), **keywords)
        with pytest.raises(TypeError, match=r"weight: expected an array of torch .*\(list\)"):
            ops.rms_norm(x, [1.0] * 96, **keywords)
    with pytest.raises(TypeError, match="y: expected an array of torch"):
        ops.rms_norm(x, out=numpy.zeros((5, 96), numpy.float32))
    assert not out.any()


def test_refuses_a_missing_array():
    with pytest.raises(TypeError, match="silu_mul: y: expected one of gate, packed"):
        K.silu_mul(None, rows(2, 4))
    with pytest.raises(TypeError, match="silu_mul: up: expected a tensor"):
        K.silu_mul(rows(2, 4))
    with pytest.raises(ValueError, match="residual_out: expected not to be asked for without"):
        K.rms_norm_residual_out(rows(2, 4))
    with pytest.raises(ValueError, match="residual_out: expected not to be asked for without"):
        ops.rms_norm(rows(2, 4), residual_out=True)


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_refuses_what_no_alternative_has(device, requires_grad):
    """gate and up go together, and never with packed; so do their gradients."""
    a = torch.ones(2, 4, device=device, requires_grad=requires_grad)
    packed = torch.ones(2, 8, device=device, requires_grad=requires_grad)
    for inputs, name in (((a,), "gate"), ((a, a), "up"), ((a, None, a), "gate")):
        with pytest.raises(TypeError, match=f"silu_mul_bwd: {name}: expected a tensor"):
            ops.silu_mul_bwd(*inputs)
    with pytest.raises(ValueError, match=r"silu_mul_bwd: gate: expected no tensor with"):
        ops.silu_mul_bwd(a, a, a, packed, packing="halves")
    with pytest.raises(ValueError, match="dgate: expected not to be asked for without gate"):
        ops.silu_mul_bwd(a, packed=packed, packing="halves", dgate=True)
    assert not hasattr(K, "silu_mul_bwd_dgate")


def test_meta_tensors():
    x, weight = torch.empty(2, 5, 96, device="meta", dtype=torch.bfloat16), torch.empty(96)
    weight = weight.to("meta")
    y, rstd = ops.rms_norm(x, weight, rstd=True)
    assert (y.shape, y.dtype, y.device.type) == ((2, 5, 96), torch.bfloat16, "meta")
    assert (rstd.shape, rstd.dtype) == ((2, 5), torch.float32)
    out = torch.empty_like(x)
    assert ops.rms_norm(x, weight, out=out) is out
    assert ops.silu_mul(packed=x, packing="halves").shape == (2, 5, 48)
    with pytest.raises(TypeError, match="device: expected all tensors on meta, got one on cpu"):
        ops.rms_norm(x, torch.ones(96))
    with pytest.raises(TypeError, match=r"x dtype: expected torch\.float32 or"):
        K.rms_norm(x.int())
    with pytest.raises(ValueError, match=r"weight shape: expected \[96\], got \[8\]"):
        K.rms_norm(x, weight[:8])
    with pytest.raises(TypeError, match="x rank: expected at least 1"):
        K.rms_norm(torch.empty((), device="meta"))
    with pytest.raises(ValueError, match="y shape"):
        K.rms_norm_out(x, y=torch.empty(2, 4, 96, device="meta", dtype=torch.bfloat16))


def test_fake_tensors_of_a_gpu_that_is_not_there():
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        x = torch.empty(3, 96, device="cuda", dtype=torch.float16)
        y, h = ops.rms_norm(x, None, x, residual_out=True)
        assert y.device == h.device == x.device
        assert y.dtype == torch.float16
        with pytest.raises(TypeError, match=r"device: expected all tensors on cuda:0, got .* cpu"):
            K.rms_norm(x, torch.empty(96))


def test_fakes_agree_with_kernels():
    """Shape, dtype and strides, also for views."""
    x = rows(4, 6, 128)[:, :, :96]
    for inputs in ((x,), (x, rows(96)), (x, rows(96), rows(4, 6, 96))):
        real = K.rms_norm_rstd(*inputs)
        fake = K.rms_norm_rstd(*(one.to("meta") for one in inputs))
        for one, other in zip(real, fake, strict=True):
            assert one.shape == other.shape
            assert one.dtype == other.dtype
            assert one.stride() == other.stride()


def test_autocast_leaves_dtypes_alone():
    x, weight = rows(5, 96), rows(96)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert K.rms_norm(x, weight).dtype == torch.float32
        assert torch.equal(K.rms_norm(x, weight), ops.rms_norm(x, weight))
        low = K.rms_norm(x.bfloat16(), weight)  # a weight in f32 beside activations in bf16
        assert low.dtype == torch.bfloat16
        assert ops.silu_mul(x.bfloat16(), x.bfloat16()).dtype == torch.bfloat16
        with pytest.raises(TypeError, match="silu_mul: up dtype"):
            ops.silu_mul(x.bfloat16(), x)
    assert torch.equal(low, K.rms_norm(x.bfloat16(), weight))


def test_modes_see_the_calls():
    from torch.utils._python_dispatch import TorchDispatchMode

    class Recorder(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.seen = []

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.seen.append(func)
            return func(*args, **(kwargs or {}))

    x, out = rows(5, 96), torch.empty(5, 96)
    with Recorder() as recorder:
        ops.rms_norm(x)
        ops.rms_norm(x, out=out)
        K.rms_norm(x)
    assert recorder.seen.count(K.rms_norm.default) == 2
    assert recorder.seen.count(K.rms_norm_out.default) == 1
    assert torch.equal(out, K.rms_norm(x))


@pytest.mark.filterwarnings("ignore:.*performance drop.*:UserWarning")
def test_vmap_loops():
    x, weight = rows(3, 5, 96), rows(96)
    for function in (ops.rms_norm, K.rms_norm):
        got = torch.vmap(function, (0, None))(x, weight)
        assert torch.equal(got, K.rms_norm(x, weight))


def test_subclasses_keep_their_ways():
    class Counted(torch.Tensor):
        calls = 0

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            Counted.calls += 1
            return super().__torch_function__(func, types, args, kwargs or {})

    x = rows(5, 96)
    got = ops.rms_norm(x.as_subclass(Counted))
    assert Counted.calls > 0
    assert torch.equal(got.as_subclass(torch.Tensor), ops.rms_norm(x))


def test_import_order_does_not_matter():
    """The package's own module of the name does not stand in for PyTorch."""
    assert einkorn.torch.call is not None
    assert torch.__name__ == "torch"
