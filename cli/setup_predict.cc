// Arguments of `einkorn predict`.

#include <memory>

#include "cli/predict.h"
#include "cli/verb_table.h"

namespace einkorn::cli {

std::function<int()> set_up_predict(CLI::App& app) {
  auto options = std::make_shared<PredictOptions>();
  app.add_option("words", options->words,
                 "op or op/arch/variant, and key=value (see: einkorn list ops)")
      ->option_text("OP[/VARIANT] KEY=VALUE ...");
  app.add_option("--device", options->device,
                 "cpu, cuda:N, or a known device such as h100 (default: the best here)")
      ->option_text("DEVICE");
  app.add_option("--tiling", options->tiling, "instead of the one that a call would be given")
      ->option_text("'KEY=VALUE ...'");
  app.add_flag("--all-variants", options->all_variants, "every variant that serves");
  app.add_flag("--json", options->json, "print JSON");
  return [options] { return predict_op(*options); };
}

}  // namespace einkorn::cli
