#pragma once

#include <string>
#include <vector>

namespace einkorn::cli {

struct ReportOptions {
  bool json = false;
  std::vector<std::string> paths;  ///< files and folders; empty: where the command's own ones lie
  std::string output = "out/report.html";
};

/// One page with charts and tables of all that was measured.
int report(const ReportOptions& options);

}  // namespace einkorn::cli
