#pragma once

// CUPTI's activity records of kernels: which ran when, on which stream. Opened at run time;
// declared here, because its headers pull in those of the CUDA runtime, OpenACC and OpenMP.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <einkorn/cuda.h>

#include "src/cuda/dynamic_library.h"

namespace einkorn::cuda {

using CuptiResult = int;
inline constexpr CuptiResult kCuptiSuccess = 0;
inline constexpr std::uint32_t kCuptiConcurrentKernel = 10;

/// The beginning of CUpti_ActivityKernel4 (CUDA 9.0) to CUpti_ActivityKernel10 (CUDA 13.0), which
/// have the same members at the same places up to here (cupti_activity.h and
/// cupti_activity_deprecated.h of 13.0). Later ones only appended; a record is judged before it is
/// believed, see KernelRecorder.
struct CuptiKernel {
  std::uint32_t kind;
  std::uint8_t cache_config;
  std::uint8_t shared_memory_config;
  std::uint16_t registers_per_thread;
  std::uint32_t partitioned_cache_requested;
  std::uint32_t partitioned_cache_executed;
  std::uint64_t start;  ///< ns; 0 when it was not recorded
  std::uint64_t end;    ///< ns
  std::uint64_t completed;
  std::uint32_t device_id;
  std::uint32_t context_id;
  std::uint32_t stream_id;
  std::int32_t grid_x, grid_y, grid_z;
  std::int32_t block_x, block_y, block_z;
  std::int32_t static_shared_memory;
  std::int32_t dynamic_shared_memory;
  std::uint32_t local_memory_per_thread;
  std::uint32_t local_memory_total;
  std::uint32_t correlation_id;  ///< counts up with the calls of the driver's API
  std::int64_t grid_id;
  const char* name;  ///< mangled; of the record's own time
};
static_assert(offsetof(CuptiKernel, start) == 16 && offsetof(CuptiKernel, stream_id) == 48 &&
              offsetof(CuptiKernel, correlation_id) == 92 && offsetof(CuptiKernel, name) == 104);

/// The constructor opens and resolves; RuntimeError when that fails.
struct Cupti {
  Cupti();

  using RequestBuffer = void (*)(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records);
  using BufferDone = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer,
                              std::size_t bytes, std::size_t valid_bytes);

  DynamicLibrary library;
  CuptiResult (*get_version)(std::uint32_t* version) = nullptr;
  CuptiResult (*result_string)(CuptiResult result, const char** text) = nullptr;
  CuptiResult (*register_callbacks)(RequestBuffer, BufferDone) = nullptr;
  CuptiResult (*enable)(std::uint32_t kind) = nullptr;
  CuptiResult (*disable)(std::uint32_t kind) = nullptr;
  CuptiResult (*flush_all)(std::uint32_t flags) = nullptr;
  CuptiResult (*next_record)(std::uint8_t* buffer, std::size_t valid_bytes,
                             std::uint32_t** record) = nullptr;
  CuptiResult (*dropped_records)(void* context, std::uint32_t stream,
                                 std::size_t* dropped) = nullptr;
};

const Cupti& cupti();

/// "13.0.1" since CUDA 13; before, CUPTI counts by itself: "API 28".
std::string describe_cupti_version(std::uint32_t version);

/// One kernel that ran.
struct KernelRecord {
  std::string name;  ///< mangled
  std::uint64_t start_ns = 0, end_ns = 0;
  std::uint32_t device = 0;
  std::uint32_t stream = 0;  ///< CUPTI's number of it
  std::uint32_t correlation = 0;
  Dim3 grid, block;
  int registers = 0;
};

/// Records the kernels of this process while it lives. One at a time, as CUPTI has one place for
/// records; a second one is a RuntimeError.
class KernelRecorder {
 public:
  /// RuntimeError: CUPTI is missing, or refuses, as when another profiler is attached.
  KernelRecorder();
  ~KernelRecorder();
  KernelRecorder(const KernelRecorder&) = delete;
  KernelRecorder& operator=(const KernelRecorder&) = delete;

  /// Kernels that ran since the last call, in the order of their launches. What was launched has to
  /// have ended: synchronize before. RuntimeError: records were lost, or are not of the form known.
  std::vector<KernelRecord> take();

 private:
  const Cupti& cupti_;
};

}  // namespace einkorn::cuda
