"""The modules: their state keys, what they compute and how they print."""

import copy
import io

import pytest

torch = pytest.importorskip("torch", reason="could not import 'torch'")

import einkorn  # noqa: E402
from einkorn import ops  # noqa: E402
from einkorn.torch import nn  # noqa: E402

F = torch.nn.functional


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def test_state_keys_stay():
    """Checkpoints have them."""
    assert list(nn.RMSNorm(8).state_dict()) == ["weight"]
    assert list(nn.RMSNorm(8, elementwise_affine=False).state_dict()) == []
    assert list(nn.SwiGLU(8, 16).state_dict()) == [
        "gate_proj.weight",
        "up_proj.weight",
        "down_proj.weight",
    ]
    assert list(nn.SwiGLU(8, 16, bias=True).state_dict()) == [
        "gate_proj.weight",
        "gate_proj.bias",
        "up_proj.weight",
        "up_proj.bias",
        "down_proj.weight",
        "down_proj.bias",
    ]


def test_rms_norm():
    module = nn.RMSNorm(64, 1e-5)
    with torch.no_grad():
        module.weight.normal_()
    x, residual = torch.randn(4, 64), torch.randn(4, 64)
    torch.testing.assert_close(module(x), F.rms_norm(x, (64,), module.weight, 1e-5))
    y, h = module(x, residual)
    torch.testing.assert_close(h, x + residual)
    torch.testing.assert_close(y, module(x + residual))
    (y + h).sum().backward()
    assert module.weight.grad.shape == (64,)


def test_rms_norm_starts_as_a_factor_of_one():
    x = torch.randn(4, 64)
    wanted = F.rms_norm(x, (64,), None, 1e-6)
    assert not nn.RMSNorm(64, offset=1).weight.any()
    for module in (
        nn.RMSNorm(64),
        nn.RMSNorm(64, offset=1),
        nn.RMSNorm(64, elementwise_affine=False),
    ):
        torch.testing.assert_close(module(x), wanted)


def test_rms_norm_takes_dtype_device_and_rounding():
    module = nn.RMSNorm(64, dtype=torch.bfloat16, rounding="gemma")
    x = torch.randn(4, 64).bfloat16()
    assert torch.equal(module(x), ops.rms_norm(x, module.weight, rounding="gemma"))
    assert nn.RMSNorm(64, device="meta")(torch.empty(2, 64, device="meta")).is_meta


def test_swiglu():
    module = nn.SwiGLU(16, 48)
    x = torch.randn(2, 5, 16)
    wanted = module.down_proj(F.silu(module.gate_proj(x)) * module.up_proj(x))
    torch.testing.assert_close(module(x), wanted)
    module(x).sum().backward()
    assert all(one.grad is not None for one in module.parameters())


def test_variant_is_passed_on():
    x = torch.randn(4, 64)
    assert torch.equal(
        nn.RMSNorm(64, variant="reference")(x), ops.rms_norm(x, torch.ones(64), variant="reference")
    )
    with pytest.raises(ValueError, match="variant: expected one of"):
        nn.RMSNorm(64, variant="cpu/rows_v99")(x)
    with pytest.raises(ValueError, match="variant: expected one of"):
        nn.SwiGLU(64, 64, variant="cpu/rows_v99")(x)


def test_slots():
    model = torch.nn.ModuleDict(
        {
            "norm": nn.RMSNorm(64, op=einkorn.OpSlot("rms_norm")),
            "mlp": nn.SwiGLU(64, 64, op=einkorn.OpSlot("silu_mul")),
        }
    )
    x = torch.randn(4, 64)
    for module in model.values():
        with pytest.raises(RuntimeError, match="expected a bound slot"):
            module(x)
    einkorn.bind(model, {"rms_norm": "reference", "silu_mul": "cpu/rows_v1"})
    assert torch.equal(model["norm"](x), ops.rms_norm(x, torch.ones(64), variant="reference"))
    _, h = model["norm"](x, x)
    assert torch.equal(h, x + x)
    model["mlp"](model["norm"](x)).sum().backward()
    with pytest.raises(ValueError, match="variant: expected None with op"):
        nn.RMSNorm(64, op=einkorn.OpSlot("rms_norm"), variant="reference")


def test_any_callable_serves():
    seen = []

    def norm(x, weight, residual, **keywords):
        seen.append(keywords)
        return ops.rms_norm(x, weight, residual, **keywords)

    nn.RMSNorm(64, 1e-5, op=norm)(torch.randn(4, 64))
    assert seen == [{"eps": 1e-5, "offset": 0, "rounding": "llama"}]


def test_text():
    assert repr(nn.RMSNorm(8)) == "RMSNorm(8, eps=1e-06)"
    assert (
        repr(nn.RMSNorm(8, 1e-5, offset=1, rounding="gemma", variant="reference"))
        == "RMSNorm(8, eps=1e-05, offset=1, rounding='gemma', variant='reference')"
    )
    assert "elementwise_affine=False" in repr(nn.RMSNorm(8, elementwise_affine=False))
    assert "op=<OpSlot rms_norm: not bound>" in repr(nn.RMSNorm(8, op=einkorn.OpSlot("rms_norm")))
    assert nn.SwiGLU(8, 16).extra_repr() == ""
    assert nn.SwiGLU(8, 16, rounding="silu").extra_repr() == "rounding='silu'"


def test_copies_and_files():
    module = torch.nn.Sequential(nn.RMSNorm(16), nn.SwiGLU(16, 32))
    x = torch.randn(2, 16)
    assert torch.equal(copy.deepcopy(module)(x), module(x))
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    assert torch.equal(torch.load(file, weights_only=False)(x), module(x))


def test_compiled():
    module = torch.nn.Sequential(nn.RMSNorm(16), nn.SwiGLU(16, 32))
    x = torch.randn(2, 16)
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), module(x))


def test_loads_the_weights_of_torchs_module():
    theirs = torch.nn.RMSNorm(64, eps=1e-6)
    with torch.no_grad():
        theirs.weight.normal_()
    ours = nn.RMSNorm(64)
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(4, 64)
    torch.testing.assert_close(ours(x), theirs(x))
