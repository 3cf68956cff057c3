// Arguments of `einkorn profile`.

#include <memory>

#include "cli/profile.h"
#include "cli/verb_table.h"

namespace einkorn::cli {

std::function<int()> set_up_profile(CLI::App& app) {
  auto options = std::make_shared<ProfileOptions>();
  app.add_option("words", options->words,
                 "op or op/arch/variant, and key=value (see: einkorn list ops)")
      ->option_text("OP[/VARIANT] KEY=VALUE ...");
  app.add_option("--mode", options->mode,
                 "event: stage times; counters: ncu's; timeline: kernels by start and stream "
                 "(default: event)")
      ->option_text("MODE");
  app.add_option("--tiling", options->tiling, "as `bench` prints it (default: the chosen one)")
      ->option_text("'KEY=VALUE ...'");
  app.add_option("--seconds", options->seconds,
                 "event: measuring time for each stage, 0.001 to 600 (default: 0.3)")
      ->check(CLI::Range(0.001, 600.0))
      ->option_text("S");
  app.add_option("--seed", options->seed, "of the random inputs (default: 1)")->option_text("N");
  app.add_option("--device", options->device, "cpu or cuda:N (default: the best here)")
      ->option_text("DEVICE");
  app.add_option("--output", options->output,
                 "folder to write to (default: out/profiles/<mode>/<variant>/<problem>/<time>)")
      ->option_text("FOLDER");
  app.add_flag("--json", options->json, "print JSON");
  return [options] { return profile_op(*options); };
}

}  // namespace einkorn::cli
