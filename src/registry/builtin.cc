#include "src/registry/builtin.h"

#include <array>

#include "src/registry/lists.h"

// First reading of the lists: every object that a line names is declared. It is defined in the file
// of the same name, so a line with no file fails to link with that name.
#define EK_OP(op)                \
  namespace einkorn::op {        \
  extern const OpDef definition; \
  }
#define EK_VARIANT(op, arch, design, version) \
  EK_IF_BUILT(                                \
      arch, namespace einkorn::op::arch { extern const Variant EK_CONCAT(design##_v, version); })
#include "ops/variants.inc"
#undef EK_OP
#undef EK_VARIANT

namespace einkorn::detail {

// Second reading: the objects in order. An op's line opens its entry, its variants' lines follow.
std::vector<OpEntry> builtin_ops() {
  std::vector<OpEntry> entries;
#define EK_OP(op) entries.push_back({&::einkorn::op::definition, {}});
#define EK_VARIANT(op, arch, design, version)          \
  EK_IF_BUILT(arch, entries.back().variants.push_back( \
                        &::einkorn::op::arch::EK_CONCAT(design##_v, version));)
#include "ops/variants.inc"
#undef EK_OP
#undef EK_VARIANT
  for (OpEntry& entry : entries) entry.variants.push_back(entry.op->reference_variant);
  return entries;
}

}  // namespace einkorn::detail

namespace einkorn {

std::span<const Arch> arches() {
  static constexpr std::array kArches{
#define EK_ARCH(name, kind, min_cc, max_cc, summary) \
  Arch{#name, DeviceKind::kind, min_cc, max_cc, summary},
#include "ops/arches.inc"
#undef EK_ARCH
      // Nothing of it is built here.
      Arch{"python", std::nullopt, 0, 999, "callables registered from Python, for any device"}};
  return kArches;
}

}  // namespace einkorn
