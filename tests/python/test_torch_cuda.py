"""On a GPU: the current stream, CUDA graphs, several devices."""

import pytest

torch = pytest.importorskip("torch", reason="could not import 'torch'")

import einkorn.torch  # noqa: E402, F401  (registers the operators)
from einkorn import ops  # noqa: E402

if not torch.cuda.is_available():
    pytest.skip("PyTorch sees no CUDA device", allow_module_level=True)

K = torch.ops.einkorn


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def t(*shape, dtype=torch.bfloat16):
    return torch.randn(*shape, device="cuda").to(dtype)


def test_is_the_cpus():
    x, weight, residual = t(64, 4096), t(4096), t(64, 4096)
    got = K.rms_norm_residual_out(x, weight, residual)
    wanted = K.rms_norm_residual_out(x.cpu(), weight.cpu(), residual.cpu())
    for one, other in zip(got, wanted, strict=True):
        torch.testing.assert_close(one.cpu(), other, rtol=2e-2, atol=2e-2)


def test_gradients_are_the_cpus():
    inputs = [t(64, 512), t(512), t(64, 512)]
    grads = []
    for device in ("cuda", "cpu"):
        given = [one.to(device).requires_grad_() for one in inputs]
        y, h = ops.rms_norm(*given, residual_out=True)
        z = ops.silu_mul(y, h)
        grads.append(torch.autograd.grad(z.float().square().sum(), given))
    for one, other in zip(*grads, strict=True):
        size = other.float().abs().max().item()
        torch.testing.assert_close(one.cpu(), other, rtol=5e-2, atol=2e-2 * size)


@pytest.mark.parametrize("call", ["ops", "out", "operator", "training"])
def test_graph_replays_with_changed_inputs(call):
    x, weight, out = t(32, 1024), t(1024), t(32, 1024)

    def run():
        if call == "ops":
            return ops.rms_norm(x, weight)
        if call == "out":
            return ops.rms_norm(x, weight, out=out)
        if call == "operator":
            return K.rms_norm(x, weight)
        leaf = x.detach().requires_grad_()
        return torch.autograd.grad(ops.rms_norm(leaf, weight).sum(), leaf)[0]

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        run()  # chooses, compiles and loads
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = run()
    for _ in range(3):
        x.copy_(t(32, 1024))
        graph.replay()
        got = captured.clone()
        assert torch.equal(got, run())


def test_work_is_on_the_current_stream():
    x, weight = t(8192, 4096), t(4096)
    stream = torch.cuda.Stream()
    wanted = ops.rms_norm(x * 2, weight)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        y = x * 2
        got = ops.rms_norm(y, weight)
    stream.synchronize()
    assert torch.equal(got, wanted)


def test_refuses_mixed_devices():
    out = torch.zeros(4, 64)
    with pytest.raises(TypeError, match="rms_norm: "):
        ops.rms_norm(t(4, 64), torch.ones(64))
    with pytest.raises(TypeError, match="rms_norm: "):
        K.rms_norm(t(4, 64), torch.ones(64))
    with pytest.raises(TypeError, match="rms_norm: "):
        ops.rms_norm(t(4, 64, dtype=torch.float32), out=out)
    assert not out.any()


def test_compiled_is_eager():
    def function(x, weight):
        return ops.rms_norm(x * 2, weight) + 1

    x, weight = t(64, 512), t(512)
    compiled = torch.compile(function, fullgraph=True)
    torch.testing.assert_close(compiled(x, weight), function(x, weight))
    graphed = torch.compile(function, fullgraph=True, mode="reduce-overhead")
    for _ in range(4):
        x.copy_(t(64, 512))
        torch.testing.assert_close(graphed(x, weight).clone(), function(x, weight))


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="one CUDA device only")
def test_a_device_that_is_not_the_current_one():
    x = torch.randn(8, 64, device="cuda:1")
    got = ops.rms_norm(x)
    assert got.device == x.device
    torch.testing.assert_close(got.cpu(), ops.rms_norm(x.cpu()))
