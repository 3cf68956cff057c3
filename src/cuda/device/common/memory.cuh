#pragma once

// Memory that threads of several blocks share: loads and stores with an order, fences, atomic
// addition (PTX ISA, "Memory consistency model"). Cache hints are in cache.cuh, included here.

#include "src/cuda/device/common/cache.cuh"
#include "src/cuda/device/common/types.cuh"

namespace einkorn {

/// The threads among which an order holds: of the block, of the device, of all devices and hosts.
enum class Scope { kBlock, kDevice, kSystem };

namespace memory_detail {

template <Scope kScope>
struct Ordered;

#define EK_ORDERED_LOAD(function, order, scope, type, suffix, constraint) \
  __device__ static type function(const type* p) {                        \
    type v;                                                               \
    asm volatile("ld." order "." scope "." suffix " %0, [%1];"            \
                 : "=" constraint(v)                                      \
                 : "l"(p)                                                 \
                 : "memory");                                             \
    return v;                                                             \
  }
#define EK_ORDERED_STORE(function, order, scope, type, suffix, constraint)             \
  __device__ static void function(type* p, type v) {                                   \
    asm volatile("st." order "." scope "." suffix " [%0], %1;" ::"l"(p), constraint(v) \
                 : "memory");                                                          \
  }
#define EK_ORDERED(value, scope)                                                            \
  template <>                                                                               \
  struct Ordered<value> {                                                                   \
    EK_ORDERED_LOAD(load_relaxed, "relaxed", scope, u32, "u32", "r")                        \
    EK_ORDERED_LOAD(load_relaxed, "relaxed", scope, u64, "u64", "l")                        \
    EK_ORDERED_LOAD(load_acquire, "acquire", scope, u32, "u32", "r")                        \
    EK_ORDERED_LOAD(load_acquire, "acquire", scope, u64, "u64", "l")                        \
    EK_ORDERED_STORE(store_relaxed, "relaxed", scope, u32, "u32", "r")                      \
    EK_ORDERED_STORE(store_relaxed, "relaxed", scope, u64, "u64", "l")                      \
    EK_ORDERED_STORE(store_release, "release", scope, u32, "u32", "r")                      \
    EK_ORDERED_STORE(store_release, "release", scope, u64, "u64", "l")                      \
    __device__ static void fence_acq_rel() {                                                \
      asm volatile("fence.acq_rel." scope ";" ::: "memory");                                \
    }                                                                                       \
    __device__ static void fence_sc() { asm volatile("fence.sc." scope ";" ::: "memory"); } \
  };
EK_ORDERED(Scope::kBlock, "cta")
EK_ORDERED(Scope::kDevice, "gpu")
EK_ORDERED(Scope::kSystem, "sys")
#undef EK_ORDERED
#undef EK_ORDERED_STORE
#undef EK_ORDERED_LOAD

/// Unsigned integer as wide as T: 4 or 8 bytes.
template <int kBytes>
struct Word;
template <>
struct Word<4> {
  using Type = u32;
};
template <>
struct Word<8> {
  using Type = u64;
};
template <class T>
using WordOf = typename Word<sizeof(T)>::Type;

}  // namespace memory_detail

/// A value of 4 or 8 bytes, whole and not from a stale L1, with no order among other accesses. T is
/// any such type; global or shared memory, aligned to its size.
template <Scope kScope = Scope::kDevice, class T>
__device__ inline T load_relaxed(const T* address) {
  using W = memory_detail::WordOf<T>;
  return __builtin_bit_cast(
      T, memory_detail::Ordered<kScope>::load_relaxed(reinterpret_cast<const W*>(address)));
}

/// As load_relaxed; what another thread did before its store_release of the value read is visible
/// to all later accesses of this one.
template <Scope kScope = Scope::kDevice, class T>
__device__ inline T load_acquire(const T* address) {
  using W = memory_detail::WordOf<T>;
  return __builtin_bit_cast(
      T, memory_detail::Ordered<kScope>::load_acquire(reinterpret_cast<const W*>(address)));
}

template <Scope kScope = Scope::kDevice, class T>
__device__ inline void store_relaxed(T* address, T value) {
  using W = memory_detail::WordOf<T>;
  memory_detail::Ordered<kScope>::store_relaxed(reinterpret_cast<W*>(address),
                                                __builtin_bit_cast(W, value));
}

/// All earlier accesses of this thread come before the store. For those of the block, put
/// __syncthreads() in front and let one thread store.
template <Scope kScope = Scope::kDevice, class T>
__device__ inline void store_release(T* address, T value) {
  using W = memory_detail::WordOf<T>;
  memory_detail::Ordered<kScope>::store_release(reinterpret_cast<W*>(address),
                                                __builtin_bit_cast(W, value));
}

/// Adds, as store_release stores. Of several threads' adds whoever reads the last one's by
/// load_acquire sees what all of them did before.
__device__ inline void add_release(u32* address, u32 value) {
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

/// Neither left out, merged nor repeated by the compiler; as strong as relaxed at system scope.
template <class T>
__device__ inline T load_volatile(const T* address) {
  return *static_cast<const volatile T*>(address);
}
template <class T>
__device__ inline void store_volatile(T* address, T value) {
  *static_cast<volatile T*>(address) = value;
}

/// Orders this thread's accesses before it against those after it, as others see them.
template <Scope kScope = Scope::kDevice>
__device__ inline void fence_acq_rel() {
  memory_detail::Ordered<kScope>::fence_acq_rel();
}
/// The slower one, in a single order that all threads agree on.
template <Scope kScope = Scope::kDevice>
__device__ inline void fence_sc() {
  memory_detail::Ordered<kScope>::fence_sc();
}

/// Adds and returns the value before; global or shared memory, no order among other accesses. The
/// order of several threads' additions is not fixed, so sums of floats do not repeat bit by bit; in
/// global memory subnormals count as 0 (PTX ISA, "atom").
template <Scope kScope = Scope::kDevice>
__device__ inline float atomic_add(float* address, float value) {
  if constexpr (kScope == Scope::kBlock) {
    return atomicAdd_block(address, value);
  } else if constexpr (kScope == Scope::kDevice) {
    return atomicAdd(address, value);
  } else {
    return atomicAdd_system(address, value);
  }
}

}  // namespace einkorn
