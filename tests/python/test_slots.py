"""Slots: binding all or none, and what bound slots do."""

import copy
import io
import pickle
import uuid

import einkorn
import numpy as np
import pytest
from interpreter import works

X = np.random.default_rng(3).standard_normal((4, 32), np.float32)
W = np.random.default_rng(4).standard_normal(32, np.float32)


def recorder():
    """The name of a new variant of rms_norm that counts its calls, and the calls."""
    name, calls = "t" + uuid.uuid4().hex[:8], []

    @einkorn.variant("rms_norm", name, arrays="numpy")
    def mine(x, weight, residual, *, eps, offset, rounding):
        calls.append((eps, offset, rounding))
        return x

    return f"python/{name}_v1", calls


def two_slots():
    return {
        "block.norm": einkorn.OpSlot("rms_norm", {"cols": 32, "dtype": "f32"}),
        "block.act": einkorn.OpSlot("silu_mul"),
    }


def bound(slots):
    return {path: one.binding.variant if one.is_bound else None for path, one in slots.items()}


def test_a_bound_slot_calls_its_variant_with_its_scalars():
    variant, calls = recorder()
    slot = einkorn.OpSlot("rms_norm", offset=1, rounding="gemma")
    assert einkorn.bind({"norm": slot}, {"rms_norm": variant}, device="cpu") == [slot]
    assert slot(X, W, eps=1e-5) is not X
    assert calls == [(1e-5, 1, "gemma")]
    with pytest.raises(TypeError, match="offset"):
        slot(X, W, offset=0)
    with pytest.raises(TypeError, match="variant"):
        slot(X, W, variant="reference")
    out = np.empty_like(X)
    assert slot(X, W, out=out) is out


def test_an_unbound_slot_raises():
    slot = einkorn.OpSlot("rms_norm")
    for use in (lambda: slot(X, W), lambda: slot.binding):
        with pytest.raises(RuntimeError, match="expected a bound slot, got one that is not"):
            use()
    einkorn.bind({"norm": slot}, {"default": "auto"}, device="cpu")
    slot(X, W)
    einkorn.unbind({"norm": slot})
    with pytest.raises(RuntimeError, match="expected a bound slot"):
        slot(X, W)


def test_known_problems_are_decided_and_others_when_called():
    slots = two_slots()
    einkorn.bind(slots, {"default": "auto"}, device="cpu")
    assert bound(slots) == {"block.norm": "rms_norm/cpu/rows_v1", "block.act": "auto"}
    einkorn.bind(slots, {"default": "cpu/*", "rms_norm": "reference"}, device="cpu")
    assert bound(slots) == {"block.norm": "rms_norm/cpu/reference_v1", "block.act": "cpu/*"}
    slots["block.act"](X, X)


def test_two_models_keep_their_choices():
    first, second = two_slots(), two_slots()
    variant, calls = recorder()
    einkorn.bind(first, {"default": "auto", "rms_norm": variant}, device="cpu")
    einkorn.bind(second, {"default": "auto"}, device="cpu")
    second["block.norm"](X, W)
    assert calls == []
    first["block.norm"](X, W)
    assert len(calls) == 1


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_goes_its_own_way(copied):
    slots = two_slots()
    einkorn.bind(slots, {"default": "reference"}, device="cpu")
    other = copied(slots)
    assert bound(other) == bound(slots)
    einkorn.bind(other, {"default": "auto"}, device="cpu")
    assert bound(other) != bound(slots)
    assert slots["block.norm"].binding.variant == "rms_norm/cpu/reference_v1"
    other["block.norm"](X, W)


def test_patterns_are_of_paths():
    slots = {f"layers.{i}.{name}": einkorn.OpSlot("rms_norm") for i in (0, 1) for name in "ab"}
    rules = {
        "rms_norm": "cpu/rows_v1",
        "modules": {"layers.*.a": {"rms_norm": "reference"}, "layers.1.**": {"default": "auto"}},
    }
    einkorn.bind(slots, rules, device="cpu")
    assert [one.split("/")[-1] for one in bound(slots).values()] == [
        "reference_v1",
        "rows_v1",
        "auto",
        "auto",
    ]


def huge():
    return {"cols": 262144 * 4, "dtype": "f32"}


@pytest.mark.parametrize(
    ("slot", "rules", "error", "texts"),
    [
        (("rms_norm",), {"rms_nrm": "auto"}, ValueError, ["did you mean 'rms_norm'"]),
        (("rms_norm",), {"rms_norm": "cpu/row_v1"}, ValueError, ["did you mean 'cpu/rows_v1'"]),
        (("rms_nrm",), {"default": "auto"}, ValueError, ["did you mean 'rms_norm'"]),
        (("rms_norm",), {}, ValueError, ["'bad' (rms_norm)", "left unbound", "default"]),
        (("rms_norm",), {"silu_mul": "auto"}, ValueError, ["left unbound"]),
        (("rms_norm", {"colz": 3}), {"default": "auto"}, ValueError, ["got 'colz'"]),
        (("rms_norm", {"cols": 0}), {"default": "auto"}, ValueError, ["cols"]),
        (
            ("rms_norm", {"dtype": "f64"}),
            {"default": "auto", "rms_norm": "cpu/rows_v1"},
            NotImplementedError,
            ["dtype f64: only the reference has it"],
        ),
        (
            ("rms_norm",),
            {"default": "auto", "rms_norm": "sm90/bulk_v1"},
            RuntimeError,
            ["sm90/bulk_v1: tensors are on cpu"],
        ),
        (
            ("rms_norm",),
            {"default": "auto", "modules": {"bod": {"rms_norm": "auto"}}},
            ValueError,
            ["fits none", "did you mean 'bad'"],
        ),
    ],
)
def test_a_fault_binds_nothing(slot, rules, error, texts):
    slots = two_slots()
    einkorn.bind(slots, {"default": "reference"}, device="cpu")
    before = bound(slots)
    with pytest.raises(error) as raised:
        einkorn.bind({**slots, "bad": einkorn.OpSlot(*slot)}, rules, device="cpu")
    assert type(raised.value) is error
    for text in texts:
        assert text in str(raised.value)
    assert bound(slots) == before


def test_all_faults_are_told_at_once():
    slots = {
        "a": einkorn.OpSlot("rms_norm", {"colz": 3}),
        "b": einkorn.OpSlot("rms_norm", {"dtype": "f64"}),
        "c": einkorn.OpSlot("silu_mul"),
    }
    with pytest.raises(ValueError, match="got 3") as raised:
        einkorn.bind(slots, {"rms_norm": "cpu/rows_v1"}, device="cpu")
    for text in ("'a'", "'b'", "'c'", "colz", "f64", "left unbound"):
        assert text in str(raised.value)


def test_a_requirement_that_is_not_met_is_told():
    name = "t" + uuid.uuid4().hex[:8]

    @einkorn.variant("rms_norm", name, arrays="numpy", requires=[lambda: "the NPU sleeps"])
    def mine(x, weight, residual, *, eps, offset, rounding):
        return x

    slots = {"a": einkorn.OpSlot("rms_norm", {"cols": 32, "dtype": "f32"})}
    with pytest.raises(NotImplementedError, match="the NPU sleeps"):
        einkorn.bind(slots, {"rms_norm": f"python/{name}_v1"}, device="cpu")
    assert not slots["a"].is_bound


def test_a_device_has_to_be_here():
    slots = two_slots()
    with pytest.raises(ValueError, match="device: expected"):
        einkorn.bind(slots, {"default": "auto"})
    with pytest.raises(RuntimeError, match="which is not here"):
        einkorn.bind(slots, {"default": "auto"}, device="b200")
    with pytest.raises(ValueError, match="no_such_gpu"):
        einkorn.bind(slots, {"default": "auto"}, device="no_such_gpu")
    assert bound(slots) == {"block.norm": None, "block.act": None}


def test_scalars_are_the_ops():
    with pytest.raises(TypeError, match="expected scalars of eps, offset, rounding, got gamma"):
        einkorn.bind({"a": einkorn.OpSlot("rms_norm", gamma=1)}, {"default": "auto"}, device="cpu")
    # A scalar that is a key of the problem completes it.
    slots = {"a": einkorn.OpSlot("rms_norm", {"cols": 32, "dtype": "f32"}, offset=1)}
    einkorn.bind(slots, {"default": "auto"}, device="cpu")
    assert "offset=1" in slots["a"].binding.reason
    slots = {"a": einkorn.OpSlot("rms_norm", {"cols": 32}, rounding="lama")}
    with pytest.raises(ValueError, match="lama"):
        einkorn.bind(slots, {"default": "auto"}, device="cpu")


def test_rules_for_backward_ops_are_refused():
    with pytest.raises(NotImplementedError, match="EINKORN_RMS_NORM_BWD"):
        einkorn.bind(two_slots(), {"default": "auto", "rms_norm_bwd": "reference"}, device="cpu")


@pytest.mark.parametrize(
    ("model", "error", "text"),
    [
        (3, TypeError, "expected a torch.nn.Module or a mapping"),
        ({"a": 3}, TypeError, "expected OpSlot by path, got int"),
        ({3: einkorn.OpSlot("rms_norm")}, TypeError, "for 3"),
        ({}, ValueError, "expected one with slots, got none"),
    ],
)
def test_what_has_no_slots(model, error, text):
    with pytest.raises(error, match=text):
        einkorn.bind(model, {"default": "auto"}, device="cpu")


def test_configurations_from_elsewhere(tmp_path, monkeypatch):
    (tmp_path / "ops.toml").write_text('default = "auto"\nrms_norm = "reference"')
    slots = two_slots()
    einkorn.bind(slots, tmp_path / "ops.toml", device="cpu")
    assert slots["block.norm"].binding.rule == 'rms_norm = "reference" (line 2)'
    monkeypatch.setenv("EINKORN_OPS", "default=cpu/*")
    einkorn.bind(slots, einkorn.OpConfig.from_environment(), device="cpu")
    assert slots["block.act"].binding.rule == 'default = "cpu/*" (EINKORN_OPS)'
    # What EINKORN_<OP> says is what auto means, and nothing else.
    monkeypatch.setenv("EINKORN_RMS_NORM", "reference")
    einkorn.bind(slots, {"default": "auto"}, device="cpu")
    assert slots["block.norm"].binding.variant == "rms_norm/cpu/reference_v1"
    assert "EINKORN_RMS_NORM" in slots["block.norm"].binding.reason
    einkorn.bind(slots, {"default": "cpu/rows_v1"}, device="cpu")
    assert slots["block.norm"].binding.variant == "rms_norm/cpu/rows_v1"


def test_dump_tells_choice_rule_reason_and_losers():
    slots = two_slots()
    text = einkorn.dump(slots)
    assert "block.norm  rms_norm  not bound" in text
    einkorn.bind(slots, {"default": "auto", "silu_mul": "cpu/rows_v1"}, device="cpu")
    lines = einkorn.dump(slots).splitlines()
    assert lines[0].split() == ["block.norm", "rms_norm", "rms_norm/cpu/rows_v1"]
    assert 'by    default = "auto"' in lines[1]
    assert "first in list order that serves" in lines[2]
    losers = dict(slots["block.norm"].binding.losers)
    assert losers["rms_norm/sm90/bulk_v1"] == "tensors are on cpu"
    assert "stands behind" in losers["rms_norm/cpu/reference_v1"]
    assert all(f"  not   {name}: {why}" in lines for name, why in losers.items())
    assert einkorn.dump() != einkorn.dump(slots)


def test_a_batch_invariant_scope_counts_where_it_is_bound():
    variant, _ = recorder()
    slots = two_slots()
    rules = {"default": "auto", "rms_norm": variant}
    refused = pytest.raises(NotImplementedError, match="not declared batch-invariant")
    with einkorn.batch_invariant(), refused:
        einkorn.bind(slots, rules, device="cpu")
    einkorn.bind(slots, rules, device="cpu")
    with einkorn.batch_invariant(), refused:
        slots["block.norm"](X, W)


def test_slots_need_no_framework():
    code = (
        "import einkorn, sys\n"
        "slot = einkorn.OpSlot('rms_norm')\n"
        "assert not {'torch', 'numpy', 'jax'} & set(sys.modules)\n"
    )
    works("-c", code)


# Modules of PyTorch.


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


def make_model(torch):
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.linspace(0.5, 1.5, 32))
            self.norm = einkorn.OpSlot("rms_norm")
            self.last = einkorn.OpSlot("rms_norm", {"cols": 32}, offset=1)
            self.act = einkorn.OpSlot("silu_mul")

        def slot_problems(self):
            return {"norm": {"cols": self.weight.numel(), "dtype": "f32"}}

        def forward(self, x):
            y = self.norm(x, self.weight)
            return self.last(self.act(y, x), self.weight)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList([Block(), Block()])

        def forward(self, x):
            for block in self.blocks:
                x = x + block(x)
            return x

    return Model()


def test_modules_have_slots_as_attributes(torch):
    model = make_model(torch)
    x = torch.from_numpy(X)
    with pytest.raises(RuntimeError, match="expected a bound slot"):
        model(x)
    slots = einkorn.bind(model, {"default": "auto", "modules": {"*.0.last": {"default": "cpu/*"}}})
    # Two slots of one module call rms_norm, so that their names are part of their paths.
    assert [one.binding.path for one in slots] == [
        "blocks.0.norm",
        "blocks.0.last",
        "blocks.0",
        "blocks.1.norm",
        "blocks.1.last",
        "blocks.1",
    ]
    # Known by slot_problems(), by the slot, and not known.
    assert [one.binding.variant for one in slots[:3]] == [
        "rms_norm/cpu/rows_v1",
        "rms_norm/cpu/rows_v1",
        "auto",
    ]
    assert list(model.state_dict()) == ["blocks.0.weight", "blocks.1.weight"]
    want = model(x)
    other = copy.deepcopy(model)
    einkorn.unbind(model)
    with pytest.raises(RuntimeError, match="expected a bound slot"):
        model(x)
    assert torch.equal(other(x), want)
    assert other.blocks[0].norm is not model.blocks[0].norm


def test_a_model_moves_through_a_file(torch, monkeypatch):
    module = torch.nn.Module()
    module.norm = einkorn.OpSlot("rms_norm")
    einkorn.bind(module, {"default": "reference"}, device="cpu")
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    read = torch.load(file, weights_only=False)
    assert read.norm.binding == module.norm.binding
    assert read.norm.binding.path == "Module"


def test_the_device_is_the_parameters(torch):
    model = make_model(torch)
    with pytest.raises(ValueError, match="model device: expected one, got meta"):
        einkorn.bind(copy.deepcopy(model).to("meta"), {"default": "auto"})
    einkorn.bind(copy.deepcopy(model).to("meta"), {"default": "auto"}, device="cpu")
    mixed = copy.deepcopy(model)
    mixed.blocks[1].to("meta")
    with pytest.raises(ValueError, match="got cpu, meta"):
        einkorn.bind(mixed, {"default": "auto"})
    einkorn.bind(model, {"default": "auto"}, device=torch.device("cpu"))
    if not torch.cuda.is_available():
        with pytest.raises((ValueError, RuntimeError)):
            einkorn.bind(model, {"default": "auto"}, device="cuda")


def test_a_slot_is_of_one_place(torch):
    model = make_model(torch)
    model.blocks[1].norm = model.blocks[0].norm
    with pytest.raises(ValueError, match="expected one of its own, got that of"):
        einkorn.bind(model, {"default": "auto"})


def test_compiled_calls_take_the_slots_choice(torch):
    variant, calls = recorder()
    model = make_model(torch)
    einkorn.bind(model, {"default": "auto"})
    x = torch.from_numpy(X)
    want = model(x)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), want)
    assert calls == []
    # A new choice is seen by what was compiled. With gradients rstd would be asked for, too.
    einkorn.bind(compiled, {"default": "auto", "rms_norm": variant})
    with torch.no_grad():
        compiled(x)
    assert len(calls) == 4


def test_modules_of_einkorn_are_bound(torch):
    own = einkorn.torch.nn
    model = torch.nn.Sequential(
        own.RMSNorm(32, offset=1, rounding="gemma"),
        own.SwiGLU(32, 64, rounding="silu"),
        own.RMSNorm(32, elementwise_affine=False),
        own.RMSNorm(32, op=einkorn.OpSlot("rms_norm")),
    )
    x = torch.from_numpy(X)
    with pytest.raises(RuntimeError, match="expected a bound slot"):
        model(x)
    want = model[:3](x)
    slots = einkorn.bind(model, {"default": "auto", "modules": {"2": {"rms_norm": "reference"}}})
    assert [one.op for one in slots] == ["rms_norm", "silu_mul", "rms_norm", "rms_norm"]
    assert slots[0].scalars == {"offset": 1, "rounding": "gemma"}
    assert [one.binding.variant.split("/")[-1] for one in slots] == [
        "rows_v1",
        "rows_v1",
        "reference_v1",
        "rows_v1",
    ]
    assert "cols=32" in slots[3].binding.reason
    torch.testing.assert_close(model[:3](x), want)
    _, h = model[0](x, x)
    torch.testing.assert_close(h, 2 * x)
    einkorn.unbind(model)
    assert torch.equal(model[:3](x), want)
    for module in (own.RMSNorm(32, variant="reference"), own.SwiGLU(8, 8, op=lambda g, u: g)):
        with pytest.raises(NotImplementedError, match="not known to be"):
            einkorn.bind(torch.nn.Sequential(module), {"default": "auto"})
