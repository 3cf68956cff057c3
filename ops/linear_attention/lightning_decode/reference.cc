// The contract of lightning_decode in double: what every variant is held against.

#include "ops/linear_attention/lightning_decode/contract.h"

namespace einkorn {

void LightningDecode::reference(const Args& args) {
  linear_attention::decode_reference(lightning_decode::call_of(args));
}

}  // namespace einkorn
