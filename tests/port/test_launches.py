import port_trees
from einkorn.port.launches.find import launches_of

KERNELS = """\
    template <typename T> __global__ void scale(T* x) {}
    __global__ void add(float* x) {}
    template <typename F> __global__ void generic(F f) {}
"""


def launches(tmp_path, text, name="run"):
    index = port_trees.index_of(tmp_path, {"k.cuh": KERNELS, "a.cu": text})
    found = [one for function in index.named(name) for one in launches_of(index, function)]
    return found, index


def test_triple_angles(tmp_path):
    found, _ = launches(
        tmp_path,
        """\
        void run(float* x, cudaStream_t stream) {
          dim3 grid(n / 4, 2);
          scale<float><<<grid, 128>>>(x);
          ns::add<<<dim3(1), 32, 64, stream>>>(x);
        }
        """,
    )
    assert [
        (one.kernel, one.line, one.grid, one.block, one.shared, one.stream) for one in found
    ] == [
        ("scale<float>", 3, "grid = dim3(n / 4, 2)", "128", "0", ""),
        ("ns::add", 4, "dim3(1)", "32", "64", "stream"),
    ]
    assert {one.function for one in found} == {"run"}


def test_a_kernel_in_a_variable_and_its_attributes(tmp_path):
    found, _ = launches(
        tmp_path,
        """\
        void run(float* x, bool wide) {
          int smem = 100;
          if (wide) smem = 200;
          [&] {
            auto k = &scale<float4>;
            CHECK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, smem));
            k<<<1, 2, smem>>>(x);
          }();
          [&] {
            auto k = wide ? scale<float2> : scale<float>;
            k<<<3, 4>>>(x);
          }();
        }
        """,
    )
    assert [(one.kernel, one.grid, one.shared) for one in found] == [
        ("scale<float4>", "1", "smem = 100 or 200"),
        ("scale<float2>", "3", "0"),
        ("scale<float>", "3", "0"),
    ]
    assert found[0].attributes == (
        "cudaFuncAttributeMaxDynamicSharedMemorySize = smem = 100 or 200",
    )
    assert found[1].attributes == ()


def test_runtime_and_driver_calls(tmp_path):
    found, _ = launches(
        tmp_path,
        """\
        void run(float* x, cudaStream_t s, CUfunction f) {
          void* args[] = {&x};
          cudaLaunchKernel((void*)scale<float>, grid, block, args, 16, s);
          cudaLaunchCooperativeKernel((const void*)&add, 8, 64, args, 0, s);
          cuLaunchKernel(f0, 1, 2, 3, 4, 5, 6, 7, s, args, nullptr);
        }
        """,
    )
    assert [(one.kernel, one.grid, one.block, one.shared, one.stream) for one in found] == [
        ("scale<float>", "grid", "block", "16", "s"),
        ("add", "8", "64", "0", "s"),
        ("f0", "1, 2, 3", "4, 5, 6", "7", "s"),
    ]
    assert found[1].attributes == ("cooperative",)


def test_configurations(tmp_path):
    found, _ = launches(
        tmp_path,
        """\
        void run(float* x, cudaStream_t s) {
          cudaLaunchAttribute attrs[1];
          attrs[0].id = cudaLaunchAttributeClusterDimension;
          attrs[0].val.clusterDim.x = 2;
          cudaLaunchConfig_t config{};
          config.gridDim = dim3(n);
          config.blockDim = 64;
          config.dynamicSmemBytes = 128;
          config.stream = s;
          config.attrs = attrs;
          cudaLaunchKernelEx(&config, scale<float>, x);
          cudaLaunchConfig_t other = {1, 2, 3, s};
          cudaLaunchKernelEx(&other, add, x);
          cutlass::ClusterLaunchParams params = {dim3(4), dim3(5), dim3(2, 1, 1), 6, s};
          cutlass::launch_kernel_on_cluster(params, (void*)add, x);
        }
        """,
    )
    assert [(one.kernel, one.grid, one.block, one.shared, one.stream) for one in found] == [
        ("scale<float>", "dim3(n)", "64", "128", "s"),
        ("add", "1", "2", "3", "s"),
        ("add", "dim3(4)", "dim3(5)", "6", "s"),
    ]
    assert found[0].attributes == ("cudaLaunchAttributeClusterDimension, clusterDim.x = 2",)
    assert found[2].attributes == ("cluster = dim3(2, 1, 1)",)


LAUNCHER = """\
    struct LaunchKernel {
      LaunchKernel(dim3 grid_dim, dim3 block_dim, DLDevice device, size_t shared_bytes = 0) {}
      LaunchKernel& enable_pdl(bool on) { return *this; }
      template <typename K, typename... A> void operator()(K&& kernel, A&&... args) const {
        cudaLaunchKernelEx(&config_, kernel, args...);
      }
    };
"""


def test_launcher_objects(tmp_path):
    text = (
        LAUNCHER
        + """\
    void run(float* x) {
      LaunchKernel(n / 4, 256, device)(scale<float>, x);
      LaunchKernel(n, 64, device, 32).enable_pdl(kPdl)(add, x);
      LaunchKernel launcher(7, 8, device);
      launcher(add, x);
      notify(add_all, x);
    }
    """
    )
    found, index = launches(tmp_path, text)
    assert [(one.kernel, one.grid, one.block, one.shared, one.stream) for one in found] == [
        ("scale<float>", "n / 4", "256", "0", "device"),
        ("add", "n", "64", "32", "device"),
        ("add", "7", "8", "0", "device"),
    ]
    assert found[1].attributes == ("enable_pdl(kPdl)",)
    wrapper = index.named("LaunchKernel::operator()")[0]
    assert launches_of(index, wrapper) == []
    assert "launches the kernel it is given as 'kernel'" in index.sources.gaps[-1].what


def test_helpers_that_are_given_the_kernel(tmp_path):
    text = """\
        template <typename K> void submit(K kernel, int blocks, int threads, float* x) {
          kernel<<<blocks, threads>>>(x);
        }
        void run(float* x) {
          submit(scale<float>, 5, 6, x);
          occupancy(scale<float>, 128);
        }
        """
    found, _ = launches(tmp_path, text)
    assert [(one.kernel, one.line, one.grid, one.block) for one in found] == [
        ("scale<float>", 5, "5", "6")
    ]


def test_launches_in_macros_and_dispatches(tmp_path):
    text = """\
        #define LAUNCH(T, N)                      \\
          do {                                    \\
            scale<T><<<N, 32, 0, stream>>>(x);    \\
          } while (0)
        #define LAUNCH_BOTH LAUNCH(float, 1); LAUNCH(half, 2)
        void run(float* x) {
          LAUNCH_BOTH;
          AT_DISPATCH_ALL(x.type(), "run", [&] { scale<scalar_t><<<3, 32>>>(x); });
          // scale<commented><<<4, 32>>>(x);
        }
        """
    found, _ = launches(tmp_path, text)
    assert [(one.kernel, one.line, one.grid, one.stream) for one in found] == [
        ("scale<float>", 7, "1", "stream"),
        ("scale<half>", 7, "2", "stream"),
        ("scale<scalar_t>", 8, "3", ""),
    ]


def test_device_adapters(tmp_path):
    text = """\
        void run(cudaStream_t stream) {
          using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;
          Gemm gemm;
          gemm.can_implement(args);
          gemm.initialize(args, workspace);
          gemm.run(stream);
        }
        """
    found, _ = launches(tmp_path, text)
    assert [(one.kernel, one.line, one.stream) for one in found] == [
        ("cutlass::gemm::device::GemmUniversalAdapter<Kernel>", 6, "stream")
    ]


def test_a_function_without_launches(tmp_path):
    found, index = launches(tmp_path, "void run() { a << b; f(c < d, e > g); cudaFree(p); }")
    assert found == []
    assert index.sources.gaps == []


def test_a_kernel_in_a_static_member(tmp_path):
    text = """\
        template <typename T> struct Run {
          static constexpr auto kernel = scale<T>;
          static void run(float* x) { kernel<<<1, 2>>>(x); }
        };
        """
    found, _ = launches(tmp_path, text, "Run::run")
    assert [one.kernel for one in found] == ["scale<T>"]


def test_a_kernel_that_a_lambda_chooses(tmp_path):
    text = """\
        void run(float* x, bool wide) {
          auto kernel = [&]() {
            if (wide) return &scale<float4>;
            return &scale<float>;
          }();
          kernel<<<1, 2>>>(x);
          CUfunction loaded = nullptr;
          cuModuleGetFunction(&loaded, module, "name");
          cuLaunchKernel(loaded, 1, 1, 1, 2, 1, 1, 0, stream, args, nullptr);
        }
        """
    found, _ = launches(tmp_path, text)
    assert [one.kernel for one in found] == ["scale<float4>", "scale<float>", "loaded"]
