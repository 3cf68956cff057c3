"""What the tests of einkorn.jit share."""

import os
import pathlib
import tempfile
from typing import Any

import pytest

# Before the library is first asked: what these tests compile stays out of the user's cache.
os.environ.setdefault("EINKORN_CACHE_DIR", tempfile.mkdtemp(prefix="einkorn_test_jit_"))

jit = pytest.importorskip("einkorn.jit")

SOURCE = pathlib.Path(__file__).resolve().parents[2]
ADD_CONSTANT = SOURCE / "examples" / "jit_kernel" / "add_constant.cuh"

SCALE = r"""
#include <cstdint>
#include <stdexcept>

// Not exported, and a template: found by the expression alone.
template <class T, int kFactor>
static void scale(T* dst, const T* src, long n) {
  for (long i = 0; i < n; ++i) dst[i] = src[i] * kFactor;
}

namespace kernels {
void fill(float* dst, float value, bool negate, int count) noexcept {
  for (int i = 0; i < count; ++i) dst[i] = negate ? -value : value;
}
}  // namespace kernels

extern "C" void count_nulls(std::int64_t* out, const float* a, void* b) {
  *out = (a == nullptr) + (b == nullptr);
}

struct Pair { int first; float second; };
void take_pair(float* out, Pair pair) { *out = pair.first * pair.second; }
void take_reference(float& out, const float& in) { out = 2 * in; }
void throws(int which) {
  if (which == 0) throw std::invalid_argument("from inside");
  throw which;
}
int returns(int x) { return x; }
void takes_bits(std::uint64_t* out, std::uint64_t value, std::uint8_t small) {
  *out = value + small;
}
void nothing() {}
template <class T> void twice(T* x) { *x = 2 * *x; }
void clear(void* x, int bytes) { __builtin_memset(x, 0, bytes); }
"""


def cpu(entry: str, **settings: Any) -> Any:
    return jit.load("scale", cpp_source=SCALE, entry=entry, **settings)


def gpu_is_here() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())
