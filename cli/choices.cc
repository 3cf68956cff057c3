#include "cli/choices.h"

#include "cli/status.h"
#include "cli/table.h"

namespace einkorn::cli {
namespace {

std::string verdict(const Attempt& attempt, const Selection& selection) {
  if (attempt.refusal) return "refused: " + attempt.refusal->reason;
  if (attempt.variant == selection.chosen) return paint("chosen", Colour::kGreen);
  return selection.source == "list order" ? "would serve" : "would serve, not asked for";
}

}  // namespace

Choice choose(const Target& target, const NamedProblem& problem, const DeviceInfo& device) {
  const void* value = problem.problem.get();
  return {problem.name, target.entry->op->print(value),
          as_usage([&] { return explain(*target.entry, value, device, target.choice()); })};
}

std::string choice_table(const Selection& selection) {
  Table table({"variant", "verdict"});
  for (const Attempt& attempt : selection.tried) {
    table.add({attempt.variant->name(), verdict(attempt, selection)});
  }
  return table.text();
}

Json choice_json(const Target& target, const Choice& choice, const DeviceInfo& device) {
  const Selection& selection = choice.selection;
  Json tried = Json::array();
  for (const Attempt& attempt : selection.tried) {
    tried.push_back({{"variant", attempt.variant->id()},
                     {"refusal", attempt.refusal ? Json(attempt.refusal->reason) : Json()}});
  }
  const bool chosen = selection.chosen != nullptr;
  return {{"op", target.op()},
          {"problem", choice.problem},
          {"device", device.name},
          {"chosen", chosen ? Json(selection.chosen->id()) : Json()},
          {"quality", chosen ? Json(selection.quality) : Json()},
          {"source", selection.source},
          {"tried", std::move(tried)},
          {"tiling", chosen ? Json(selection.tiling) : Json()},
          {"tuned_on", selection.tuned_on.empty() ? Json() : Json(selection.tuned_on)}};
}

}  // namespace einkorn::cli
