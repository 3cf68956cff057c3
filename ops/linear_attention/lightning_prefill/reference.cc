// The contract of lightning_prefill in double: what every variant is held against.

#include "ops/linear_attention/reference.h"
#include "ops/linear_attention/lightning_prefill/contract.h"

namespace einkorn {

void LightningPrefill::reference(const Args& args) {
  linear_attention::prefill_recurrent(linear_attention::prefill_call<LightningPrefill>(args));
}

}  // namespace einkorn
