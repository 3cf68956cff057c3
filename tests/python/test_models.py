"""Models of Hugging Face's transformers, bound and not: the same curves, gradients and texts.

Small models on the CPU, in float32, trained on the bytes of this repository's licence.
"""

import copy
import functools
import shutil
import types

import einkorn
import pytest
from conftest import SOURCE

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from torch import nn  # noqa: E402  (behind what skips)
from torch.nn import functional  # noqa: E402

AUTO = {"rms_norm": "auto", "silu_mul": "auto"}
SIZES = {
    "vocab_size": 256,
    "hidden_size": 64,
    "intermediate_size": 160,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 256,
    "attn_implementation": "sdpa",
}
STEPS = 200
ROWS, LENGTH = 4, 64


def make(kind, **sizes):
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**{**SIZES, **sizes})
    return getattr(transformers, f"{kind}ForCausalLM")(config)


@functools.cache
def text():
    return torch.frombuffer(bytearray((SOURCE / "LICENSE").read_bytes()), dtype=torch.uint8).long()


def batch(step):
    at = torch.randint(len(text()) - LENGTH, (ROWS,), generator=torch.Generator().manual_seed(step))
    return torch.stack([text()[one : one + LENGTH + 1] for one in at])


def loss_of(call, ids):
    # Not the model's own, which leaves float64.
    logits = call(ids[:, :-1], use_cache=False).logits
    return functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())


def train(model, steps=STEPS, call=None):
    """The losses, in order."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for step in range(steps):
        loss = loss_of(model if call is None else call, batch(step))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses, dtype=torch.float64)


def gradients(model, call=None):
    model.zero_grad()
    loss_of(model if call is None else call, batch(0)).backward()
    return {name: one.grad.double() for name, one in model.named_parameters()}


class Case:
    """One model unbound, bound, and what is derived of it once."""

    def __init__(self, kind, **sizes):
        self.start = make(kind, **sizes)

    def bound(self):
        model = copy.deepcopy(self.start)
        einkorn.bind(model, AUTO)
        return model

    @functools.cached_property
    def trained(self):
        model = copy.deepcopy(self.start)
        return model, train(model)

    @functools.cached_property
    def gradients(self):
        return gradients(copy.deepcopy(self.start))

    @functools.cached_property
    def exact_gradients(self):
        """In float64 throughout: the norms of transformers compute in float32 whatever comes."""

        def forward(norm, x):
            variance = x.pow(2).mean(-1, keepdim=True)
            return norm.weight * (x * torch.rsqrt(variance + norm.variance_epsilon))

        model = copy.deepcopy(self.start).double()
        for module in model.modules():
            if hasattr(module, "variance_epsilon"):
                module.forward = types.MethodType(forward, module)
        return gradients(model)

    # Of the losses of two runs that differ by rounding only.
    #
    # What differs between the runs is at each step what two ways of rounding a norm and a gate
    # differ by, forward and backward. That is less than what multiplying each weight by 1 +- 2^-22
    # does, once: each norm's result is a weight times a value, and test_ops_differ_by_less measures
    # that the results of both ways are within 2^-22 of each other, in the mean square. Let c(s) be
    # the largest difference of losses up to step s from a run whose weights were so multiplied at
    # the start: what such a change at one step has grown to s steps later. Changes come at each
    # step, and to the first order they add: the difference at step t is at most c(0) + ... + c(t).
    # 2 ulp are for the loss itself. The sum is 4e-6 after ten steps and 1e-3 after two hundred.
    @functools.cached_property
    def loss_bound(self):
        model, signs = copy.deepcopy(self.start), torch.Generator().manual_seed(1)
        with torch.no_grad():
            for one in model.parameters():
                sign = torch.randint(0, 2, one.shape, generator=signs) * 2 - 1
                one.mul_(1 + 2**-22 * sign)
        losses = self.trained[1]
        changed = (train(model) - losses).abs()
        return changed.cummax(0).values.cumsum(0) + 2 * 2**-23 * losses


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """At these sizes a second one of PyTorch's does nothing but wait."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module", params=["Llama", "Qwen3"])
def case(request):
    return Case(request.param)


# Of the gradients of one step, in the 2-norm of each parameter's.
#
# Let e be the error of the unbound model's gradient, measured against float64. The bound model does
# the same products and sums of matrices on values that differ by rounding, so that these give it an
# independent error of about e; its norms and gates round up to K times as much as those that they
# stand for. At 64 columns the op's tolerance allows (64 + 6 + 3) / 2 + 7 < 44 roundoffs for a norm
# (ops/norm/rms_norm/contract.cc); PyTorch's makes at least 5: the square, the mean, eps, the root,
# two products; so K < 9. Both errors together are at most (K + 1) e.
GRADIENT_RATIO = 10


def check_gradients(case, got):
    for name, exact in case.exact_gradients.items():
        want = case.gradients[name]
        error = (want - exact).norm()
        assert error < 1e-5 * exact.norm(), name  # float32, not something else
        assert (got[name] - want).norm() <= GRADIENT_RATIO * error, name


def check_losses(case, got):
    over = (got - case.trained[1][: len(got)]).abs() > case.loss_bound[: len(got)]
    assert not over.any(), f"from step {int(over.nonzero()[0])} on"


def test_ops_differ_by_less_than_the_change_of_the_loss_bound(case):
    unbound, model, seen = copy.deepcopy(case.start), case.bound(), {}

    def keep(name, module, inputs, output):
        seen[name] = inputs

    for name, module in unbound.named_modules():
        if isinstance(
            getattr(model.get_submodule(name), "forward", None), type(model.model.norm.forward)
        ):
            module.register_forward_hook(functools.partial(keep, name))
    loss_of(unbound, batch(0))
    assert len(seen) == len(einkorn.bind(model, AUTO))
    for name, inputs in seen.items():
        with torch.no_grad():
            want = unbound.get_submodule(name)(*inputs)
            difference = model.get_submodule(name)(*inputs) - want
        assert difference.norm() <= 2**-22 * want.norm(), name


def test_gradients_in_eager(case):
    check_gradients(case, gradients(case.bound()))


def test_training_in_eager(case):
    losses = train(case.bound())
    assert losses[-1] < losses[0] - 2  # it learns
    check_losses(case, losses)


# All steps without inductor, whose code takes a C++ compiler half a minute for each model: what it
# is about, one graph of forward and backward with our operators in it, is the same.
def test_gradients_and_training_compiled(case):
    torch._dynamo.reset()
    model = case.bound()
    call = torch.compile(model, fullgraph=True, backend="aot_eager")
    check_gradients(case, gradients(model, call))
    check_losses(case, train(model, call=call))


@pytest.mark.skipif(shutil.which("g++") is None, reason="inductor needs a C++ compiler")
def test_some_steps_with_inductor():
    torch._dynamo.reset()
    case = Case("Llama", num_hidden_layers=1)
    model = case.bound()
    check_losses(case, train(model, 10, torch.compile(model, fullgraph=True)))


def test_generation_is_the_same_token_by_token(case):
    unbound = case.trained[0].eval()
    model = copy.deepcopy(unbound)
    einkorn.bind(model, AUTO)
    prompt = text()[None, 1000:1032]
    how = {"max_new_tokens": 64, "do_sample": False, "use_cache": True, "pad_token_id": 0}
    want = unbound.generate(prompt, **how)
    got = model.generate(prompt, **how)
    assert want.shape == (1, 96) and len(want[0, 32:].unique()) > 5
    assert torch.equal(got, want)


def test_nothing_else_is_touched(case):
    model = copy.deepcopy(case.start)
    classes = [type(one) for one in model.modules()]
    before = {name: one.clone() for name, one in model.state_dict().items()}
    slots = einkorn.bind(model, AUTO)
    layers = SIZES["num_hidden_layers"]
    norms = 4 if type(model).__name__.startswith("Qwen3") else 2
    assert len(slots) == layers * (norms + 1) + 1
    assert [type(one) for one in model.modules()] == classes
    after = model.state_dict()
    assert list(after) == list(before)
    assert all(torch.equal(after[name], one) for name, one in before.items())
    einkorn.unbind(model)
    assert not any("forward" in vars(one) for one in model.modules())


def test_copies_and_files_have_forwards_of_their_own(case, tmp_path):
    model = case.bound()
    torch.save(model, tmp_path / "model.pt")
    for other in (
        copy.deepcopy(model),
        torch.load(tmp_path / "model.pt", weights_only=False),
    ):
        assert other.model.norm.forward.module is other.model.norm
        assert einkorn.dump(other) == einkorn.dump(model)
        with torch.no_grad():
            other.model.norm.weight.zero_()
            assert not other(batch(0), use_cache=False).logits.any()
            assert model(batch(0), use_cache=False).logits.any()


def test_two_models_keep_their_choices(case):
    first, second = case.bound(), copy.deepcopy(case.start)
    einkorn.bind(
        second,
        {"default": "auto", "modules": {"model.layers.1.*_layernorm": {"rms_norm": "reference"}}},
    )
    assert "reference_v1\n" not in einkorn.dump(first)
    chosen = [
        line.split()[0]
        for line in einkorn.dump(second).splitlines()
        if "  rms_norm/" in line and line.endswith("reference_v1")
    ]
    assert chosen == [
        "model.layers.1.input_layernorm",
        "model.layers.1.post_attention_layernorm",
    ]


@pytest.mark.parametrize(
    ("config", "error", "texts"),
    [
        ({"rms_norm": "auto"}, ValueError, ["model.layers.0.mlp", "left unbound"]),
        ({**AUTO, "rms_norm": "smxx/*"}, RuntimeError, ["model.norm", "tensors are on cpu"]),
        ({**AUTO, "rms_nrm": "auto"}, ValueError, ["did you mean 'rms_norm'"]),
        (
            {**AUTO, "modules": {"model.layer.*.mlp": {"silu_mul": "auto"}}},
            ValueError,
            ["did you mean 'model.layers"],
        ),
    ],
)
def test_a_fault_changes_nothing(case, config, error, texts):
    for model in (copy.deepcopy(case.start), case.bound()):
        before = [vars(one).get("forward") for one in model.modules()]
        text = einkorn.dump(model)
        with pytest.raises(error) as raised:
            einkorn.bind(model, config)
        for one in texts:
            assert one in str(raised.value)
        assert [vars(one).get("forward") for one in model.modules()] == before
        assert einkorn.dump(model) == text


def test_modules_may_be_left_as_they_are(case):
    model = case.bound()
    slots = einkorn.bind(model, {"rms_norm": "auto"}, leave=["**.mlp"])
    assert {one.op for one in slots} == {"rms_norm"}
    assert "forward" not in vars(model.model.layers[0].mlp)
    with pytest.raises(ValueError, match="leave: expected a pattern that fits"):
        einkorn.bind(model, AUTO, leave=["**.mpl"])


def test_unsupported_dtypes_are_known_when_bound(case):
    model = copy.deepcopy(case.start).double()
    with pytest.raises(NotImplementedError, match="dtype f64: only the reference has it"):
        einkorn.bind(model, {"default": "cpu/rows_v1"})
    einkorn.bind(model, {"default": "cpu/*"})
    assert model.model.norm.forward.slot.binding.variant == "rms_norm/cpu/reference_v1"


# Modules by themselves.


@pytest.fixture(scope="module")
def norms():
    from transformers.models.gemma.modeling_gemma import GemmaRMSNorm
    from transformers.models.llama.modeling_llama import LlamaRMSNorm

    return types.SimpleNamespace(Llama=LlamaRMSNorm, Gemma=GemmaRMSNorm)


def pair(module, **how):
    """The module with weights that are not all one, and a bound copy."""
    with torch.no_grad():
        module.weight.copy_(torch.linspace(-1, 2, module.weight.numel()))
    other = copy.deepcopy(module)
    einkorn.bind(other, {"default": "auto"}, **how)
    return module, other


@pytest.mark.parametrize("x_dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("weight_dtype", ["float32", "bfloat16", "float16"])
def test_a_llama_norm_rounds_where_it_did(norms, x_dtype, weight_dtype):
    unbound, model = pair(norms.Llama(96).to(getattr(torch, weight_dtype)))
    x = torch.randn(64, 96, generator=torch.Generator().manual_seed(2)).to(getattr(torch, x_dtype))
    want, got = unbound(x), model(x)
    assert got.dtype == want.dtype
    # Rounding to the same places gives the same bits but for values near a tie.
    roundoff = torch.finfo(got.dtype).eps
    torch.testing.assert_close(got, want, rtol=4 * roundoff, atol=4 * roundoff * 1e-2)
    if got.dtype != torch.float32:
        assert (got == want).float().mean() > 0.99


def test_an_mlp_rounds_where_it_did():
    model = make("Llama").model.layers[0].mlp.bfloat16()
    bound = copy.deepcopy(model)
    einkorn.bind(bound, {"default": "auto"})
    x = torch.randn(64, 64, generator=torch.Generator().manual_seed(3)).bfloat16()
    seen = []
    for one in (model, bound):
        one.down_proj.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
        one(x)
    assert (seen[0] == seen[1]).float().mean() > 0.99
    roundoff = torch.finfo(torch.bfloat16).eps
    torch.testing.assert_close(seen[1], seen[0], rtol=4 * roundoff, atol=1e-6)


def test_layouts_that_the_op_does_not_take_are_copied(norms):
    unbound, model = pair(norms.Llama(8))
    x = torch.randn(3, 8, 5, 4).permute(3, 0, 2, 1)
    torch.testing.assert_close(model(x), unbound(x))


def test_under_autocast_the_dtypes_are_the_same():
    unbound = make("Qwen3")
    model = copy.deepcopy(unbound)
    einkorn.bind(model, AUTO)
    with torch.autocast("cpu", torch.bfloat16), torch.no_grad():
        want, got = (one(batch(0), use_cache=False).logits for one in (unbound, model))
    assert got.dtype == want.dtype
    assert (got - want).norm() < 0.02 * want.norm()  # some roundoffs of bfloat16


def test_gemma_norms_are_refused_unless_said(norms):
    model = make("Gemma")
    with pytest.raises(NotImplementedError) as raised:
        einkorn.bind(model, {"default": "auto"})
    for text in ("model.layers.0.input_layernorm", "GemmaRMSNorm", "(1 + weight)", "GEMMA_NORM"):
        assert text in str(raised.value)
    assert not any("forward" in vars(one) for one in model.modules())
    adapters = einkorn.torch.adapters
    said = (*adapters.DEFAULT, adapters.GEMMA_NORM)
    other = copy.deepcopy(model)
    slots = einkorn.bind(other, {"default": "auto"}, adapters=said)
    # The MLP's gate is a GELU: no op of ours, and none that it resembles.
    assert {(one.op, one.scalars["offset"], one.scalars["rounding"]) for one in slots} == {
        ("rms_norm", 1, "gemma")
    }
    with torch.no_grad():
        torch.testing.assert_close(other(batch(0)).logits, model(batch(0)).logits)
    for dtype in (torch.float32, torch.bfloat16):
        unbound, bound = pair(norms.Gemma(96).to(dtype), adapters=said)
        x = torch.randn(64, 96).to(dtype)
        assert (unbound(x) == bound(x)).float().mean() > (0.99 if dtype == torch.bfloat16 else 0.2)
        torch.testing.assert_close(bound(x), unbound(x))


def test_look_alikes_are_refused(norms, monkeypatch):
    class Subclass(norms.Llama):
        def forward(self, hidden_states):
            return super().forward(hidden_states) + 1

    class Inherits(norms.Llama):
        """It might change what its forward reads."""

    class LlamaRMSNorm(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(size))
            self.variance_epsilon = 1e-6

        def forward(self, hidden_states):
            input_dtype = hidden_states.dtype
            hidden_states = hidden_states.to(torch.float32)
            variance = hidden_states.pow(2).mean(-1, keepdim=True)
            hidden_states = hidden_states * torch.rsqrt(variance + self.variance_epsilon)
            return (1 + self.weight) * hidden_states.to(input_dtype)

    hooked = norms.Llama(8)
    hooked.forward = types.MethodType(lambda self, x: x, hooked)
    for norm in (Subclass(8), Inherits(8), LlamaRMSNorm(8), nn.RMSNorm(8), hooked):
        with pytest.raises(NotImplementedError, match="is not, or not known to be"):
            einkorn.bind(nn.Sequential(norm), {"default": "auto"})
        with pytest.raises(ValueError, match="expected one with slots, got none"):
            einkorn.bind(nn.Sequential(norm), {"default": "auto"}, leave=["0"])
    # A class that somebody has patched.
    monkeypatch.setattr(norms.Llama, "forward", LlamaRMSNorm.forward)
    with pytest.raises(NotImplementedError, match="is not, or not known to be"):
        einkorn.bind(nn.Sequential(norms.Llama(8)), {"default": "auto"})


def test_gates_that_are_no_silu_are_not_taken():
    mlp = make("Llama").model.layers[0].mlp
    mlp.act_fn.register_forward_hook(lambda module, inputs, output: output + 1)
    with pytest.raises(NotImplementedError, match="LlamaMLP is not, or not known to be"):
        einkorn.bind(nn.Sequential(mlp), {"default": "auto"})
    with pytest.raises(ValueError, match="got none"):
        einkorn.bind(make("Llama", hidden_act="gelu").model.layers[0].mlp, {"default": "auto"})
