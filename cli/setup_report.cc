// Arguments of `einkorn report`.

#include <memory>

#include "cli/report.h"
#include "cli/verb_table.h"

namespace einkorn::cli {

std::function<int()> set_up_report(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  app.add_option("paths", options->paths,
                 "result files, trials (.jsonl), folders of them (default: bench/results, "
                 "out and the trial store)")
      ->option_text("PATH ...");
  app.add_option("--output", options->output, "the page (default: out/report.html)")
      ->option_text("FILE");
  app.add_flag("--json", options->json, "print the page's data as JSON");
  return [options] { return report(*options); };
}

}  // namespace einkorn::cli
