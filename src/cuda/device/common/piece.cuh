#pragma once

// What moves as one access. Without cache.cuh, which most kernels need not wait for, only the
// ordinary and the read-only access; with it all hints.

#include "src/cuda/device/common/types.cuh"

namespace einkorn {

/// How a global access treats the caches.
enum class Cache {
  kDefault,
  kReadOnly,    ///< loads only: the same for the whole kernel and shared by blocks: weights
  kNoAllocate,  ///< takes no place in the L1: read or written once by this multiprocessor
  kEvictFirst,  ///< first to leave the L1
  kStreaming,   ///< first to leave the L1 and the L2: nobody needs it again soon
};

/// What moves as one access.
template <int kBytes>
struct Piece;
template <>
struct Piece<1> {
  using Type = u8;
};
template <>
struct Piece<2> {
  using Type = u16;
};
template <>
struct Piece<4> {
  using Type = u32;
};
template <>
struct Piece<8> {
  using Type = uint2;
};
template <>
struct Piece<16> {
  using Type = uint4;
};

namespace cache_detail {

template <Cache kCache>
struct Access;  // cache.cuh

}  // namespace cache_detail

/// P is the Type of a Piece. With a hint the address must be global memory.
template <Cache kCache, class P>
__device__ inline P load_piece(const P* address) {
  if constexpr (kCache == Cache::kDefault) {
    return *address;
  } else if constexpr (kCache == Cache::kReadOnly) {
    return __ldg(address);
  } else {
    return cache_detail::Access<kCache>::load(address);
  }
}

template <Cache kCache, class P>
__device__ inline void store_piece(P* address, P value) {
  static_assert(kCache != Cache::kReadOnly);
  if constexpr (kCache == Cache::kDefault) {
    *address = value;
  } else {
    cache_detail::Access<kCache>::store(address, value);
  }
}

}  // namespace einkorn
