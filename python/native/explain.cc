#include "python/native/explain.h"

#include <einkorn/registry.h>

#include "cli/choices.h"
#include "src/registry/remembered_device.h"

namespace einkorn::python {
namespace {

/// The best here for an empty name.
DeviceInfo describe_device(std::string_view name) {
  if (name.empty()) return describe_here(0, best_device);
  if (!name.starts_with("cuda")) return find_device_info(name);
  const Device device = parse_device(name);
  return describe_here(device.index, [&] { return device; });
}

}  // namespace

std::string variants_json(std::string_view op) {
  const auto view = registry();
  cli::Json out = cli::Json::array();
  for (const Variant* one : view->find(op).variants) {
    const Availability state = availability(*one);
    out.push_back({{"id", one->id()},
                   {"name", one->name()},
                   {"language", one->language},
                   {"summary", one->summary},
                   {"batch_invariant", one->batch_invariant},
                   {"available", state.available},
                   {"reason", cli::text_or_null(state.reason)}});
  }
  return cli::json_text(out);
}

std::string explain_json(std::string_view op, std::string_view problem, std::string_view device,
                         std::string_view variant) {
  const auto view = registry();
  const OpEntry& entry = view->find(op);
  const DeviceInfo on = describe_device(device);
  const AnyProblem parsed = entry.op->parse(split_key_values(problem));
  const cli::Choice choice{"", entry.op->print(parsed.get()),
                           explain(entry, parsed.get(), on, variant)};
  return cli::json_text(cli::choice_json({&entry, nullptr}, choice, on));
}

}  // namespace einkorn::python
