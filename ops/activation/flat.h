#pragma once

// How the variants named flat cut a problem: blocks of `threads` take pieces of `items` vectors a
// thread, none of which crosses a row's end.

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "ops/activation/gated_launch.h"

namespace einkorn::gated {

struct FlatTiling {
  int threads = 256;
  int items = 1;  ///< vectors a thread has in flight of each input

  bool operator==(const FlatTiling&) const = default;
  static constexpr auto fields() {
    return std::tuple{field("threads", &FlatTiling::threads, "threads a block"),
                      field("items", &FlatTiling::items, "vectors a thread")};
  }
};

struct Flat {
  const Problem& problem;
  Extent size;
  int vector_width;
  int max_items;  ///< what a thread's registers hold

  std::int64_t blocks(const FlatTiling& tiling) const {
    const std::int64_t piece = std::int64_t{tiling.threads} * tiling.items * vector_width;
    return size.rows * ((size.cols + piece - 1) / piece);
  }

  std::optional<Refusal> supports() const {
    if (!tilings().empty()) return std::nullopt;
    return Refusal{fmt::format("rows {} and cols {} need more than {} blocks", problem.rows,
                               problem.cols, cuda::kMaxBlocks)};
  }

  std::optional<Refusal> validate(const FlatTiling& tiling) const {
    if (auto refusal = cuda::refuse_threads(tiling.threads)) return refusal;
    if (tiling.items < 1 || tiling.items > max_items) {
      return Refusal{fmt::format("items {} is not 1 to {}, what a thread's registers hold",
                                 tiling.items, max_items)};
    }
    const std::int64_t wanted = blocks(tiling);
    if (wanted <= cuda::kMaxBlocks) return std::nullopt;
    return Refusal{fmt::format("{} blocks > {}, the widest grid", wanted, cuda::kMaxBlocks)};
  }

  std::vector<FlatTiling> tilings() const {
    std::vector<FlatTiling> out;
    const std::int64_t vectors = size.cols / vector_width;
    for (const FlatTiling tiling :
         {FlatTiling{512, 1}, FlatTiling{256, 1}, FlatTiling{128, 1}, FlatTiling{256, 2},
          FlatTiling{128, 2}, FlatTiling{256, 4}, FlatTiling{128, 4}}) {
      if (validate(tiling)) continue;
      // A block wider than a row idles most of itself; a narrower one follows in the list.
      const bool wasteful = tiling.threads * tiling.items > 2 * vectors && tiling.threads > 128;
      if (!wasteful) out.push_back(tiling);
    }
    return out;
  }
};

}  // namespace einkorn::gated
