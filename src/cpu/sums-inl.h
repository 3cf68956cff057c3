// Sums over a row in f32, for each instruction set; to be included as codec-inl.h is.
#if defined(EINKORN_SRC_CPU_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EINKORN_SRC_CPU_SUMS_INL_H_
#undef EINKORN_SRC_CPU_SUMS_INL_H_
#else
#define EINKORN_SRC_CPU_SUMS_INL_H_
#endif

#include <algorithm>
#include <cstddef>

#include <hwy/highway.h>

#include "src/cpu/codec-inl.h"

HWY_BEFORE_NAMESPACE();
namespace einkorn::cpu::HWY_NAMESPACE {

/// One pass over `cols` elements with chains of at most 128 additions: 4 vectors of partial sums,
/// added as a tree at their end, then new ones; the last of less than 4 vectors have a chain of
/// their own.
///
/// Sums, one vector or several, has `+`; `zero` is where a chain starts. `add(sums, at)` adds the
/// terms of Lanes elements from `at` on, `add_tail(sums, at, count)` those of the last `count`
/// < Lanes, and `fold(sums)` takes the sum of chains over.
template <class Sums, class Add, class AddTail, class Fold>
HWY_ATTR void sum_in_chains(std::size_t cols, const Sums& zero, const Add& add,
                            const AddTail& add_tail, const Fold& fold) {
  const std::size_t lanes = hn::Lanes(F32Tag());
  constexpr std::size_t kTerms = 128;  // of a chain, at most
  std::size_t i = 0;
  while (i + 4 * lanes <= cols) {
    Sums sums0 = zero, sums1 = zero, sums2 = zero, sums3 = zero;
    const std::size_t stop = std::min(cols - 4 * lanes, i + 4 * lanes * (kTerms - 1));
    for (; i <= stop; i += 4 * lanes) {
      add(sums0, i);
      add(sums1, i + lanes);
      add(sums2, i + 2 * lanes);
      add(sums3, i + 3 * lanes);
    }
    fold((sums0 + sums1) + (sums2 + sums3));
  }
  if (i == cols) return;
  Sums rest = zero;
  for (; i + lanes <= cols; i += lanes) add(rest, i);
  if (i < cols) add_tail(rest, i, cols - i);
  fold(rest);
}

/// The sum of a vector's lanes.
inline HWY_ATTR double total_of(F32Vec sums) {
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(F32Tag(), sums)));
}

}  // namespace einkorn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // EINKORN_SRC_CPU_SUMS_INL_H_
