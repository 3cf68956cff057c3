#pragma once

// How fast a plan can be on a device, here or not: its stages' work against the device's peaks.
// docs/guide/roofline.md has the formulas and where the numbers are from.

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <einkorn/device.h>
#include <einkorn/plan.h>

namespace einkorn {

inline constexpr std::size_t kUnits = 6;  // of stage.h
inline constexpr std::array<std::string_view, kUnits> kUnitNames{
    "f32", "f64", "tensor_tf32", "tensor_16bit", "tensor_fp8", "tensor_int8"};

/// Rates that a device reaches at most; 0: not known, or it has no such unit.
struct Peaks {
  double gbps = 0;                      ///< memory, reads and writes together, 1e9 bytes/s
  std::array<double, kUnits> tflops{};  ///< by Unit, without sparsity, 1e12 operations/s
  std::string source;                   ///< "datasheet", "measured 2026-11-28, driver 580.159.04"

  double of(Unit unit) const { return tflops[static_cast<std::size_t>(unit)]; }
};

struct DevicePeaks {
  Peaks datasheet;
  std::optional<Peaks> measured;  ///< on such a device, by us or on this machine
  double launch_us = 0;           ///< what a launch adds to a stage at least, in a graph

  /// The measured rates, where one is missing the datasheet's.
  Peaks best() const;
};

/// What is known of a device: the table, and what `einkorn doctor --measure` saved on this machine.
/// The second form goes by the driver's name for the device.
DevicePeaks peaks_of(const DeviceInfo& device);
DevicePeaks peaks_of(std::string_view device_name);

/// Flops a byte from which on arithmetic bounds and not memory; 0 when a peak is not known.
double ridge_point(const Peaks& peaks, Unit unit);

/// What bounds a stage or a plan.
enum class Bound { kUnknown, kMemory, kCompute, kLatency };
std::string_view name(Bound bound);  ///< "unknown", "memory", "compute", "latency"

struct StagePrediction {
  std::string path;  ///< as Leaf::path
  Cost cost;
  double us = 0;            ///< by the best peaks; 0: not known
  double datasheet_us = 0;  ///< by the datasheet alone
  Bound bound = Bound::kUnknown;
};

struct Prediction {
  double us = 0;  ///< of the whole plan, by the best peaks; 0: not known
  double datasheet_us = 0;
  Bound bound = Bound::kUnknown;  ///< of the stage that takes longest
  bool cache_resident = false;    ///< fits the last-level cache: held against no roof
  std::vector<StagePrediction> stages;
};

/// A stage takes the longer of its flops over the unit's peak and its bytes over the bandwidth, and
/// a launch. Stages in order add up. Side by side they take the longest of the branches, and at
/// least what all their bytes and flops together take; on a CPU, or where joint_refusal() says that
/// they do not fit together, they run in order. `work` is the op's: the cost of a plan's only stage
/// when that tells none, and what decides whether the problem fits the cache.
Prediction predict(const Plan& plan, const DeviceInfo& device, const Work& work,
                   const DevicePeaks& peaks);
Prediction predict(const Plan& plan, const DeviceInfo& device, const Work& work);

}  // namespace einkorn
