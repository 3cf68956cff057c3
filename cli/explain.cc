// einkorn explain: which variant a problem would get, and why each other one lost.

#include <fmt/format.h>

#include "cli/choices.h"
#include "cli/status.h"
#include "cli/verbs.h"

namespace einkorn::cli {
namespace {

std::string to_text(const Target& target, const Choice& choice, const void* problem,
                    const DeviceInfo& device) {
  const Variant* chosen = choice.selection.chosen;
  std::string out =
      fmt::format("op       {}\nproblem  {}\ndevice   {}{}\n", target.op(), choice.problem,
                  device.name, device.present ? "" : " (not here: from the table)");
  if (chosen == nullptr) {
    out += fmt::format("chosen   {}\n", paint("none", Colour::kRed));
  } else {
    out += fmt::format("chosen   {}, by {}\n", chosen->id(), choice.selection.source);
    const Selection& selection = choice.selection;
    if (!selection.tiling.empty()) {
      out +=
          fmt::format("tiling   {} ({}{}; {} candidates)\n", selection.tiling, selection.quality,
                      selection.quality == "nearest" ? ": measured for " + selection.tuned_on : "",
                      chosen->tilings(problem, device).size());
    }
  }
  return out + '\n' + choice_table(choice.selection);
}

}  // namespace

int explain_choice(const ExplainOptions& options) {
  const auto view = registry();
  const Words words = split_words(options.words);
  const Target target = only_target(*view, words, "explain");
  const NamedProblem problem{std::string(kCommandLine), parse_problem(target, words.pairs)};
  const DeviceInfo device = describe_device(options.device);
  const Choice choice = choose(target, problem, device);
  if (options.json) {
    print_json(choice_json(target, choice, device));
  } else {
    print(to_text(target, choice, problem.problem.get(), device));
  }
  return choice.selection.chosen != nullptr ? kAllWell : kNothingRan;
}

}  // namespace einkorn::cli
