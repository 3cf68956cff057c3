// The cases of rms_norm_bwd; the tensors that stand for them are made in tolerance.cc.

#include "ops/norm/rms_norm_bwd/contract.h"

namespace einkorn {

std::span<const Case> RmsNormBwd::cases() {
#define EK_CASE(name, level, keys) {#name, level, keys},
  static constexpr Case kCases[] = {
#include "ops/norm/rms_norm_bwd/cases.inc"
  };
#undef EK_CASE
  return kCases;
}

}  // namespace einkorn
