#pragma once

// NVML, by the few functions that einkorn uses; declared here, because its header comes only with a
// toolkit. Signatures: NVML API reference, nvml.h 12 and 13.

#include "src/cuda/dynamic_library.h"

namespace einkorn::cuda {

using NvmlDevice = struct nvmlDevice_st*;
using NvmlResult = int;
inline constexpr NvmlResult kNvmlSuccess = 0;
inline constexpr int kNvmlClockSm = 1;
inline constexpr int kNvmlClockMemory = 2;
inline constexpr int kNvmlTemperatureGpu = 0;

/// The constructor opens, resolves and initialises NVML; RuntimeError when that fails.
struct Nvml {
  Nvml();

  DynamicLibrary library;
  NvmlResult (*init)() = nullptr;
  const char* (*error_string)(NvmlResult) = nullptr;
  NvmlResult (*system_driver_version)(char* version, unsigned length) = nullptr;
  NvmlResult (*nvml_version)(char* version, unsigned length) = nullptr;
  NvmlResult (*device_by_pci_bus_id)(const char* bus_id, NvmlDevice* device) = nullptr;
  NvmlResult (*clock_mhz)(NvmlDevice, int type, unsigned* mhz) = nullptr;
  NvmlResult (*temperature_c)(NvmlDevice, int sensor, unsigned* celsius) = nullptr;
  NvmlResult (*power_mw)(NvmlDevice, unsigned* milliwatts) = nullptr;
  NvmlResult (*throttle_reasons)(NvmlDevice, unsigned long long* reasons) = nullptr;
};

const Nvml& nvml();

}  // namespace einkorn::cuda
