#pragma once

// The roofs of a device, from the table of known ones and from what the documents measured.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/report/documents.h"

namespace einkorn::report {

struct Peak {
  std::string name;       ///< what is reached: "memory", "bf16", "f32"
  double value = 0;       ///< 1e9 bytes/s or 1e12 flops/s
  bool measured = false;  ///< else by the datasheet
  std::string from;       ///< where the number is from, for people
};

struct Peaks {
  std::vector<Peak> memory;
  std::vector<Peak> compute;
};

/// Of a device with this driver name: what the table knows, then the best measured rates among
/// `rates` and among the copies that were timed beside the results, all of that device. Empty lists
/// when nothing is known.
Peaks peaks_of(std::string_view device, std::span<const Rate> rates,
               std::span<const BenchDocument> benches);

/// The memory roof that results are held against: the datasheet's, else the measured one; 0 when
/// there is none. 1e9 bytes/s.
const Peak* memory_roof(const Peaks& peaks);

/// What can be attained at `intensity` flops a byte, 1e12 flops/s: under the memory roof and the
/// datasheet's peak for `dtype` (the highest one when the dtype has none). 0 when there is no roof.
double attainable_tflops(const Peaks& peaks, double intensity, std::string_view dtype);

}  // namespace einkorn::report
