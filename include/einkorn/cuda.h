#pragma once

// The driver as einkorn sees it: opened at run time, used as a guest.
//
// Nothing here needs a GPU to build or to link. Every function that needs the driver throws a
// RuntimeError with the places searched when it is not there; `available()` asks first.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <einkorn/device.h>

namespace einkorn::cuda {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;

  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  auto operator<=>(const Dim3&) const = default;
};

/// Geometry of one kernel launch.
struct Launch {
  Dim3 grid{};
  Dim3 block{};
  std::uint32_t smem_bytes = 0;  ///< dynamic shared memory; the opt-in above 48 KiB is made for you
  Dim3 cluster{};                ///< blocks per cluster; 1,1,1 launches without clusters
  bool pdl = false;  ///< may start before the previous kernel of the stream ends; the kernel must
                     ///< execute griddepcontrol.wait before it touches memory others write
  bool cooperative = false;
};

/// True when a driver was opened, initialises, and shows at least one device; otherwise false with
/// the reason (missing library and where it was searched, no device, or the driver's error).
bool available(std::string* reason = nullptr);

/// 0 when not available.
int device_count();

/// Properties of a present device, read once and kept. ValueError for an index out of range.
const DeviceInfo& device_info(int index);

/// A device from the table of known ones, here or not: "a100", "h100", "h200", "b200", "l40s",
/// "rtx4090", "rtx5090" or "sm_90"-like spelling for a plain one of that capability.
/// ValueError that lists the names.
DeviceInfo known_device(std::string_view name);

/// Names that known_device takes.
std::span<const std::string_view> known_device_names();

/// Makes `device` current for this scope without taking the caller's context away: when the current
/// context already belongs to the device it is used as it is, otherwise the device's primary
/// context is pushed and popped again.
class ContextGuard {
 public:
  explicit ContextGuard(int device);
  ~ContextGuard();
  ContextGuard(const ContextGuard&) = delete;
  ContextGuard& operator=(const ContextGuard&) = delete;

 private:
  bool pushed_ = false;
};

/// A non-blocking stream of our own.
class OwnedStream {
 public:
  explicit OwnedStream(int device);
  Stream get() const { return stream_; }
  void synchronize() const;

 private:
  Stream stream_;
  std::shared_ptr<void> owner_;
};

/// Waits for all work queued on a stream. RuntimeError with the driver's reason when it failed.
void synchronize(Stream stream);

/// True while the stream records a graph.
bool is_capturing(Stream stream);

class Event {
 public:
  explicit Event(int device);
  void record(Stream stream);
  void synchronize() const;
  /// Milliseconds from `start` to this event; both must have completed.
  float elapsed_ms_since(const Event& start) const;
  void* handle() const { return handle_.get(); }

 private:
  int device_;
  std::shared_ptr<void> handle_;
};

/// A recorded sequence of launches, replayed as one.
class Graph {
 public:
  /// Records what `body` queues on `stream` (thread-local capture mode).
  template <class Body>
  static Graph capture(Stream stream, Body&& body) {
    begin(stream);
    try {
      body();
    } catch (...) {
      abandon(stream);
      throw;
    }
    return end(stream);
  }
  void replay(Stream stream) const;

 private:
  static void begin(Stream stream);
  static void abandon(Stream stream);
  static Graph end(Stream stream);

  std::shared_ptr<void> exec_;
};

/// Queues a device-to-device copy; part of a graph when the stream is capturing.
void copy_async(void* destination, const void* source, std::size_t bytes, Stream stream);
/// Queues a fill; part of a graph when the stream is capturing.
void fill_async(void* destination, std::uint8_t value, std::size_t bytes, Stream stream);

/// A kernel of a loaded module; copies share the module and keep it loaded.
class Kernel {
 public:
  Kernel() = default;

  /// Queues one launch. `arguments` as for cuLaunchKernel: one pointer to each parameter's value.
  /// An empty grid launches nothing. ValueError when the geometry breaks a limit of the device,
  /// RuntimeError when the driver refuses; both name kernel, geometry and limit.
  void launch(const Launch& launch, Stream stream, void** arguments) const;

  /// Loads the kernel on a device and makes the opt-ins that `launch` needs. Launching does both
  /// when they are due, but the driver loads on first use, which a capturing stream may forbid.
  void prepare(const Launch& launch, int device) const;

  const std::string& name() const { return name_; }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  friend class Module;
  Kernel(std::shared_ptr<void> library, void* handle, std::string name)
      : library_(std::move(library)), handle_(handle), name_(std::move(name)) {}

  std::shared_ptr<void> library_;
  void* handle_ = nullptr;  // the library's record of this kernel
  std::string name_;
};

/// Loads a cubin for the devices of this process (context-independent).
class Module {
 public:
  static Module load(std::span<const std::byte> cubin, std::string_view name);
  /// ValueError for a name the module does not have. `shown` is the kernel's name in messages, the
  /// lowered one when empty.
  Kernel kernel(const std::string& lowered_name, std::string_view shown = {}) const;

 private:
  std::shared_ptr<void> library_;
};

/// Where each run-time library was found, or why not; for `doctor`.
struct LibraryReport {
  std::string library;             ///< "libcuda", "libnvrtc", "libnvidia-ml", "libcublasLt", ...
  std::string path;                ///< empty when not found
  std::string version;             ///< as the library reports it
  std::vector<std::string> tried;  ///< places in search order, with the loader's reason
};
std::vector<LibraryReport> library_reports();

/// Clocks and throttling sampled by NVML; nothing when NVML is not there.
struct ClockSample {
  unsigned sm_mhz = 0;
  unsigned memory_mhz = 0;
  unsigned temperature_c = 0;
  double power_w = 0;
  std::uint64_t throttle_reasons = 0;  ///< NVML's bit mask
};
std::optional<ClockSample> sample_clocks(int device);
std::string describe_throttle(std::uint64_t reasons);

/// "580.159.04"; empty without NVML.
std::string driver_version();

}  // namespace einkorn::cuda
