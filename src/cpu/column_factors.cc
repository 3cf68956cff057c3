#include "src/cpu/column_factors.h"

// Highway includes this file once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/cpu/column_factors.cc"
#include "src/cpu/hwy_targets.h"
// After the targets.
#include <hwy/foreach_target.h>
// After the list of targets; -inl.h before anything that opens namespaces.
#include "src/cpu/codec-inl.h"

#include <algorithm>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace einkorn::cpu::HWY_NAMESPACE {

template <class Weight, class Rounded>
HWY_ATTR void write_factors_as(const void* weight, float offset, std::size_t cols, float* out) {
  const auto* from = static_cast<const typename Weight::Raw*>(weight);
  const std::size_t lanes = hn::Lanes(F32Tag());
  const F32Vec added = hn::Set(F32Tag(), offset);
  std::size_t i = 0;
  for (; i + lanes <= cols; i += lanes) {
    F32Codec::store(Rounded::round(hn::Add(Weight::load(from + i), added)), out + i);
  }
  if (i == cols) return;
  const F32Vec tail = hn::Add(load_tail<Weight>(from + i, cols - i), added);
  store_tail<F32Codec>(Rounded::round(tail), out + i, cols - i);
}

HWY_ATTR void write_factors(const ColumnFactors& factors, std::size_t cols, float* out) {
  const void* weight = factors.weight.data();
  const auto offset = static_cast<float>(factors.offset);
  visit_codec(factors.weight.dtype(), [&](auto weight_codec) HWY_ATTR {
    visit_codec(factors.rounded_to, [&](auto codec) HWY_ATTR {
      write_factors_as<decltype(weight_codec), decltype(codec)>(weight, offset, cols, out);
    });
  });
}

}  // namespace einkorn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace einkorn::cpu {
namespace {

HWY_EXPORT(write_factors);

}  // namespace

void ColumnFactors::write(std::int64_t cols, float* out) const {
  const auto count = static_cast<std::size_t>(cols);
  if (!weight.defined()) {
    std::fill_n(out, count, 1.0F);
    return;
  }
  HWY_DYNAMIC_DISPATCH(write_factors)(*this, count, out);
}

}  // namespace einkorn::cpu
#endif  // HWY_ONCE
