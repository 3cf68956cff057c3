#include <algorithm>

#include <einkorn/error.h>
#include <einkorn/slots.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace einkorn {

void OpSlot::bind(SlotBinding binding) {
  EK_CHECK(binding.path == request_.path && binding.op == request_.op, ErrorKind::kValue,
           fmt::format("OpSlot: binding: expected one of slot '{}' ({}), got one of '{}' ({})",
                       request_.path, request_.op, binding.path, binding.op));
  binding_ = std::move(binding);
}

void OpSlot::throw_unbound() const {
  throw_error(ErrorKind::kRuntime,
              fmt::format("slot '{}' ({}): expected a bound slot, got one that is not\n"
                          "  hint: bind_slots() binds all slots of a model to a configuration",
                          request_.path, request_.op));
}

void OpSlot::throw_other_op(std::string_view op) const {
  throw_error(ErrorKind::kValue, fmt::format("slot '{}': op: expected a call of {}, got one of {}",
                                             request_.path, request_.op, op));
}

void bind_slots(std::span<OpSlot* const> slots, const OpConfig& config, const DeviceInfo& device) {
  EK_CHECK(
      device.present, ErrorKind::kRuntime,
      fmt::format("bind_slots: device: expected one of this machine, got {}, which is not here\n"
                  "  hint: resolve() decides for devices that are not here",
                  device.name));
  std::vector<SlotRequest> requests;
  requests.reserve(slots.size());
  for (const OpSlot* slot : slots) {
    EK_CHECK(slot != nullptr, ErrorKind::kValue,
             "bind_slots: slots: expected slots, got a null pointer");
    requests.push_back(slot->request());
  }
  std::vector<SlotBinding> bindings = resolve(config, requests, device);
  // Moves of strings and vectors: from here on nothing can fail.
  static_assert(std::is_nothrow_move_constructible_v<SlotBinding> &&
                std::is_nothrow_move_assignable_v<SlotBinding>);
  for (std::size_t i = 0; i < slots.size(); ++i) slots[i]->binding_ = std::move(bindings[i]);
}

std::string dump(std::span<const SlotBinding> bindings) {
  std::size_t path_width = 0;
  std::size_t op_width = 0;
  for (const SlotBinding& one : bindings) {
    path_width = std::max(path_width, one.path.size());
    op_width = std::max(op_width, one.op.size());
  }
  std::string out;
  for (const SlotBinding& one : bindings) {
    out += fmt::format("{:<{}}  {:<{}}  {}\n", one.path, path_width, one.op, op_width, one.variant);
    out += fmt::format("  by    {}\n  as    {}\n", one.rule, one.reason);
    for (const SlotBinding::Loser& loser : one.losers) {
      out += fmt::format("  not   {}: {}\n", loser.variant, loser.refusal);
    }
  }
  return out;
}

std::string bindings_json(std::span<const SlotBinding> bindings) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const SlotBinding& one : bindings) {
    nlohmann::ordered_json losers = nlohmann::ordered_json::array();
    for (const SlotBinding::Loser& loser : one.losers) {
      losers.push_back({{"variant", loser.variant}, {"refusal", loser.refusal}});
    }
    out.push_back({{"path", one.path},
                   {"op", one.op},
                   {"rule", one.rule},
                   {"variant", one.variant},
                   {"reason", one.reason},
                   {"losers", std::move(losers)}});
  }
  // A path may hold any bytes; one that is no UTF-8 is not worth losing the document.
  return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace einkorn
