// The contract of kda_decode in double: what every variant is held against.

#include "ops/linear_attention/kda_decode/contract.h"

namespace einkorn {

void KdaDecode::reference(const Args& args) {
  linear_attention::decode_reference(kda_decode::call_of(args));
}

}  // namespace einkorn
