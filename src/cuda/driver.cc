#include "src/cuda/driver.h"

#include <array>
#include <atomic>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn::cuda {
namespace {

std::atomic<bool> loaded{false};

LazyTable<Driver>& table() {
  static LazyTable<Driver> instance;
  return instance;
}

template <class Function>
void resolve(const DynamicLibrary& library, const char* name, int version, Function& out) {
  out = reinterpret_cast<Function>(library.symbol(name));
  if (out != nullptr) return;
  throw_error(ErrorKind::kRuntime,
              fmt::format("libcuda: function {} is missing from {} (driver for CUDA {}.{})\n"
                          "  hint: einkorn needs a driver for CUDA 12.0 or newer (525)",
                          name, library.path(), version / 1000, version % 1000 / 10));
}

struct PrimaryContexts {
  explicit PrimaryContexts(int devices)
      : contexts(std::make_unique<std::atomic<CUcontext>[]>(static_cast<std::size_t>(devices))) {}
  std::unique_ptr<std::atomic<CUcontext>[]> contexts;
  std::mutex mutex;
};

PrimaryContexts& primary_contexts() {
  static PrimaryContexts instance(driver().devices);
  return instance;
}

std::string_view lost_hint(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
      return "look at `nvidia-smi -q` and the kernel log: the device itself reports a fault";
    default:
      return "run the same command under compute-sanitizer to find the kernel and the access";
  }
}

std::string_view other_hint(CUresult result) {
  switch (result) {
    case CUDA_ERROR_NOT_INITIALIZED:
      return "CUDA does not survive fork(): start worker processes by spawn, or fork before first "
             "use";
    case CUDA_ERROR_NO_DEVICE:
      return "check CUDA_VISIBLE_DEVICES and `nvidia-smi`";
    case CUDA_ERROR_SYSTEM_NOT_READY:
      return "the fabric manager or another service of the machine is not running yet";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
      return "libcuda and the kernel module are of different versions: reboot or reinstall the "
             "driver";
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_INVALID_SOURCE:
      return "the kernel was compiled for another architecture, or by a newer compiler than the "
             "driver knows; `einkorn doctor` shows both versions";
    case CUDA_ERROR_OUT_OF_MEMORY:
      return "free device memory, or use smaller shapes";
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
      return "the legacy default stream cannot be captured, and nothing else may use it meanwhile: "
             "use a stream of your own";
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
      return "something that cannot be captured was called while the stream was capturing";
    default:
      return "";
  }
}

}  // namespace

Driver::Driver() : library(DynamicLibrary::open(libcuda_spec())) {
  resolve(library, "cuDriverGetVersion", 0, cuDriverGetVersion);
  if (cuDriverGetVersion(&version) != CUDA_SUCCESS) version = 0;
#define EK_RESOLVE(function) resolve(library, #function, version, function);
  EK_DRIVER_FUNCTIONS(EK_RESOLVE)
#undef EK_RESOLVE
  resolve(library, "cuEventElapsedTime", version, cuEventElapsedTime_v1);

  const auto initialised = [this](CUresult result, const char* what) {
    if (result == CUDA_SUCCESS) return;
    // driver() is not usable yet, so the error is named here.
    const char* error = nullptr;
    const char* text = nullptr;
    cuGetErrorName(result, &error);
    cuGetErrorString(result, &text);
    const std::string_view hint = other_hint(result);
    throw_error(ErrorKind::kRuntime,
                fmt::format("cuda: {}: {}: {}{}{}", what, error == nullptr ? "unknown" : error,
                            text == nullptr ? "no description" : text,
                            hint.empty() ? "" : "\n  hint: ", hint));
  };
  initialised(cuInit(0), "initialising the driver");
  initialised(cuDeviceGetCount(&devices), "counting devices");
  loaded.store(true, std::memory_order_release);
}

const Driver& driver() { return table().get(); }

bool driver_loaded() { return loaded.load(std::memory_order_acquire); }

bool is_lost_device(CUresult result) {
  static constexpr std::array kLost = {CUDA_ERROR_ILLEGAL_ADDRESS,
                                       CUDA_ERROR_LAUNCH_FAILED,
                                       CUDA_ERROR_LAUNCH_TIMEOUT,
                                       CUDA_ERROR_ASSERT,
                                       CUDA_ERROR_HARDWARE_STACK_ERROR,
                                       CUDA_ERROR_ILLEGAL_INSTRUCTION,
                                       CUDA_ERROR_MISALIGNED_ADDRESS,
                                       CUDA_ERROR_INVALID_ADDRESS_SPACE,
                                       CUDA_ERROR_INVALID_PC,
                                       CUDA_ERROR_ECC_UNCORRECTABLE,
                                       CUDA_ERROR_NVLINK_UNCORRECTABLE,
                                       CUDA_ERROR_DEVICE_UNAVAILABLE,
                                       CUDA_ERROR_CONTEXT_IS_DESTROYED,
                                       CUDA_ERROR_TENSOR_MEMORY_LEAK,
                                       CUDA_ERROR_CONTAINED,
                                       CUDA_ERROR_UNKNOWN};
  for (CUresult lost : kLost) {
    if (result == lost) return true;
  }
  return false;
}

std::string describe_driver_error(CUresult result, std::string_view what) {
  const Driver& d = driver();
  const char* name = nullptr;
  const char* text = nullptr;
  d.cuGetErrorName(result, &name);
  d.cuGetErrorString(result, &text);
  std::string message =
      fmt::format("cuda: {}: {}: {}", what,
                  name == nullptr ? fmt::format("error {}", static_cast<int>(result)) : name,
                  text == nullptr ? "no description" : text);
  if (is_lost_device(result)) {
    message += fmt::format(
        "\n  the context is lost: every later CUDA call of this process fails, and the process "
        "must "
        "restart; the cause may be any kernel queued before\n  hint: {}",
        lost_hint(result));
  } else if (const std::string_view hint = other_hint(result); !hint.empty()) {
    message += fmt::format("\n  hint: {}", hint);
  }
  return message;
}

void throw_driver_error(CUresult result, std::string_view what) {
  throw_error(ErrorKind::kRuntime, describe_driver_error(result, what));
}

void check_device_index(int device) {
  const int count = driver().devices;
  EK_CHECK(device >= 0 && device < count, ErrorKind::kValue,
           fmt::format("cuda: device index: expected 0 <= index < {}, got {}\n"
                       "  hint: `einkorn doctor` lists the devices",
                       count, device));
}

CUcontext primary_context(int device) {
  check_device_index(device);
  PrimaryContexts& all = primary_contexts();
  std::atomic<CUcontext>& slot = all.contexts[static_cast<std::size_t>(device)];
  if (CUcontext context = slot.load(std::memory_order_acquire)) return context;
  const std::lock_guard lock(all.mutex);
  if (CUcontext context = slot.load(std::memory_order_relaxed)) return context;
  CUcontext context = nullptr;
  check(driver().cuDevicePrimaryCtxRetain(&context, device),
        fmt::format("making a context on cuda:{}", device));
  slot.store(context, std::memory_order_release);
  return context;
}

}  // namespace einkorn::cuda
