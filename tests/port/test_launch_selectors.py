"""Kernels that are chosen by functions and tables: one launch for each that may be meant."""

import pytest
from chain_support import of_files
from test_launches import launches

TYPES = """\
    using kernel_t = void (*)(float*);
    template <int N, typename T> __global__ void wide(T* x) {}
"""
# What chooses; the kernel's expression in run; the kernels, in the order of the text.
SELECTORS = {
    "switch": (
        """\
        kernel_t select_kernel(int n) {
          switch (n) {
            case 1: return &wide<1, float>;
            case 2: return wide<2, float>;
            default: return nullptr;
          }
        }
        """,
        "auto kernel = select_kernel(n);",
        ["wide<1, float>", "wide<2, float>"],
    ),
    "variable": (
        """\
        kernel_t select_kernel(int n) {
          kernel_t found = nullptr;
          if (n == 1) found = &wide<1, float>; else found = add;
          return found;
        }
        """,
        "const kernel_t kernel = select_kernel(n);",
        ["wide<1, float>", "add"],
    ),
    "template": (
        """\
        template <typename T, int kN = 4> auto select_kernel(bool on) {
          return on ? &wide<kN, T> : &wide<1, T>;
        }
        """,
        "auto* kernel = select_kernel<half, 8>(n);",
        ["wide<8, half>", "wide<1, half>"],
    ),
    "selector of a selector": (
        """\
        kernel_t inner(int n) { return n ? &add : static_cast<kernel_t>(&scale<float>); }
        kernel_t outer(int n) { if (n > 3) return wide<3, float>; return inner(n); }
        """,
        "auto kernel = outer(n);",
        ["wide<3, float>", "add", "scale<float>"],
    ),
    "method": (
        """\
        struct Selector { static kernel_t get(int n) { return n ? add : scale<float>; } };
        """,
        "kernel_t kernel = Selector::get(n);",
        ["add", "scale<float>"],
    ),
    "macro": (
        """\
        #define CASE(N) case N: return &wide<N, float>;
        kernel_t select_kernel(int n) {
          switch (n) { CASE(1) CASE(2) }
          return nullptr;
        }
        """,
        "auto kernel = select_kernel(n);",
        ["wide<1, float>", "wide<2, float>"],
    ),
    "table": (
        "static const kernel_t kTable[] = {&wide<1, float>, add};\n",
        "auto kernel = kTable[n];",
        ["wide<1, float>", "add"],
    ),
    "table of pairs": (
        "static constexpr std::pair<int, kernel_t> kTable[] = {{1, &add}, {2, scale<float>}};\n",
        "auto kernel = kTable[n].second;",
        ["add", "scale<float>"],
    ),
    "map": (
        "static const std::map<int, kernel_t> kTable = {{1, &add}, {2, &scale<float>}};\n",
        "auto kernel = kTable.at(n);",
        ["add", "scale<float>"],
    ),
    "map found": (
        "static const std::map<int, kernel_t> kTable = {{1, &add}, {2, &scale<float>}};\n",
        "auto it = kTable.find(n);\nauto kernel = it->second;",
        ["add", "scale<float>"],
    ),
    "table in a selector": (
        """\
        kernel_t select_kernel(int n) {
          static const kernel_t table[2] = {add, scale<float>};
          return table[n];
        }
        """,
        "auto kernel = select_kernel(n);",
        ["add", "scale<float>"],
    ),
    "structure": (
        """\
        struct Choice { kernel_t kernel; int shared; };
        Choice choose(int n) { if (n) return {&add, 16}; return Choice{scale<float>, 32}; }
        """,
        "auto choice = choose(n);\nauto kernel = choice.kernel;",
        ["add", "scale<float>"],
    ),
    "field": (
        "struct Choice { kernel_t kernel; int shared; };\n",
        "Choice choice;\nchoice.kernel = &add;\nauto kernel = choice.kernel;",
        ["add"],
    ),
    "function pointer": (
        "",
        "void (*kernel)(float*) = &add;\nif (n) kernel = &scale<float>;",
        ["add", "scale<float>"],
    ),
    "std::function": (
        "",
        "std::function<kernel_t(int)> pick = [](int n) { if (n) return &add; return &scale<int>; };"
        "\nauto kernel = pick(n);",
        ["add", "scale<int>"],
    ),
}
LAUNCHED = (
    "kernel<<<1, 2>>>(x);",
    "cudaLaunchKernel((const void*)kernel, 1, 2, args, 0, s);",
    "cudaLaunchKernel(reinterpret_cast<const void*>(kernel), 1, 2, args, 0, s);",
)


@pytest.mark.parametrize("launched", LAUNCHED)
@pytest.mark.parametrize("kind", SELECTORS)
def test_each_kernel_that_may_be_chosen(tmp_path, kind, launched):
    before, chosen, kernels = SELECTORS[kind]
    found, index = launches(
        tmp_path, f"{TYPES}{before}void run(float* x, int n) {{\n{chosen}\n{launched}\n}}\n"
    )
    assert [(one.kernel, one.grid, one.block) for one in found] == [
        (one, "1", "2") for one in kernels
    ]
    assert index.sources.gaps == []


def test_a_selector_that_is_launched_or_configured_at_once(tmp_path):
    text = (
        TYPES
        + """\
        kernel_t select_kernel(int n) { return n ? add : &scale<float>; }
        void run(float* x, int n) {
          cudaFuncSetAttribute(select_kernel(n), kShared, 64);
          select_kernel(n)<<<3, 4, 64>>>(x);
          cudaLaunchKernelEx(&config, select_kernel(n), x);
        }
        """
    )
    found, _ = launches(tmp_path, text)
    assert [(one.kernel, one.line, one.attributes) for one in found] == [
        ("add", 6, ("kShared = 64",)),
        ("scale<float>", 6, ("kShared = 64",)),
        ("add", 7, ("kShared = 64",)),
        ("scale<float>", 7, ("kShared = 64",)),
    ]


def test_what_a_selector_cannot_tell_stays_as_written(tmp_path):
    text = """\
        void* lookup(int n) { return loaded[n]; }
        void run(float* x, int n) {
          auto kernel = lookup(n);
          kernel<<<1, 2>>>(x);
        }
        """
    found, _ = launches(tmp_path, text)
    assert [one.kernel for one in found] == ["lookup(n)"]


def test_the_chain_reaches_the_kernels_of_a_selector_of_another_file(tmp_path):
    surveyed = of_files(
        tmp_path,
        {
            "k.h": "typedef void (*kernel_t)(float*);\nkernel_t select_kernel(int n);\n",
            "k.cu": '#include "k.h"\n__global__ void one(float* x) {}\n'
            "__global__ void two(float* x) {}\n__global__ void other(float* x) {}\n"
            "kernel_t select_kernel(int n) { return n ? &one : &two; }\n",
            "b.cu": "kernel_t select_kernel(int n, int m) { return &three; }\n",
            "a.cu": '#include "k.h"\nvoid run(float* x, int n) {\n'
            "  auto kernel = select_kernel(n);\n  kernel<<<1, 2>>>(x);\n}\n",
        },
    )
    chain = surveyed.follow("run")
    assert [(one.kernel, one.line) for one in chain.launches] == [("one", 4), ("two", 4)]
    assert [one.symbol for one in chain.kernels] == ["one", "two"]
