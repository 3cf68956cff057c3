#include "src/cuda/cupti.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <utility>

#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn::cuda {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::size_t kRecordAlign = 8;  // ACTIVITY_RECORD_ALIGNMENT
constexpr std::uint32_t kFlushForced = 1;
// cupti_result.h
constexpr CuptiResult kInsufficientPrivileges = 35;
constexpr CuptiResult kMultipleSubscribers = 39;

/// CUPTI's callbacks take no context of ours, so what they gather has to be reachable by them
/// alone.
struct Gathered {
  std::mutex mutex;
  bool in_use = false;
  const Cupti* cupti = nullptr;
  std::vector<KernelRecord> records;
  int strange = 0;  ///< records that cannot be what the struct says
};

Gathered& gathered() {
  static Gathered one;
  return one;
}

void check(const Cupti& api, CuptiResult result, std::string_view what) {
  if (result == kCuptiSuccess) return;
  const char* text = nullptr;
  if (api.result_string(result, &text) != kCuptiSuccess || text == nullptr) text = "unknown error";
  std::string hint;
  if (result == kInsufficientPrivileges) {
    hint = "\n  hint: run as root, or let all users profile: NVreg_RestrictProfilingToAdminUsers=0";
  }
  if (result == kMultipleSubscribers) {
    hint = "\n  hint: another profiler is attached to this process";
  }
  throw_error(ErrorKind::kRuntime,
              fmt::format("libcupti: {}: {} ({}){}", what, text, result, hint));
}

void request_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kRecordAlign, kBufferBytes));
  *bytes = *buffer == nullptr ? 0 : kBufferBytes;  // without one CUPTI counts what it drops
  *records = 0;                                    // as many as fit
}

bool plausible(const CuptiKernel& kernel) {
  return kernel.name != nullptr && kernel.start != 0 && kernel.end >= kernel.start &&
         kernel.grid_x > 0 && kernel.grid_y > 0 && kernel.grid_z > 0 && kernel.block_x > 0 &&
         kernel.block_y > 0 && kernel.block_z > 0 &&
         std::int64_t{kernel.block_x} * kernel.block_y * kernel.block_z <= 1024;
}

Dim3 dim(std::int32_t x, std::int32_t y, std::int32_t z) {
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
          static_cast<std::uint32_t>(z)};
}

void add(Gathered& all, const CuptiKernel& kernel) {
  if (!plausible(kernel)) {
    ++all.strange;
    return;
  }
  all.records.push_back({kernel.name, kernel.start, kernel.end, kernel.device_id, kernel.stream_id,
                         kernel.correlation_id, dim(kernel.grid_x, kernel.grid_y, kernel.grid_z),
                         dim(kernel.block_x, kernel.block_y, kernel.block_z),
                         kernel.registers_per_thread});
}

void buffer_done(void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid_bytes) {
  Gathered& all = gathered();
  const std::lock_guard lock(all.mutex);
  std::uint32_t* record = nullptr;
  while (valid_bytes > 0 && all.in_use &&
         all.cupti->next_record(buffer, valid_bytes, &record) == kCuptiSuccess) {
    if (*record == kCuptiConcurrentKernel) add(all, *reinterpret_cast<CuptiKernel*>(record));
  }
  std::free(buffer);
}

}  // namespace

Cupti::Cupti() : library(DynamicLibrary::open(cupti_spec())) {
  library.resolve("cuptiGetVersion", get_version);
  library.resolve("cuptiGetResultString", result_string);
  library.resolve("cuptiActivityRegisterCallbacks", register_callbacks);
  library.resolve("cuptiActivityEnable", enable);
  library.resolve("cuptiActivityDisable", disable);
  library.resolve("cuptiActivityFlushAll", flush_all);
  library.resolve("cuptiActivityGetNextRecord", next_record);
  library.resolve("cuptiActivityGetNumDroppedRecords", dropped_records);
}

const Cupti& cupti() {
  static LazyTable<Cupti> table;
  return table.get();
}

std::string describe_cupti_version(std::uint32_t version) {
  if (version < 130000) return fmt::format("API {}", version);
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

KernelRecorder::KernelRecorder() : cupti_(cupti()) {
  Gathered& all = gathered();
  {
    const std::lock_guard lock(all.mutex);
    EK_CHECK(!all.in_use, ErrorKind::kRuntime, "libcupti: kernels are being recorded already");
    all.in_use = true;
    all.cupti = &cupti_;
    all.records.clear();
    all.strange = 0;
  }
  try {
    check(cupti_, cupti_.register_callbacks(request_buffer, buffer_done), "registering");
    check(cupti_, cupti_.enable(kCuptiConcurrentKernel), "recording kernels");
  } catch (...) {
    const std::lock_guard lock(all.mutex);
    all.in_use = false;
    throw;
  }
}

KernelRecorder::~KernelRecorder() {
  // A failure leaves recording on, which costs time and changes nothing.
  static_cast<void>(cupti_.disable(kCuptiConcurrentKernel));
  static_cast<void>(cupti_.flush_all(kFlushForced));
  Gathered& all = gathered();
  const std::lock_guard lock(all.mutex);
  all.in_use = false;
}

std::vector<KernelRecord> KernelRecorder::take() {
  check(cupti_, cupti_.flush_all(kFlushForced), "fetching records");
  std::size_t dropped = 0;
  check(cupti_, cupti_.dropped_records(nullptr, 0, &dropped), "counting records");
  EK_CHECK(dropped == 0, ErrorKind::kRuntime,
           fmt::format("libcupti: {} records were lost for want of memory", dropped));
  Gathered& all = gathered();
  std::vector<KernelRecord> out;
  int strange = 0;
  {
    const std::lock_guard lock(all.mutex);
    out = std::exchange(all.records, {});
    strange = std::exchange(all.strange, 0);
  }
  if (strange > 0) {
    std::uint32_t version = 0;
    check(cupti_, cupti_.get_version(&version), "asking for its version");
    throw_error(
        ErrorKind::kRuntime,
        fmt::format("libcupti: {} of {} records are not of the form known, version {} ({})\n"
                    "  hint: set EINKORN_CUPTI to a libcupti.so of CUDA 12 or 13",
                    strange, strange + static_cast<int>(out.size()),
                    describe_cupti_version(version), cupti_.library.path()));
  }
  std::ranges::sort(out, {}, &KernelRecord::correlation);
  return out;
}

}  // namespace einkorn::cuda
