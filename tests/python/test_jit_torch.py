"""einkorn.jit with PyTorch: tensors, torch.compile, operators, and launches where a GPU is."""

import copy
import shutil
from typing import Any

import pytest
from interpreter import works
from jit_sources import ADD_CONSTANT, SOURCE, cpu, gpu_is_here, jit

np = pytest.importorskip("numpy")
pytest.importorskip("torch")


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


@pytest.fixture
def scale() -> Any:
    return cpu("scale<float, 3>")


def test_tensors_of_pytorch(torch: Any, scale: Any) -> None:
    src = torch.arange(6, dtype=torch.float32)
    dst = torch.zeros(6)
    scale(dst, src, 6)
    assert torch.equal(dst, 3 * src)
    scale(dst[2:], src[1:], 2)  # of a view, the first element
    assert dst.tolist() == [0, 3, 3, 6, 12, 15]
    scale(torch.nn.Parameter(dst, requires_grad=False), np.ones(1, np.float32), 1)
    assert dst[0] == 3
    with pytest.raises(TypeError, match="expected f32, got bf16"):
        scale(dst, src.bfloat16(), 6)


def test_tensors_that_a_kernel_cannot_take(torch: Any, scale: Any) -> None:
    good = torch.zeros(4)
    needs_grad = torch.ones(4, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"argument 2 .*requires no gradient"):
        scale(good, needs_grad, 4)
    with torch.no_grad():
        scale(good, needs_grad, 4)
    assert good.tolist() == [3] * 4
    with pytest.raises(TypeError, match="plain memory"):
        scale(good, good.to_sparse(), 4)
    with pytest.raises(TypeError, match=r"plain memory.*meta"):
        scale(good, torch.zeros(4, device="meta"), 4)
    with pytest.raises(ValueError, match="negated view"):
        scale(good, torch.zeros(4, dtype=torch.complex64).conj().imag, 4)
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode() as mode, pytest.raises(TypeError, match="FakeTensor"):
        scale(good, mode.from_tensor(good), 4)


@pytest.fixture
def no_inductor(torch: Any) -> Any:
    torch._dynamo.reset()
    return "aot_eager"  # no C++ compiler of Inductor's is needed


def test_a_plain_call_breaks_the_graph_and_works(torch: Any, scale: Any, no_inductor: str) -> None:
    def step(x: Any) -> Any:
        y = torch.empty_like(x)
        scale(y, x.sin(), x.numel())
        scale.launch(y, y + 1, x.numel())
        return y + 1

    compiled = torch.compile(step, backend=no_inductor)
    for size in (5, 7):
        x = torch.arange(size, dtype=torch.float32)
        assert torch.allclose(compiled(x), step(x))
    torch._dynamo.reset()  # or the code with the break would be found again
    with pytest.raises(Exception, match="as_custom_op"):
        torch.compile(step, backend=no_inductor, fullgraph=True)(x)


def test_a_plain_call_under_compile_raises_its_own_error(
    torch: Any, scale: Any, no_inductor: str
) -> None:
    step = torch.compile(lambda x: scale(x, x.double(), 1), backend=no_inductor)
    with pytest.raises(TypeError, match="expected f32, got f64"):
        step(torch.zeros(1))
    step = torch.compile(lambda x: scale(x, x, 1, gird=1), backend=no_inductor)
    with pytest.raises(
        TypeError, match=r"^scale<float, 3>: expected no argument by the name 'gird'"
    ):
        step(torch.zeros(1))


def test_a_custom_op_is_traced_whole(torch: Any, scale: Any, no_inductor: str) -> None:
    operator = scale.as_custom_op("einkorn_test::scale3", arguments=("dst", "src", "n"))

    def step(x: Any) -> Any:
        y = torch.empty_like(x)
        operator(y, x.sin(), x.numel())
        return y + 1

    compiled = torch.compile(step, backend=no_inductor, fullgraph=True)
    for size in (5, 7, 9):
        x = torch.arange(size, dtype=torch.float32)
        assert torch.allclose(compiled(x), 3 * x.sin() + 1)
    x = torch.ones(3)
    torch.library.opcheck(operator, (torch.empty(3), x, 3))
    schema = str(torch.ops.einkorn_test.scale3.default._schema)
    assert schema == "einkorn_test::scale3(Tensor(a0!) dst, Tensor src, SymInt n) -> ()"


def test_schemas_of_custom_ops(torch: Any) -> None:
    fill = cpu("kernels::fill")
    fill.as_custom_op("einkorn_test::fill", arguments=("dst", "value", "negate", "n"))
    schema = str(torch.ops.einkorn_test.fill.default._schema)
    assert schema.endswith("(Tensor(a0!) dst, float value, bool negate, SymInt n) -> ()")
    nulls = cpu("count_nulls").as_custom_op(
        "einkorn_test::nulls", arguments=("out", "a?", "b?"), mutates=("out",)
    )
    out = torch.zeros(1, dtype=torch.int64)
    nulls(out, None, torch.zeros(1))
    assert out[0] == 1
    with pytest.raises(ValueError, match="expected a name for each of 4 parameters"):
        fill.as_custom_op("einkorn_test::no", arguments=("dst",))
    with pytest.raises(ValueError, match="different identifiers"):
        fill.as_custom_op("einkorn_test::no", arguments=("a", "a", "b", "c"))
    with pytest.raises(ValueError, match="mutates: expected some of"):
        cpu("scale<float, 3>").as_custom_op(
            "einkorn_test::no", arguments=("dst", "src", "n"), mutates=("src",)
        )
    with pytest.raises(TypeError, match="parameter 2: expected a pointer or a number"):
        cpu("take_pair").as_custom_op("einkorn_test::no", arguments=("out", "pair"))


def test_loading_does_not_import_the_compiler_of_pytorch() -> None:
    code = (
        "import sys, torch, einkorn.jit; "
        "k = einkorn.jit.load('k', cpp_source='void k(float* x) { *x = 1; }', entry='k'); "
        "k(torch.zeros(1)); assert 'torch._dynamo' not in sys.modules"
    )
    works("-c", code)


def test_the_example_in_the_readme_runs() -> None:
    said = works(str(SOURCE / "examples" / "python" / "jit_inline.py"))
    assert said.startswith("<einkorn cuda kernel scale<float, 3>(float*, float const*, int)> ")
    assert "dst[999] = 2997.0" in said or not gpu_is_here()


# Host and device code in one source.

MODULE = r"""
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/string.h>

namespace {
__global__ void add(float* x, float value) { x[threadIdx.x] += value; }

void fill(tvm::ffi::TensorView out, double value) {
  if (out.ndim() != 1) TVM_FFI_THROW(ValueError) << "out rank: expected 1, got " << out.ndim();
  for (int64_t i = 0; i < out.size(0); ++i) static_cast<float*>(out.data_ptr())[i] = value;
}
tvm::ffi::String greet(tvm::ffi::String name) { return "hello " + std::string(name); }
}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(fill, fill);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(greet, greet);
"""


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
def test_host_and_device_code(torch: Any, no_inductor: str) -> None:
    module = jit.load("module", ffi_source=MODULE, arch="sm_90a")
    assert jit.load("module", ffi_source=MODULE, arch="sm_90a") is module
    assert set(module.functions) == {"fill", "greet"} <= set(dir(module))
    out = np.zeros(3, np.float32)
    module.fill(out, 1.5)
    assert out.tolist() == [1.5] * 3
    tensor = torch.zeros(2)
    torch.compile(lambda x: module.fill(x, 2.0), backend=no_inductor)(tensor)
    assert tensor.tolist() == [2, 2]
    assert module.greet("you") == "hello you"
    assert copy.deepcopy(module) is module
    with pytest.raises(TypeError, match=r"module: fill: .*name 'out'\n  hint: .*function's order"):
        module.fill(out=out, value=1.0)
    with pytest.raises(ValueError, match="parameters: expected kernels, got a module"):
        module.compiled.parameters("fill")
    with pytest.raises(ValueError, match="out rank: expected 1, got 2"):
        module.fill(torch.zeros(1, 1), 0.0)
    with pytest.raises(AttributeError, match=r"got 'missing'\n  exported: fill, greet"):
        module.missing  # noqa: B018
    out.flags.writeable = False
    with pytest.raises(ValueError, match=r"module: fill: argument 1: .* read-only"):
        module.fill(out, 0.0)


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
def test_modules_without_an_arch_or_without_functions() -> None:
    host = MODULE.replace(
        "__global__ void add(float* x, float value) { x[threadIdx.x] += value; }", ""
    )
    assert "__global__" not in host
    if gpu_is_here():
        pytest.skip("there is a GPU, whose arch is taken")
    assert jit.load("module", ffi_source=host).greet("you") == "hello you"
    for device in (MODULE, host + "__device__ int variable;\n"):
        with pytest.raises(
            ValueError, match="arch: expected one such as sm_90a where no device is"
        ):
            jit.load("module", ffi_source=device)
    with pytest.raises(RuntimeError, match=r"no GPU is here, so sm_80 was taken"):
        jit.load("module", ffi_source="int f() { return nowhere; }")
    with pytest.raises(ValueError, match=r"m: expected a module that exports .*\n.*_TYPED_FUNC"):
        jit.load("m", ffi_source="int f() { return 1; }")


# The GPU.


def test_a_launch_without_a_gpu_says_why() -> None:
    if gpu_is_here():
        pytest.skip("there is a GPU")
    add = jit.load("add", cuda=ADD_CONSTANT, entry="add_constant<int, 4>", arch="sm_90a")
    array = np.zeros(4, np.int32)
    named = r"^add_constant<int, 4>: cannot be loaded: .*(libcuda|driver|device)"
    with pytest.raises(RuntimeError, match=named):
        add(array, array, 4, grid=1, block=4)
    with pytest.raises(RuntimeError, match=named):
        add.prepare(block=4)
    with pytest.raises(TypeError, match="grid: expected one to three integers"):
        add(array, array, 4, grid=(1, 1, 1, 1), block=4)
    with pytest.raises(ValueError, match=r"^add_constant<int, 4>: block: expected a size"):
        add(array, array, 4, grid=1, block=-1)
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'grid'"):
        add(array, array, 4, block=4)


needs_gpu = pytest.mark.skipif(
    not gpu_is_here(), reason="needs a GPU and a build of PyTorch that sees it"
)


@pytest.fixture
def add_four() -> Any:
    return jit.load("add", cuda=ADD_CONSTANT, entry="add_constant<int, 4>")


@needs_gpu
def test_launch_on_tensors(torch: Any, add_four: Any) -> None:
    src = torch.arange(1000, dtype=torch.int32, device="cuda")
    dst = torch.zeros_like(src)
    add_four(dst, src, 1000, grid=4, block=256)
    assert torch.equal(dst, src + 4)
    add_four.launch(dst[1:], src, 999, grid=(4, 1), block=(256, 1, 1))
    assert torch.equal(dst[1:], src[:999] + 4)
    add_four(dst.zero_(), src, 1000, grid=0, block=256)
    assert not dst.any()


@needs_gpu
def test_launch_errors(torch: Any, add_four: Any) -> None:
    src = torch.arange(8, dtype=torch.int32, device="cuda")
    with pytest.raises(TypeError, match=r"argument 2 \(int const\*\) dtype: expected i32, got f32"):
        add_four(src, src.float(), 8, grid=1, block=8)
    with pytest.raises(TypeError, match="device: expected cuda:0, got cpu"):
        add_four(src, src.cpu(), 8, grid=1, block=8)
    with pytest.raises(ValueError, match="block"):
        add_four(src, src, 8, grid=1, block=4096)
    with pytest.raises(ValueError, match="device: expected a tensor that tells it"):
        add_four(None, None, 0, grid=1, block=8)
    add_four(None, None, 0, grid=1, block=8, device=0)
    torch.cuda.synchronize()
    assert src.tolist() == list(range(8))


@needs_gpu
def test_launches_go_to_the_current_stream(torch: Any, add_four: Any) -> None:
    src = torch.zeros(1 << 20, dtype=torch.int32, device="cuda")
    dst = torch.zeros_like(src)
    stream = torch.cuda.Stream()
    add_four.prepare(block=256)
    stream.wait_stream(torch.cuda.current_stream())
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):  # only what is on the stream is captured
        add_four(dst, src, src.numel(), grid=src.numel() // 256, block=256)
    torch.cuda.synchronize()
    assert not dst.any()
    src += 1
    graph.replay()
    torch.cuda.synchronize()
    assert bool((dst == 5).all())


@needs_gpu
def test_custom_op_on_a_gpu(torch: Any, add_four: Any, no_inductor: str) -> None:
    operator = add_four.as_custom_op(
        "einkorn_test::add_four",
        arguments=("dst", "src", "n"),
        grid=lambda dst, src, n: (n + 255) // 256,
        block=256,
    )

    def step(x: Any) -> Any:
        y = torch.empty_like(x)
        operator(y, x * 2, x.numel())
        return y + 1

    x = torch.arange(1000, dtype=torch.int32, device="cuda")
    assert torch.equal(torch.compile(step, backend=no_inductor, fullgraph=True)(x), 2 * x + 5)
    torch.library.opcheck(operator, (torch.empty_like(x), x, 1000))


def test_extern_c_kernels_take_numbers_of_the_parameters_size() -> None:
    source = 'extern "C" __global__ void k(float* x, float a, int n) { if (n) *x = a; }'
    kernel = jit.load("k", cuda_source=source, entry="k", arch=None if gpu_is_here() else "sm_90a")
    assert [(one.kind, one.type, one.bytes) for one in kernel.parameters] == [
        ("other", "", 8),
        ("other", "", 4),
        ("other", "", 4),
    ]
    if gpu_is_here():
        import torch

        x = torch.zeros(1, device="cuda")
        kernel(x, 0.5, 1, grid=1, block=1)
        assert x.item() == 0.5
