#pragma once

#include <string>
#include <vector>

namespace einkorn::cli {

struct PredictOptions {
  bool json = false;
  bool all_variants = false;
  std::vector<std::string> words;
  std::string device;  ///< as find_device_info; empty: the best here
  std::string tiling;  ///< printed; empty: the one that a call would be given
};

/// How long plans would take on a device, here or not. See docs/guide/roofline.md.
int predict_op(const PredictOptions& options);

}  // namespace einkorn::cli
