#include "python/native/slots.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <einkorn/error.h>
#include <einkorn/registry.h>
#include <einkorn/slots.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/registry/glob.h"

namespace einkorn::python {
namespace {

// In the order of the text, which counts: of two tables that fit a slot the later decides.
using Json = nlohmann::ordered_json;

Json rules_json(const std::vector<ConfigRule>& rules) {
  Json out = Json::array();
  for (const ConfigRule& rule : rules) {
    out.push_back({{"op", rule.op}, {"choice", rule.choice}, {"where", rule.where}});
  }
  return out;
}

std::vector<ConfigRule> rules_of(const Json& rules) {
  std::vector<ConfigRule> out;
  for (const Json& rule : rules) {
    out.push_back({rule.at("op").get<std::string>(), rule.at("choice").get<std::string>(),
                   rule.at("where").get<std::string>()});
  }
  return out;
}

/// What Python passes on was made here, so that another form is our own fault.
Json parsed(std::string_view text) { return Json::parse(text); }

OpConfig config_of(std::string_view text) {
  const Json document = parsed(text);
  OpConfig out;
  out.rules = rules_of(document.at("rules"));
  for (const Json& table : document.at("modules")) {
    out.modules.push_back({table.at("pattern").get<std::string>(), rules_of(table.at("rules")),
                           table.at("where").get<std::string>()});
  }
  return out;
}

OpConfig read(std::string_view form, std::string_view text) {
  if (form == "toml") return OpConfig::from_toml(text);
  if (form == "json") return OpConfig::from_json(text);
  EK_CHECK(form == "environment", ErrorKind::kValue,
           fmt::format("read_config: form: expected toml, json or environment, got '{}'", form));
  return OpConfig::from_environment();
}

/// Adds the scalars that are keys of the op's problem. An unknown op is for resolve() to report.
void complete(KeyValues& problem, const Registry& view, std::string_view op, const Json& scalars) {
  const auto entry =
      std::ranges::find_if(view.ops(), [&](const OpEntry& one) { return one.op->name == op; });
  if (entry == view.ops().end()) return;
  for (const Key& key : entry->op->keys()) {
    const auto value = scalars.find(std::string(key.name));
    if (value == scalars.end()) continue;
    const auto given = [&](const auto& pair) { return pair.first == key.name; };
    if (std::ranges::none_of(problem, given)) {
      problem.emplace_back(key.name, value->get<std::string>());
    }
  }
}

SlotRequest request_of(const Json& one, const Registry& view) {
  SlotRequest out{one.at("path").get<std::string>(), one.at("op").get<std::string>()};
  if (one.at("problem").is_null()) return out;
  out.problem.emplace();
  for (const auto& [key, value] : one.at("problem").items()) {
    out.problem->emplace_back(key, value.get<std::string>());
  }
  complete(*out.problem, view, out.op, one.at("scalars"));
  return out;
}

SlotBinding binding_of(const Json& one) {
  SlotBinding out{one.at("path").get<std::string>(),   one.at("op").get<std::string>(),
                  one.at("rule").get<std::string>(),   one.at("variant").get<std::string>(),
                  one.at("reason").get<std::string>(), {}};
  for (const Json& loser : one.at("losers")) {
    out.losers.push_back(
        {loser.at("variant").get<std::string>(), loser.at("refusal").get<std::string>()});
  }
  return out;
}

}  // namespace

std::string read_config(std::string_view form, std::string_view text) {
  const OpConfig config = read(form, text);
  Json modules = Json::array();
  for (const ModuleRules& table : config.modules) {
    modules.push_back(
        {{"pattern", table.pattern}, {"where", table.where}, {"rules", rules_json(table.rules)}});
  }
  return Json{{"rules", rules_json(config.rules)}, {"modules", std::move(modules)}}.dump();
}

void check_config(std::string_view config) { config_of(config).check(); }

std::string resolve_slots(std::string_view config, std::string_view requests,
                          std::string_view device) {
  const OpConfig rules = config_of(config);
  const DeviceInfo on = find_device_info(device);
  EK_CHECK(on.present, ErrorKind::kRuntime,
           fmt::format("bind: device: expected one of this machine, got {}, which is not here\n"
                       "  hint: einkorn.explain(..., device=...) tells what it would use",
                       on.name));
  const auto view = registry();
  std::vector<SlotRequest> slots;
  for (const Json& one : parsed(requests)) slots.push_back(request_of(one, *view));
  return bindings_json(resolve(rules, slots, on));
}

std::string dump_bindings(std::string_view bindings) {
  std::vector<SlotBinding> all;
  for (const Json& one : parsed(bindings)) all.push_back(binding_of(one));
  return dump(all);
}

bool pattern_fits(std::string_view pattern, std::string_view path) {
  return detail::glob_match(pattern, path, '.');
}

}  // namespace einkorn::python
