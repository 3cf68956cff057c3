// The contract of gdn_prefill in double: what every variant is held against.

#include "ops/linear_attention/reference.h"
#include "ops/linear_attention/gdn_prefill/contract.h"

namespace einkorn {

void GdnPrefill::reference(const Args& args) {
  linear_attention::prefill_recurrent(linear_attention::prefill_call<GdnPrefill>(args));
}

}  // namespace einkorn
