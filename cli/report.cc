// einkorn report: what was measured, as one page that opens without a network.

#include "cli/report.h"

#include <filesystem>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "cli/files.h"
#include "cli/json.h"
#include "cli/status.h"
#include "cli/table.h"
#include "src/core/utc_time.h"
#include "src/report/collect.h"
#include "src/report/data.h"
#include "src/report/page.h"
#include "src/trials/store.h"

namespace einkorn::cli {
namespace {

/// Where the command's own documents lie: below the working directory, and the trial store.
std::vector<std::string> default_paths() {
  std::vector<std::string> out;
  for (const char* path : {"bench/results", "out"}) {
    std::error_code error;
    if (std::filesystem::exists(path, error)) out.emplace_back(path);
  }
  const std::string& trials = trials::user_store(false).root();
  std::error_code error;
  if (!trials.empty() && std::filesystem::exists(trials, error)) out.push_back(trials);
  return out;
}

std::string listed(const std::vector<std::string>& paths) {
  std::string out;
  for (const std::string& path : paths) out += (out.empty() ? "" : ", ") + path;
  return out;
}

std::size_t rows_in(const Json& lists, const char* inner) {
  std::size_t count = 0;
  for (const Json& list : lists) count += list[inner].size();
  return count;
}

std::string summary_text(const Json& data) {
  Table table({"device", ">results", ">comparisons", ">ladders", ">trials", ">profiles"});
  for (const Json& device : data["devices"]) {
    table.add({device["device"].get<std::string>(), std::to_string(device["results"].size()),
               std::to_string(device["comparisons"].size()),
               std::to_string(device["ladders"].size()),
               std::to_string(rows_in(device["tuning"], "trials")),
               std::to_string(device["stages"].size())});
  }
  std::string out = table.text();
  if (data["skipped"].empty()) return out;
  out += "\nskipped\n";
  for (const Json& skipped : data["skipped"]) {
    const std::string line =
        skipped["line"].is_null() ? std::string() : fmt::format(":{}", skipped["line"].get<int>());
    const int count = skipped["count"].get<int>();
    out += fmt::format("  {}{}: {}{}\n", skipped["path"].get<std::string>(), line,
                       skipped["reason"].get<std::string>(),
                       count > 1 ? fmt::format(" ({} lines)", count) : std::string());
  }
  return out;
}

}  // namespace

int report(const ReportOptions& options) {
  const auto paths = options.paths.empty() ? default_paths() : options.paths;
  if (paths.empty()) {
    throw Exit(kNothingRan,
               "report: found neither bench/results nor out here, nor a trial store\n  hint: name "
               "result files or folders, or measure first: einkorn bench OP --output FILE.json");
  }
  const report::Documents documents = as_usage([&] { return report::collect(paths); });
  if (documents.empty()) {
    throw Exit(
        kNothingRan,
        fmt::format(
            "report: no measurement in {}{}\n  hint: einkorn bench OP --output "
            "FILE.json, einkorn run OP",
            listed(paths),
            documents.skipped.empty()
                ? std::string()
                : fmt::format(" ({} files skipped; the first, {}: {})", documents.skipped.size(),
                              documents.skipped.front().path, documents.skipped.front().reason)));
  }
  Json data = report::report_data(documents, utc_now());
  const std::string page = report::page_html(data);
  write_file(options.output, page);
  if (options.json) {
    data["output"] = options.output;
    print_json(data);
  } else {
    constexpr std::size_t kKiB = 1024;
    print(fmt::format("{}\nreport  {} ({} KiB)\n", summary_text(data), options.output,
                      (page.size() + kKiB - 1) / kKiB));
  }
  return kAllWell;
}

}  // namespace einkorn::cli
