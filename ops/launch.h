#pragma once

// What the CUDA variants of row-wise ops share on the host.

#include <algorithm>
#include <cstdint>
#include <optional>

#include <einkorn/match.h>
#include <einkorn/op.h>
#include <fmt/format.h>

namespace einkorn::cuda {

inline constexpr std::int64_t kMaxBlocks = 0x7fffffff;  ///< of a grid's x

/// Elements between rows, which have `dims` dimensions; 0 for a tensor left out.
inline long long row_stride(const TensorView& tensor, int dims = 1) {
  // match() has established that the leading dimensions collapse.
  return tensor.defined() ? collapsed_row_stride(tensor, dims).value_or(0) : 0;
}

/// Elements that one thread may move at a time: the most that fit `align` bytes, which divide every
/// address, and divide the row.
inline int vector_width(std::int64_t cols, DType dtype, int align) {
  int width = std::max(1, align / (bits(dtype) / 8));
  while (cols % width != 0) width /= 2;
  return width;
}

/// A grid of one dimension, early where the device can: it may begin before the kernel before it
/// has ended.
inline Launch line_of_blocks(std::int64_t blocks, int threads, const DeviceInfo& device) {
  Launch launch;
  launch.grid.x = static_cast<std::uint32_t>(blocks);
  launch.block.x = static_cast<std::uint32_t>(threads);
  launch.pdl = device.cc >= 90;
  return launch;
}

/// Why a block cannot have so many threads, whole warps.
inline std::optional<Refusal> refuse_threads(int threads) {
  if (threads >= 32 && threads <= 1024 && threads % 32 == 0) return std::nullopt;
  return Refusal{fmt::format("threads {} is not a multiple of 32 up to 1024", threads)};
}

}  // namespace einkorn::cuda
