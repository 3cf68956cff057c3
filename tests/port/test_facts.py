import port_trees
from einkorn.port.closure.facts import guards_of, state_of

TEXT = """\
    int counter = 0;
    const int kFixed = 3;
    #define ADD(p, v) atomicAdd(p, v)
    __global__ void kernel(float* out) {
      __shared__ float tile[32];
      ADD(out, 1.0f);
      asm volatile("red.global.add.f32 [%0], %1;" ::"l"(out), "f"(1.0f));
    }
    template <typename T> void run(Tensor x, cudaStream_t stream) {
      static int calls = 0;
      static const int limit = kFixed;
      counter += 1;
      if (std::getenv("MODE")) return;
      auto workspace = torch::empty({4}, x.options());
      auto dense = x.contiguous();
      float* raw; cudaMallocAsync(&raw, 16, stream);
      auto owner = new Owner(x);
      std::atomic<int> flag{0};
      curand_init(1, 2, 3, &state);
      cudaStreamSynchronize(stream);
      x.size(0);
    }
"""


def test_state(tmp_path):
    index = port_trees.index_of(tmp_path, {"a.cu": TEXT})
    found = state_of(index, index.functions_in("a.cu"))
    assert [(one.kind, one.line) for one in found] == [
        ("static", 1),
        ("atomic", 6),
        ("atomic", 7),
        ("static", 10),
        ("environment", 13),
        ("allocation", 14),
        ("allocation", 15),
        ("allocation", 16),
        ("allocation", 17),
        ("atomic", 18),
        ("random", 19),
        ("synchronisation", 20),
    ]
    assert found[0].text == "counter, a variable of the file"
    assert found[2].text == "asm red.global.add.f32 [%0],"
    assert found[4].text == 'std::getenv("MODE")'


GUARDS = """\
    #if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    #define FAST 1
    #endif
    #ifdef ENABLE_BF16
    #endif
    #ifndef HEADER_H
    #endif
    template <typename T> void run(Tensor x) {
      static_assert(std::is_same_v<T, half> || std::is_same_v<T, float>);
      if (properties->major < 9) return;
      if (x.dtype() == kFloat16) {}
      if (x.size(0) > 4) {}
      AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "run", [&] { f(x); });
    }
"""


def test_guards(tmp_path):
    index = port_trees.index_of(tmp_path, {"a.cu": GUARDS})
    found = guards_of(index, index.functions_in("a.cu"), ["a.cu"])
    assert [(one.kind, one.condition, one.line) for one in found] == [
        ("architecture", "defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900", 1),
        ("dtype", "defined(ENABLE_BF16)", 4),
        ("dtype", "std::is_same_v<T, half> || std::is_same_v<T, float>", 9),
        ("architecture", "properties->major < 9", 10),
        ("dtype", "x.dtype() == kFloat16", 11),
        ("dtype", 'AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "run")', 13),
    ]


def test_nothing_of_a_pure_function(tmp_path):
    text = "int f(int x) { const int y = x + 1; return y; }"
    index = port_trees.index_of(tmp_path, {"a.cc": text})
    assert state_of(index, index.functions_in("a.cc")) == []
    assert guards_of(index, index.functions_in("a.cc"), ["a.cc"]) == []
