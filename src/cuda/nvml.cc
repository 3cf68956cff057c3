#include "src/cuda/nvml.h"

#include <array>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/cuda/driver.h"

namespace einkorn::cuda {
namespace {

struct ThrottleReason {
  std::uint64_t bit;
  std::string_view text;
};

// NVML API reference, nvmlClocksEventReasons.
constexpr std::array kThrottleReasons = {
    ThrottleReason{0x1, "idle"},
    ThrottleReason{0x2, "application clocks"},
    ThrottleReason{0x4, "power cap"},
    ThrottleReason{0x8, "hardware slowdown"},
    ThrottleReason{0x10, "sync boost"},
    ThrottleReason{0x20, "thermal (software)"},
    ThrottleReason{0x40, "thermal (hardware)"},
    ThrottleReason{0x80, "power brake"},
    ThrottleReason{0x100, "display clocks"},
};

NvmlDevice nvml_device(int device) {
  // NVML numbers devices regardless of CUDA_VISIBLE_DEVICES; the bus id is common to both.
  std::array<char, 32> bus_id{};
  if (driver().cuDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()), device) !=
      CUDA_SUCCESS) {
    return nullptr;
  }
  NvmlDevice found = nullptr;
  return nvml().device_by_pci_bus_id(bus_id.data(), &found) == kNvmlSuccess ? found : nullptr;
}

}  // namespace

Nvml::Nvml() : library(DynamicLibrary::open(nvml_spec())) {
  library.resolve("nvmlInit_v2", init);
  library.resolve("nvmlErrorString", error_string);
  library.resolve("nvmlSystemGetDriverVersion", system_driver_version);
  library.resolve("nvmlSystemGetNVMLVersion", nvml_version);
  library.resolve("nvmlDeviceGetHandleByPciBusId_v2", device_by_pci_bus_id);
  library.resolve("nvmlDeviceGetClockInfo", clock_mhz);
  library.resolve("nvmlDeviceGetTemperature", temperature_c);
  library.resolve("nvmlDeviceGetPowerUsage", power_mw);
  library.resolve("nvmlDeviceGetCurrentClocksThrottleReasons", throttle_reasons);
  const NvmlResult result = init();
  EK_CHECK(result == kNvmlSuccess, ErrorKind::kRuntime,
           fmt::format("libnvidia-ml: initialising it: {}", error_string(result)));
}

const Nvml& nvml() {
  static LazyTable<Nvml> table;
  return table.get();
}

std::optional<ClockSample> sample_clocks(int device) {
  check_device_index(device);
  try {
    const Nvml& n = nvml();
    const NvmlDevice handle = nvml_device(device);
    if (handle == nullptr) return std::nullopt;
    ClockSample sample;
    unsigned milliwatts = 0;
    unsigned long long reasons = 0;
    // A reading that a device does not have (power inside a MIG slice, say) stays 0.
    n.clock_mhz(handle, kNvmlClockSm, &sample.sm_mhz);
    n.clock_mhz(handle, kNvmlClockMemory, &sample.memory_mhz);
    n.temperature_c(handle, kNvmlTemperatureGpu, &sample.temperature_c);
    n.power_mw(handle, &milliwatts);
    n.throttle_reasons(handle, &reasons);
    sample.power_w = milliwatts / 1e3;
    sample.throttle_reasons = reasons;
    return sample;
  } catch (const Error&) {
    return std::nullopt;  // no NVML: library_reports() says why
  }
}

std::string describe_throttle(std::uint64_t reasons) {
  if (reasons == 0) return "none";
  std::vector<std::string> texts;
  for (const ThrottleReason& reason : kThrottleReasons) {
    if ((reasons & reason.bit) == 0) continue;
    texts.emplace_back(reason.text);
    reasons &= ~reason.bit;
  }
  if (reasons != 0) texts.push_back(fmt::format("{:#x}", reasons));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string driver_version() {
  try {
    const Nvml& n = nvml();
    std::array<char, 96> text{};  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE is 80
    if (n.system_driver_version(text.data(), text.size()) != kNvmlSuccess) return {};
    return text.data();
  } catch (const Error&) {
    return {};  // no NVML: library_reports() says why
  }
}

}  // namespace einkorn::cuda
