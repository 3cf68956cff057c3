#include <algorithm>

#include <einkorn/registry.h>
#include <fmt/format.h>

namespace einkorn {

std::string dump() {
  const auto view = registry();
  std::size_t width = 0;
  for (const OpEntry& entry : view->ops()) {
    for (const Variant* variant : entry.variants) {
      width = std::max(width, variant->name().size());
    }
  }
  std::string out;
  for (const OpEntry& entry : view->ops()) {
    out += fmt::format("{} ({}): {}\n", entry.op->name, entry.op->family, entry.op->summary);
    for (const Variant* variant : entry.variants) {
      const Availability state = availability(*variant);
      // The places searched for a driver follow on lines of their own: `doctor` tells them.
      const std::string reason = state.reason.substr(0, state.reason.find('\n'));
      out += fmt::format("  {:<{}}  {:<4}  {}\n", variant->name(), width, variant->language,
                         state.available ? "available" : "unavailable: " + reason);
    }
  }
  return out;
}

}  // namespace einkorn
