#pragma once

// What result files of `einkorn bench` say about variants.

#include <string>
#include <string_view>
#include <vector>

namespace einkorn::versions {

/// One measured result.
struct Measured {
  std::string variant;  ///< id
  std::string problem, tiling;
  double median_us = 0, q1_us = 0, q3_us = 0;
  int samples = 0;
  double tflops = 0, gbps = 0;
  std::string roof;
  double percent_of_roof = 0;  ///< 0: not known
  double copy_us = 0;
  double percent_of_copy = 0;
};

/// One result file.
struct ResultFile {
  std::string path;  ///< as it is named in the text
  std::string op, device, driver, commit;
  std::string date;               ///< "2026-11-28T02:17:59Z"
  std::string versions;           ///< "nvrtc 13.0, liger 0.8.5"
  std::vector<Measured> results;  ///< those that were measured; failures are left out
};

/// `text` of the file named `path`. A JSON document without results (what the JIT or a call costs)
/// gives none. ValueError with path and what is wrong: no JSON, or a result whose fields have other
/// types than docs/guide/json.md says.
ResultFile parse_results(std::string_view text, std::string path);

/// The fastest result of a variant for a problem; null when there is none.
const Measured* best(const ResultFile& file, std::string_view variant, std::string_view problem);

}  // namespace einkorn::versions
