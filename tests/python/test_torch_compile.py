"""torch.library.opcheck of every form, and torch.compile without a graph break."""

import warnings

import pytest
from interpreter import works

torch = pytest.importorskip("torch", reason="could not import 'torch'")

from einkorn import ops  # noqa: E402
from einkorn.torch._kernels import FORMS  # noqa: E402

K = torch.ops.einkorn


@pytest.fixture(autouse=True)
def fresh():
    torch.manual_seed(0)
    torch._dynamo.reset()


def t(*shape, dtype=torch.float32):
    return torch.randn(*shape).to(dtype)


def grad(*shape, dtype=torch.float32):
    return t(*shape, dtype=dtype).requires_grad_()


H = torch.bfloat16
NORM = [
    ((t(3, 32),), {}),
    ((t(2, 3, 32, dtype=H), t(32)), {"eps": 1e-5, "rounding": "gemma", "offset": 1}),
    ((t(3, 64)[:, :32], t(32), t(3, 32)), {"rounding": "none"}),
    ((t(0, 32), t(32)), {}),
    ((grad(3, 32), grad(32), grad(3, 32)), {}),
    ((grad(3, 32, dtype=H), grad(32), grad(3, 32)), {}),
    ((grad(3, 32), grad(32), grad(3, 32, dtype=H)), {}),
]
WITH_RESIDUAL = [one for one in NORM if len(one[0]) == 3]
BACK = ((t(3, 32), t(3, 32), t(32), t(3).abs(), t(3, 32)), {"rounding": "gemma"})
PACKED = ((t(3, 32), None, None, t(3, 64)), {"packing": "interleaved"})
#: Calls of each form.
CALLS = {
    "rms_norm": NORM,
    "rms_norm_rstd": NORM,
    "rms_norm_residual_out": WITH_RESIDUAL,
    "rms_norm_residual_out_rstd": WITH_RESIDUAL,
    "rms_norm_out": [
        ((t(3, 32), t(32)), {"y": t(3, 32)}),
        ((t(3, 32), None, t(3, 32)), {"y": t(3, 32), "residual_out": t(3, 32), "rstd": t(3)}),
    ],
    "rms_norm_bwd": [BACK, ((t(3, 32), t(3, 32)), {})],
    "rms_norm_bwd_dweight": [BACK],
    "rms_norm_bwd_out": [(BACK[0], {"dx": t(3, 32), "dweight": t(32)})],
    "silu_mul": [
        ((t(3, 32), t(3, 32)), {}),
        ((grad(3, 32), grad(3, 32)), {"rounding": "silu"}),
        ((None, None, grad(3, 64)), {"packing": "halves", "clamp": True}),
    ],
    "silu_mul_out": [((t(3, 32), t(3, 32)), {"y": t(3, 32)})],
    "silu_mul_bwd_dgate_dup": [((t(3, 32), t(3, 32), t(3, 32)), {})],
    "silu_mul_bwd_dpacked": [PACKED],
    "silu_mul_bwd_out": [
        ((t(3, 32), t(3, 32), t(3, 32)), {"dgate": t(3, 32), "dup": t(3, 32)}),
        (PACKED[0], {"dpacked": t(3, 64), "packing": "halves"}),
    ],
    "gated_rms_norm": [((t(3, 32), t(3, 32), t(32)), {})],
    "gated_rms_norm_out": [((t(3, 32), t(3, 32), t(32)), {"y": t(3, 32)})],
    "gated_norm_pair": [((t(3, 32), t(3, 32), t(32), t(32)), {})],
    "gated_norm_pair_out": [((t(3, 32), t(3, 32), t(32), t(32)), {"y": t(3, 32)})],
    "qk_norm": [
        ((t(3, 4, 32), t(3, 2, 32), t(32), t(32)), {"rounding": "gemma"}),
        ((t(2, 3, 8, 32, dtype=H)[:, :, :4], t(2, 3, 1, 32, dtype=H)), {}),
    ],
    "qk_norm_out": [
        (
            (t(3, 4, 32), t(3, 2, 32), t(32), t(32)),
            {"q_out": t(3, 4, 32), "k_out": t(3, 2, 32)},
        )
    ],
}


def prefill_calls():
    """Of the prefill ops: q, k and v; g and beta of two of them, decay of the third."""
    qk, v, state = (1, 5, 2, 8), (1, 5, 4, 16), (1, 4, 8, 16)
    calls = {}
    for name, rest in (
        ("kda_prefill", lambda: (-t(1, 5, 4, 8).abs(), t(1, 5, 4).sigmoid(), None, None)),
        ("gdn_prefill", lambda: (-t(1, 5, 4, dtype=H).abs(), t(1, 5, 4).sigmoid(), None, None)),
        ("lightning_prefill", lambda: (-t(4).abs(),)),
    ):
        start = (t(*qk), 0.3 * t(*qk), t(*v), *rest())
        packed = (*start, t(3, *state[1:]), torch.tensor([0, 2, 2, 5]))
        calls[name] = [(start, {}), (packed, {"l2norm": True})]
        calls[f"{name}_final_state"] = [(start, {}), (packed, {"scale": 1.0})]
        stored = {"checkpoint_every": 64, "checkpoints": t(0, *state[1:])}
        calls[f"{name}_out"] = [
            (start, {"o": t(*v), "final_state": t(*state)}),
            (start, {"o": t(*v), **stored}),
        ]
    return calls


def decode_calls():
    """Of the decode ops: the state is updated in place."""
    qk, v = (2, 3, 2, 8), (2, 3, 4, 16)
    calls = {}
    for name, rest in (
        ("kda_decode", lambda: (-t(2, 3, 4, 8).abs(), t(2, 3, 4).sigmoid())),
        ("gdn_decode", lambda: (-t(2, 3, 4, dtype=H).abs(), t(2, 3, 4).sigmoid())),
        ("lightning_decode", lambda: (-t(4).abs(),)),
    ):
        start = (t(*qk), 0.3 * t(*qk), t(*v), *rest())
        whole = (*start, t(2, 4, 16, 8))
        pool = {"state_indices": torch.tensor([2, 0]), "l2norm": True}
        calls[name] = [(whole, {}), ((*start, t(5, 4, 16, 8)), pool)]
        calls[f"{name}_out"] = [(whole, {"o": t(*v)})]
    return calls


CALLS |= prefill_calls() | decode_calls()
CASES = [
    pytest.param(name, *call, id=f"{name}-{i}")
    for name, calls in CALLS.items()
    for i, call in enumerate(calls)
]


def test_every_form_is_checked():
    assert {form.name for form in FORMS} == set(CALLS)


@pytest.mark.parametrize(("name", "inputs", "keywords"), CASES)
def test_opcheck(name, inputs, keywords):
    def copied(one):
        return one.detach().clone().requires_grad_(one.requires_grad) if one is not None else None

    named = {k: copied(v) if isinstance(v, torch.Tensor) else v for k, v in keywords.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.library.opcheck(getattr(K, name).default, tuple(inputs), named, rtol=1e-4, atol=1e-4)


def block(x, weight, residual):
    """Every way of a call."""
    y = ops.rms_norm(x, weight)
    z, h = ops.rms_norm(y, weight, residual, residual_out=True, eps=1e-5)
    gated = ops.silu_mul(z, h)
    packed = ops.silu_mul(packed=torch.cat([gated, z], -1), packing="halves")
    return packed * 2 + K.rms_norm(h)


def grads(function, inputs):
    inputs = [one.detach().clone().requires_grad_() for one in inputs]
    value = function(*inputs)
    return value, torch.autograd.grad(value.sum(), inputs)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_compiled_is_eager(backend):
    if backend == "inductor":
        pytest.importorskip("torch._inductor")
        from torch._inductor.cpp_builder import get_cpp_compiler

        try:
            get_cpp_compiler()
        except Exception as error:
            pytest.skip(f"inductor has no C++ compiler here: {error}")
    inputs = (t(4, 32), t(32), t(4, 32))
    compiled = torch.compile(block, fullgraph=True, backend=backend)
    torch.testing.assert_close(compiled(*inputs), block(*inputs), rtol=1e-5, atol=1e-5)
    got, wanted = grads(compiled, inputs), grads(block, inputs)
    torch.testing.assert_close(got, wanted, rtol=1e-5, atol=1e-5)


def test_no_graph_breaks_and_no_second_compilation():
    from torch._dynamo.testing import CompileCounterWithBackend

    counter = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(block, fullgraph=True, backend=counter)
    inputs = (t(4, 32), t(32), t(4, 32))
    for _ in range(3):
        compiled(*inputs)
        block(*inputs)
    assert counter.frame_count == 1
    names = [str(node.target) for node in counter.graphs[0].graph.nodes]
    assert sum("einkorn" in name for name in names) == 5, names


def test_outputs_given_are_written():
    def function(x, weight, out, h):
        ops.rms_norm(x, weight, x, out=out, residual_out=h)
        return out + h

    x, weight = t(4, 32), t(32)
    eager = [torch.empty(4, 32), torch.empty(4, 32)]
    compiled = [torch.empty(4, 32), torch.empty(4, 32)]
    wanted = function(x, weight, *eager)
    got = torch.compile(function, fullgraph=True, backend="aot_eager")(x, weight, *compiled)
    assert torch.equal(got, wanted)
    assert torch.equal(compiled[0], eager[0])
    assert torch.equal(compiled[1], eager[1])


def test_in_place_when_compiled():
    def function(x, weight):
        ops.rms_norm(x, weight, out=x)
        return x * 1

    x, weight = t(4, 32), t(32)
    wanted = ops.rms_norm(x, weight)
    got = torch.compile(function, fullgraph=True, backend="aot_eager")(x, weight)
    assert torch.equal(got, wanted)
    assert torch.equal(x, wanted)


def test_one_graph_for_all_numbers_of_rows():
    from torch._dynamo.testing import CompileCounterWithBackend

    counter = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(block, fullgraph=True, dynamic=True, backend=counter)
    weight = t(32)
    compiled(t(4, 32), weight, t(4, 32))
    # Not 1: a default that is a float is tried as an input first, and then made a constant.
    first = counter.frame_count
    for count in (2, 3, 7, 64):
        x, residual = t(count, 32), t(count, 32)
        torch.testing.assert_close(compiled(x, weight, residual), block(x, weight, residual))
    assert counter.frame_count == first


def test_unbacked_sizes():
    """The number of rows that a value decides is not asked for while tracing."""

    def function(x, mask, weight):
        return ops.rms_norm(x[mask], weight)

    x, weight = t(8, 32), t(32)
    mask = torch.tensor([True, False] * 4)
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
        assert torch.equal(compiled(x, mask, weight), function(x, mask, weight))


def test_export():
    class Module(torch.nn.Module):
        def forward(self, x, weight):
            return ops.rms_norm(x, weight)

    x, weight = t(4, 32), t(32)
    rows = torch.export.Dim("rows", min=2)
    program = torch.export.export(Module(), (x, weight), dynamic_shapes=({0: rows}, None))
    assert any("rms_norm" in str(node.target) for node in program.graph.nodes)
    more = t(9, 32)
    assert torch.equal(program.module()(more, weight), ops.rms_norm(more, weight))


def test_errors_come_out_typed_or_named_when_compiled():
    compiled = torch.compile(ops.rms_norm, fullgraph=True, backend="eager")
    with pytest.raises(Exception, match="weight shape: expected"):
        compiled(t(4, 32), t(8))


def test_first_call_may_be_a_compiled_one():
    """Nothing has to be imported or called before."""
    code = (
        "import einkorn, torch\n"
        "f = torch.compile(lambda x: einkorn.ops.rms_norm(x), fullgraph=True, backend='eager')\n"
        "x = torch.ones(2, 8)\n"
        "assert torch.equal(f(x), einkorn.ops.rms_norm(x))\n"
    )
    works("-c", code)
