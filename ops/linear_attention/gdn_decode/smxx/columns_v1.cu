// gdn_decode/smxx/columns_v1: columns of a state [K, V] in the threads of a block, told in
// decode.cuh.

#include "ops/linear_attention/decode.cuh"

namespace einkorn::gdn_decode::smxx {

/// As decode_columns() has them; registers for kMinBlocks blocks.
template <class Tr, int kAlign, int kLanes, int kThreads, int kMinBlocks>
__global__ void __launch_bounds__(kThreads, kMinBlocks)
    columns_v1(const __grid_constant__ linear_attention::DecodeParams p) {
  linear_attention::decode_columns<Tr, kAlign, kLanes, kThreads>(p);
}

}  // namespace einkorn::gdn_decode::smxx
