// Arguments of `einkorn tune`.

#include <memory>

#include "cli/tune.h"
#include "cli/verb_table.h"

namespace einkorn::cli {
namespace {

void add_budgets(CLI::App& app, TuneOptions& options) {
  app.add_option("--budget-seconds", options.budget_seconds,
                 "stop after so long, over all problems (default: none)")
      ->check(CLI::Range(0.001, 1e7))
      ->option_text("S");
  app.add_option("--budget-trials", options.budget_trials,
                 "candidates to measure at most, for each problem")
      ->check(CLI::Range(1, 1000000))
      ->option_text("N");
  app.add_option("--search", options.search,
                 "exhaustive, random or model (default: model of more than 12 candidates)")
      ->option_text("NAME");
}

void add_files(CLI::App& app, TuneOptions& options) {
  app.add_option("--history", options.history, "also write every trial to this .csv or .json file")
      ->option_text("FILE");
  app.add_option("--export", options.exported,
                 "instead: write the winners of the trial store as bundled tunings")
      ->option_text("FILE");
  app.add_option("--import", options.imported, "instead: add a file's trials to the trial store")
      ->option_text("FILE");
}

}  // namespace

std::function<int()> set_up_tune(CLI::App& app) {
  auto options = std::make_shared<TuneOptions>();
  app.add_option("words", options->words,
                 "op or op/arch/variant, and key=value (see: einkorn list ops)")
      ->option_text("OP[/VARIANT] KEY=VALUE ...");
  app.add_option("--case", options->cases, "a case of the op by name; may be given again")
      ->allow_extra_args(false)
      ->option_text("NAME");
  add_budgets(app, *options);
  app.add_option("--seed", options->seed, "of the inputs and of a random search (default: 1)")
      ->option_text("N");
  app.add_flag("--fresh", options->fresh, "measure also what the trial store has");
  app.add_option("--device", options->device,
                 "cpu or cuda:N; to list or to move trials also one that is not here (default: the "
                 "best here)")
      ->option_text("DEVICE");
  app.add_flag("--dry-run", options->dry_run, "list the candidates and the cost, measure nothing");
  add_files(app, *options);
  app.add_flag("--json", options->json, "print JSON");
  return [options] { return tune_op(*options); };
}

}  // namespace einkorn::cli
