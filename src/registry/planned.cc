#include "src/registry/planned.h"

namespace einkorn::detail {

Plan planned(const OpEntry&, const Variant& variant, const void* problem,
             const DeviceInfo& device) {
  return variant.plan(problem, device, {});
}

}  // namespace einkorn::detail
