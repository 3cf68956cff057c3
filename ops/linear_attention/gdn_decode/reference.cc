// The contract of gdn_decode in double: what every variant is held against.

#include "ops/linear_attention/gdn_decode/contract.h"

namespace einkorn {

void GdnDecode::reference(const Args& args) {
  linear_attention::decode_reference(gdn_decode::call_of(args));
}

}  // namespace einkorn
