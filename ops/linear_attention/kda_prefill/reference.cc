// The contract of kda_prefill in double: what every variant is held against.

#include "ops/linear_attention/reference.h"
#include "ops/linear_attention/kda_prefill/contract.h"

namespace einkorn {

void KdaPrefill::reference(const Args& args) {
  linear_attention::prefill_recurrent(linear_attention::prefill_call<KdaPrefill>(args));
}

}  // namespace einkorn
