// gated_rms_norm/smxx/sequence_v1: the norm into a workspace, then the product from there.

#include "ops/composite/gated_rms_norm/sequence.h"

namespace einkorn::gated_rms_norm::smxx {

extern const Variant sequence_v1;
constexpr Variant sequence_v1 = make_variant<GatedRmsNorm, Sequence>(
    "smxx", "sequence", 1, "cpp", "rms_norm into a workspace, then silu_mul");

}  // namespace einkorn::gated_rms_norm::smxx
