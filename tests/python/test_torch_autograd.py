"""Gradients: against numerical ones in float64, against PyTorch's in other dtypes; and refusals."""

import itertools

import pytest

torch = pytest.importorskip("torch", reason="could not import 'torch'")

import einkorn.torch  # noqa: E402
from einkorn import ops  # noqa: E402
from einkorn.torch import _derivatives  # noqa: E402

K = torch.ops.einkorn
F = torch.nn.functional
gradcheck = torch.autograd.gradcheck


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def f64(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def leaf(*shape, dtype=torch.float32):
    return torch.randn(*shape).to(dtype).requires_grad_()


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("weight", [False, True])
@pytest.mark.parametrize("offset", [0, 1])
@pytest.mark.parametrize("rounding", ["llama", "gemma", "none"])
def test_gradcheck_rms_norm(rounding, offset, weight, residual):
    keywords = {"eps": 1e-5, "offset": offset, "rounding": rounding}
    inputs = [f64(2, 2, 5), f64(5) if weight else None, f64(2, 2, 5) if residual else None]
    assert gradcheck(lambda *given: ops.rms_norm(*given, **keywords), inputs)
    assert gradcheck(lambda *given: K.rms_norm_rstd(*given, **keywords)[0], inputs)
    if residual:
        assert gradcheck(lambda *given: ops.rms_norm(*given, **keywords, residual_out=True), inputs)
        assert gradcheck(lambda *given: K.rms_norm_residual_out_rstd(*given)[:2], inputs)


CLAMP = {"clamp": True, "limit": 0.7, "alpha": 1.702, "up_offset": 1.0}


@pytest.mark.parametrize("keywords", [{}, {"rounding": "silu"}, CLAMP], ids=["", "silu", "clamp"])
def test_gradcheck_silu_mul(keywords):
    assert gradcheck(lambda *given: ops.silu_mul(*given, **keywords), [f64(2, 3, 5), f64(2, 3, 5)])
    for packing in ("halves", "interleaved"):
        assert gradcheck(
            lambda one, packing=packing: ops.silu_mul(packed=one, packing=packing, **keywords),
            [f64(2, 3, 6)],
        )


def test_a_missing_dimension_is_refused_in_words():
    with pytest.raises(TypeError, match="packed rank: expected at least 1"):
        ops.silu_mul(packed=torch.tensor(1.0, requires_grad=True), packing="halves")


def test_every_derivative_is_of_an_op():
    for name in _derivatives.TABLE:
        assert name in ops.TABLE
        backward = ops.TABLE.get(f"{name}_bwd")
        assert name.endswith("_bwd") or backward is not None


def grads_of(function, inputs, upstream):
    outputs = function(*inputs)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    given = [one for one in inputs if one is not None and one.requires_grad]
    return torch.autograd.grad(outputs, given, upstream)


def close(got, wanted, dtype, scale=8.0):
    tolerance = scale * torch.finfo(dtype).eps
    for one, other in zip(got, wanted, strict=True):
        size = other.abs().max().item()
        torch.testing.assert_close(
            one.double(), other.double(), rtol=tolerance, atol=tolerance * size
        )


def plain_norm(x, weight, residual):
    """y and h in double."""
    h = x.double() if residual is None else x.double() + residual.double()
    y = h * (h.square().mean(-1, keepdim=True) + 1e-6).rsqrt()
    return (y if weight is None else y * weight.double()), h


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("weight_dtype", [None, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("residual_dtype", [None, torch.float32, torch.bfloat16, torch.float16])
def test_rms_norm_of_mixed_dtypes(dtype, weight_dtype, residual_dtype):
    x = leaf(6, 64, dtype=dtype)
    weight = None if weight_dtype is None else leaf(64, dtype=weight_dtype)
    residual = None if residual_dtype is None else leaf(6, 64, dtype=residual_dtype)
    inputs = (x, weight, residual)
    dy = torch.randn(6, 64).to(dtype)
    got = grads_of(ops.rms_norm, inputs, (dy,))
    for one, of in zip(got, [one for one in inputs if one is not None], strict=True):
        assert one.dtype == of.dtype
    wanted = grads_of(lambda *given: plain_norm(*given)[0], inputs, (dy.double(),))
    coarse = max(
        (one.dtype for one in inputs if one is not None), key=lambda one: torch.finfo(one).eps
    )
    close(got, wanted, coarse)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_gradient_of_the_residual_stream_is_added(dtype):
    inputs = (leaf(6, 64, dtype=dtype), leaf(64, dtype=dtype), leaf(6, 64, dtype=dtype))
    dy, dh = torch.randn(6, 64).to(dtype), torch.randn(6, 64).to(dtype)

    def fused(*given):
        return ops.rms_norm(*given, residual_out=True)

    got = grads_of(fused, inputs, (dy, dh))
    wanted = grads_of(plain_norm, inputs, (dy.double(), dh.double()))
    close(got, wanted, dtype)
    assert torch.equal(got[0], got[2])
    # Of h alone: it is a sum.
    x, weight, residual = torch.autograd.grad(fused(*inputs)[1], inputs, dh)
    assert torch.equal(x, dh)
    assert torch.equal(residual, dh)
    assert not weight.any()


def test_only_what_is_asked_for_is_computed():
    x, weight = leaf(4, 64), leaf(64)
    (both,) = torch.autograd.grad(ops.rms_norm(x, weight).sum(), x)
    frozen = weight.detach()
    (alone,) = torch.autograd.grad(ops.rms_norm(x, frozen).sum(), x)
    assert torch.equal(both, alone)
    (dweight,) = torch.autograd.grad(ops.rms_norm(x.detach(), weight).sum(), weight)
    (wanted,) = torch.autograd.grad(ops.rms_norm(x, weight).sum(), weight)
    assert torch.equal(dweight, wanted)


def test_the_sum_is_saved_once():
    """Not x and residual beside it."""
    x, residual = leaf(4, 64), leaf(4, 64)
    y, h = ops.rms_norm(x, None, residual, residual_out=True)
    saved = [one for one in y.grad_fn.saved_tensors if one is not None]
    assert sum(one.numel() for one in saved) == h.numel() + 4
    assert saved[0].data_ptr() == h.data_ptr()


def test_upstream_gradients_of_any_strides():
    x, weight = leaf(4, 64), leaf(64)
    ops.rms_norm(x, weight).sum().backward()  # an expanded scalar
    wanted = torch.autograd.grad(ops.rms_norm(x, weight), (x, weight), torch.ones(4, 64))
    assert torch.equal(x.grad, wanted[0])
    assert torch.equal(weight.grad, wanted[1])
    transposed = torch.randn(64, 4).t()
    got = torch.autograd.grad(ops.silu_mul(x, x), x, transposed)
    wanted = torch.autograd.grad(F.silu(x) * x, x, transposed)
    close(got, wanted, torch.float32)


def test_zero_rows():
    x, weight = leaf(0, 64), leaf(64)
    ops.rms_norm(x, weight).sum().backward()
    assert x.grad.shape == (0, 64)
    assert torch.equal(weight.grad, torch.zeros(64))


def test_rstd_is_a_constant():
    y, rstd = K.rms_norm_rstd(leaf(4, 64))
    assert y.requires_grad
    assert not rstd.requires_grad


def test_overflow_of_float16_gradients_is_an_infinity():
    """As the contract has it: rounded once, at the end. A gradient scaler skips such a step."""
    x = torch.full((2, 64), 2.0**-14, dtype=torch.float16, requires_grad=True)
    weight = torch.full((64,), 2.0, dtype=torch.float16, requires_grad=True)
    dy = torch.zeros(2, 64, dtype=torch.float16)
    dy[:, 0] = 60000.0
    ops.rms_norm(x, weight, eps=1e-12).backward(dy)
    assert torch.isinf(x.grad[:, 0]).all()
    assert not torch.isnan(x.grad).any()
    assert torch.isinf(weight.grad[0])
    # The same in float32 is finite.
    wide = x.detach().float().requires_grad_()
    ops.rms_norm(wide, weight.detach().float(), eps=1e-12).backward(dy.float())
    assert torch.isfinite(wide.grad).all()


def test_second_derivatives_are_refused():
    x, weight = f64(3, 5), f64(5)
    for value in (ops.rms_norm(x, weight), ops.silu_mul(x, x)):
        (first,) = torch.autograd.grad(value.square().sum(), x, create_graph=True)
        assert first.requires_grad
        with pytest.raises(RuntimeError, match="expected one derivative, got a second"):
            torch.autograd.grad(first.sum(), x)


def test_an_op_without_backward_says_so():
    x, gate, weight = torch.randn(4, 64), leaf(4, 64), torch.ones(64)
    for call in (ops.gated_rms_norm, K.gated_rms_norm):
        with pytest.raises(RuntimeError, match=r"gate: .* gated_rms_norm has no backward\n  hint"):
            call(x, gate, weight)
        with torch.no_grad():
            assert not call(x, gate, weight).requires_grad
    for call in (ops.gated_norm_pair, K.gated_norm_pair):
        with pytest.raises(RuntimeError, match=r"up_weight: .* has no backward"):
            call(x, x, weight, weight.clone().requires_grad_())


def test_outputs_given_exclude_gradients():
    x, out = leaf(4, 64), torch.zeros(4, 64)
    written = torch.zeros(4, 64, requires_grad=True)
    for call in (lambda x, out: ops.rms_norm(x, out=out), lambda x, out: K.rms_norm_out(x, y=out)):
        with pytest.raises(RuntimeError, match="rms_norm: x: expected a tensor that requires no"):
            call(x, out)
        with pytest.raises(RuntimeError, match="rms_norm: y: expected a tensor that requires no"):
            call(x.detach(), written)
        assert not out.any()
        assert not written.any()
        with torch.no_grad():
            call(x, out)
        assert torch.equal(out, ops.rms_norm(x.detach()))
        out.zero_()


def test_forward_mode_is_refused():
    x = torch.randn(4, 64)
    for call in (ops.rms_norm, K.rms_norm):
        with pytest.raises(RuntimeError, match="derivative in forward mode"):
            torch.func.jvp(call, (x,), (x,))


@pytest.mark.filterwarnings("ignore:.*performance drop.*:UserWarning")
def test_transforms_of_torch_func():
    x, weight = torch.randn(3, 4, 64), torch.randn(64)

    def loss(norm):
        return lambda x, weight: norm(x, weight).square().sum()

    def theirs(x, weight):
        return F.rms_norm(x, (64,), weight, 1e-6)

    for transform in (
        lambda one: torch.func.grad(one, argnums=(0, 1)),
        lambda one: torch.vmap(torch.func.grad(one, argnums=(0, 1)), (0, None)),
    ):
        got = transform(loss(ops.rms_norm))(x, weight)
        wanted = transform(loss(theirs))(x, weight)
        close(got, wanted, torch.float32, scale=32)
    with pytest.raises(RuntimeError, match="expected one derivative, got a second"):
        torch.func.grad(lambda one: torch.func.grad(loss(ops.rms_norm))(one, weight).sum())(x)


def test_autocast_in_both_directions():
    x, weight = leaf(4, 64, dtype=torch.bfloat16), leaf(64)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = ops.rms_norm(x, weight)
    assert y.dtype == torch.bfloat16
    y.float().sum().backward()
    assert x.grad.dtype == torch.bfloat16
    assert weight.grad.dtype == torch.float32


def test_gradients_accumulate_and_checkpoint():
    from torch.utils.checkpoint import checkpoint

    x, weight = leaf(4, 64), leaf(64)
    ops.rms_norm(x, weight).sum().backward()
    once = x.grad.clone()
    ops.rms_norm(x, weight).sum().backward()
    assert torch.equal(x.grad, 2 * once)
    again = x.detach().requires_grad_()
    checkpoint(ops.rms_norm, again, weight, use_reentrant=False).sum().backward()
    assert torch.equal(again.grad, once)


def test_batch_invariant_mode_is_that_of_the_forward_pass(monkeypatch):
    """The engine may run the backward pass on another thread, which has a mode of its own."""
    seen = []
    run = _derivatives.RmsNorm.backward
    monkeypatch.setattr(
        _derivatives.RmsNorm,
        "backward",
        staticmethod(lambda *given: (seen.append(einkorn.is_batch_invariant()), run(*given))[1]),
    )
    x = leaf(4, 64)
    with einkorn.batch_invariant():
        y = ops.rms_norm(x)
    for value, mode in ((y, True), (ops.rms_norm(x), False)):
        value.sum().backward()
        assert seen.pop() is mode
    assert not einkorn.is_batch_invariant()


def test_all_combinations_of_needed_gradients():
    for needs in itertools.product((False, True), repeat=3):
        inputs = [
            one.detach().requires_grad_(need)
            for one, need in zip(
                (torch.randn(4, 64), torch.randn(64), torch.randn(4, 64)), needs, strict=True
            )
        ]
        y, h = ops.rms_norm(*inputs, residual_out=True)
        assert y.requires_grad is any(needs)
        if not any(needs):
            continue
        (y + h).sum().backward()
        assert [one.grad is not None for one in inputs] == list(needs)
