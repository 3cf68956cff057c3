// lightning_decode/smxx/rows_v1: rows of a state [V, K] in the lanes of warps, told in decode.cuh.

#include "ops/linear_attention/decode.cuh"

namespace einkorn::lightning_decode::smxx {

/// As decode_rows() has them; kWarps warps a block, registers for kMinBlocks blocks.
template <class Tr, int kAlign, int kLanes, int kRows, int kWarps, int kMinBlocks>
__global__ void __launch_bounds__(kWarps * 32, kMinBlocks)
    rows_v1(const __grid_constant__ linear_attention::DecodeParams p) {
  linear_attention::decode_rows<Tr, kAlign, kLanes, kRows, kWarps>(p);
}

}  // namespace einkorn::lightning_decode::smxx
