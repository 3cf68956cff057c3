// gated_norm_pair/cpu/concurrent_v1: both norms side by side into a workspace, then the product.

#include "ops/composite/gated_norm_pair/concurrent.h"

namespace einkorn::gated_norm_pair::cpu {

extern const Variant concurrent_v1;
constexpr Variant concurrent_v1 = make_variant<GatedNormPair, ConcurrentNorms>(
    "cpu", "concurrent", 1, "cpp", "two rms_norms side by side, then silu_mul");

}  // namespace einkorn::gated_norm_pair::cpu
