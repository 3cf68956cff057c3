#pragma once

// What NVRTC knows without any header, declared for clangd where no CUDA toolkit is installed:
// `einkorn clangd` includes it before every device source then. Only editors read it: nothing is
// compiled with it.
//
// The keywords and built-in variables are attributes and headers of clang itself, and so is most of
// the mathematics; vector types, and the functions that clang takes from the toolkit, are declared
// here. Tried with clangd 14, 16, 19 and 22.

#if defined(__clang__) && defined(__CUDA__)

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
// Without a counterpart in older clang; they change nothing that an editor shows.
#define __grid_constant__
#define __block_size__(...)
#define __cluster_dims__(...)
#define __maxnreg__(count)
#define __nv_pure__

// What clang's headers are told they are used with; they refuse versions before 9.0.
#define CUDA_VERSION 12080
// Should a toolkit's headers be found all the same: these types are here already.
#define __VECTOR_TYPES_H__
#define __VECTOR_FUNCTIONS_H__

#define EK_VECTOR_TYPES(element, name, bytes)                                                     \
  struct name##1 { element x; };                                                                  \
  struct __align__(2 * bytes) name##2 { element x, y; };                                          \
  struct name##3 { element x, y, z; };                                                            \
  struct __align__(4 * bytes < 16 ? 4 * bytes : 16) name##4 { element x, y, z, w; };              \
  __host__ __device__ inline name##1 make_##name##1(element x) { return {x}; }                    \
  __host__ __device__ inline name##2 make_##name##2(element x, element y) { return {x, y}; }      \
  __host__ __device__ inline name##3 make_##name##3(element x, element y, element z) {            \
    return {x, y, z};                                                                             \
  }                                                                                               \
  __host__ __device__ inline name##4 make_##name##4(element x, element y, element z, element w) { \
    return {x, y, z, w};                                                                          \
  }
EK_VECTOR_TYPES(signed char, char, 1)
EK_VECTOR_TYPES(unsigned char, uchar, 1)
EK_VECTOR_TYPES(short, short, 2)
EK_VECTOR_TYPES(unsigned short, ushort, 2)
EK_VECTOR_TYPES(int, int, 4)
EK_VECTOR_TYPES(unsigned int, uint, 4)
EK_VECTOR_TYPES(long, long, 8)
EK_VECTOR_TYPES(unsigned long, ulong, 8)
EK_VECTOR_TYPES(long long, longlong, 8)
EK_VECTOR_TYPES(unsigned long long, ulonglong, 8)
EK_VECTOR_TYPES(float, float, 4)
EK_VECTOR_TYPES(double, double, 8)
#undef EK_VECTOR_TYPES

struct dim3 {
  unsigned int x, y, z;
  __host__ __device__ constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1)
      : x(x_), y(y_), z(z_) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return {x, y, z}; }
};

// Clang's own CUDA headers, in the order of its __clang_cuda_runtime_wrapper.h.
#include <__clang_cuda_math_forward_declares.h>

#include <cassert>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <__clang_cuda_builtin_vars.h>
#include <__clang_cuda_libdevice_declares.h>

#include <__clang_cuda_device_functions.h>
#include <__clang_cuda_math.h>

// For architectures from sm_70 on its intrinsics include the toolkit: those are declared below.
#pragma push_macro("__CUDA_ARCH__")
#undef __CUDA_ARCH__
#define __CUDA_ARCH__ 600
typedef unsigned int cuuint32_t;
#include <__clang_cuda_intrinsics.h>
#pragma pop_macro("__CUDA_ARCH__")

template <class T>
__device__ unsigned int __match_any_sync(unsigned int mask, T value);
template <class T>
__device__ unsigned int __match_all_sync(unsigned int mask, T value, int* predicate);
#define EK_REDUCTIONS(type)                                         \
  __device__ type __reduce_add_sync(unsigned int mask, type value); \
  __device__ type __reduce_min_sync(unsigned int mask, type value); \
  __device__ type __reduce_max_sync(unsigned int mask, type value);
EK_REDUCTIONS(int)
EK_REDUCTIONS(unsigned int)
#undef EK_REDUCTIONS
__device__ unsigned int __reduce_and_sync(unsigned int mask, unsigned int value);
__device__ unsigned int __reduce_or_sync(unsigned int mask, unsigned int value);
__device__ unsigned int __reduce_xor_sync(unsigned int mask, unsigned int value);

extern "C" {
__device__ int printf(const char* format, ...);
__device__ void __assert_fail(const char* condition, const char* file, unsigned int line,
                              const char* function) __attribute__((noreturn));
}
__device__ int __dp4a(int a, int b, int c);
__device__ unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c);
__device__ int __dp2a_lo(int a, int b, int c);
__device__ int __dp2a_hi(int a, int b, int c);
__device__ unsigned int __dp2a_lo(unsigned int a, unsigned int b, unsigned int c);
__device__ unsigned int __dp2a_hi(unsigned int a, unsigned int b, unsigned int c);
__device__ void __nanosleep(unsigned int ns);
__device__ std::size_t __cvta_generic_to_shared(const void* address);
__device__ std::size_t __cvta_generic_to_global(const void* address);
__device__ std::size_t __cvta_generic_to_local(const void* address);
__device__ std::size_t __cvta_generic_to_constant(const void* address);
__device__ std::size_t __cvta_generic_to_grid_constant(const void* address);
__device__ void* __cvta_shared_to_generic(std::size_t address);
__device__ void* __cvta_global_to_generic(std::size_t address);
__device__ void* __cvta_local_to_generic(std::size_t address);
__device__ void* __cvta_constant_to_generic(std::size_t address);

// As templates: which types each takes depends on the architecture, which is the compiler's
// concern.
#define EK_ATOMIC(name)                           \
  template <class T, class V>                     \
  __device__ T name(T* address, V value);         \
  template <class T, class V>                     \
  __device__ T name##_block(T* address, V value); \
  template <class T, class V>                     \
  __device__ T name##_system(T* address, V value);
EK_ATOMIC(atomicAdd)
EK_ATOMIC(atomicSub)
EK_ATOMIC(atomicExch)
EK_ATOMIC(atomicMin)
EK_ATOMIC(atomicMax)
EK_ATOMIC(atomicInc)
EK_ATOMIC(atomicDec)
EK_ATOMIC(atomicAnd)
EK_ATOMIC(atomicOr)
EK_ATOMIC(atomicXor)
#undef EK_ATOMIC
template <class T, class V, class W>
__device__ T atomicCAS(T* address, V compare, W value);
template <class T, class V, class W>
__device__ T atomicCAS_block(T* address, V compare, W value);
template <class T, class V, class W>
__device__ T atomicCAS_system(T* address, V compare, W value);

#endif
