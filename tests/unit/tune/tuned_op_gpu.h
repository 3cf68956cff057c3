#pragma once

// The toy op's moods on a GPU. A bad one breaks the context, at once or behind its warm-up.

#include <cstdlib>
#include <optional>
#include <vector>

#include "tests/unit/tune/tuned_op.h"

namespace einkorn::toy {

/// Tells this process and its children the file that kMoodyKernel was written to: a plan names a
/// file.
inline constexpr const char* kMoodyFile = "EINKORN_TEST_MOODY_FILE";

/// The bad address comes from the host: what the compiler sees of a null pointer it may leave out.
inline constexpr const char* kMoodyKernel = R"(
struct Params {
  const float* x;
  float* y;
  long long rows, cols, x_stride, y_stride;
  long long cycles;
  int* nowhere;
  int breaks_at;
};
__device__ int calls = 0;
__global__ void moody(const __grid_constant__ Params p) {
  const long long start = clock64();
  for (long long i = threadIdx.x; i < p.rows * p.cols; i += blockDim.x) {
    p.y[i / p.cols * p.y_stride + i % p.cols] = 2 * p.x[i / p.cols * p.x_stride + i % p.cols];
  }
  if (p.breaks_at > 0 && threadIdx.x == 0 && atomicAdd(&calls, 1) + 1 >= p.breaks_at) {
    *p.nowhere = 1;
  }
  while (clock64() - start < p.cycles) {
  }
}
)";

struct MoodyGpu {
  using Tiling = Moody::Tiling;
  /// As in kMoodyKernel.
  struct Params {
    const float* x = nullptr;
    float* y = nullptr;
    long long rows = 0, cols = 0, x_stride = 0, y_stride = 0;
    long long cycles = 0;    ///< it takes at least
    int* nowhere = nullptr;  ///< no address of the device
    int breaks_at = 0;       ///< the call, of a process, that writes there; 0: none
  };

  /// A check and the making of a sampler take less than 1800 calls of so small a problem, a sample
  /// at least 512.
  static constexpr int kLateCall = 3000;

  static std::optional<Refusal> supports(const Twice::Problem&, const DeviceInfo&) {
    return std::nullopt;
  }
  static std::vector<Tiling> tilings(const Twice::Problem&, const DeviceInfo&) {
    return {{Mood::kSlow, 2}, {Mood::kCrash, 1}, {Mood::kGood, 1},
            {Mood::kLate, 1}, {Mood::kSlow, 4},  {Mood::kCrash, 2}};
  }
  static Plan plan(const Twice::Problem& problem, const Tiling& tiling, const DeviceInfo&) {
    Params params{.rows = problem.rows, .cols = problem.cols};
    if (tiling.mood == Mood::kSlow) params.cycles = 40'000 * tiling.n;  // 20 us at 2 GHz
    if (tiling.mood == Mood::kCrash) params.breaks_at = 1;
    if (tiling.mood == Mood::kLate) params.breaks_at = kLateCall;
    const char* file = std::getenv(kMoodyFile);
    Plan out;
    out.stages.emplace_back(
        launch_stage<Twice::Args, Params>("moody", file == nullptr ? "" : file, "moody",
                                          {.grid = {1}, .block = {256}}, params, bind));
    return out;
  }
  static void bind(const Twice::Args& args, Params& params) {
    params.x = args.x.data_as<const float>();
    params.y = args.y.data_as<float>();
    params.x_stride = args.x.stride(0);
    params.y_stride = args.y.stride(0);
  }
};

inline constexpr Variant kMoodyGpu =
    make_variant<Twice, MoodyGpu>("smxx", "moody", 1, "cuda", "breaks the context if told to");

}  // namespace einkorn::toy
