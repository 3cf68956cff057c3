// What this machine's memory and arithmetic give at most, measured: the roofs that CPU variants are
// held against.

// Highway includes this file once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/cpu/peaks.cc"
#include "src/cpu/hwy_targets.h"
// After the targets.
#include <hwy/foreach_target.h>
// After the list of targets.
#include <hwy/highway.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <einkorn/tensor.h>
#include <hwy/cache_control.h>

#include "src/cpu/describe.h"
#include "src/cpu/threads.h"

HWY_BEFORE_NAMESPACE();
namespace einkorn::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Copies past the caches; addresses and bytes are multiples of 128.
HWY_ATTR void copy_stream(const std::uint8_t* source, std::uint8_t* destination,
                          std::size_t bytes) {
  const hn::ScalableTag<std::uint8_t> tag;
  for (std::size_t i = 0; i < bytes; i += hn::Lanes(tag)) {
    hn::Stream(hn::Load(tag, source + i), tag, destination + i);
  }
  hwy::FlushStream();
}

/// `rounds` times 12 independent multiply-adds of vectors, which hides a latency of 4 to 6 cycles
/// on two units; returns the floating-point operations done.
HWY_ATTR double multiply_add(std::int64_t rounds, float* result) {
  const hn::ScalableTag<float> tag;
  const auto factor = hn::Set(tag, 0.9999F);
  const auto term = hn::Set(tag, 1e-4F);
  auto a0 = hn::Set(tag, 1.0F), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0;
  auto b0 = a0, b1 = a0, b2 = a0, b3 = a0, b4 = a0, b5 = a0;
  for (std::int64_t i = 0; i < rounds; ++i) {
    a0 = hn::MulAdd(a0, factor, term);
    a1 = hn::MulAdd(a1, factor, term);
    a2 = hn::MulAdd(a2, factor, term);
    a3 = hn::MulAdd(a3, factor, term);
    a4 = hn::MulAdd(a4, factor, term);
    a5 = hn::MulAdd(a5, factor, term);
    b0 = hn::MulAdd(b0, factor, term);
    b1 = hn::MulAdd(b1, factor, term);
    b2 = hn::MulAdd(b2, factor, term);
    b3 = hn::MulAdd(b3, factor, term);
    b4 = hn::MulAdd(b4, factor, term);
    b5 = hn::MulAdd(b5, factor, term);
  }
  a0 = hn::Add(hn::Add(hn::Add(a0, a1), hn::Add(a2, a3)), hn::Add(a4, a5));
  b0 = hn::Add(hn::Add(hn::Add(b0, b1), hn::Add(b2, b3)), hn::Add(b4, b5));
  *result = hn::GetLane(hn::Add(a0, b0));
  return static_cast<double>(rounds) * 12 * 2 * static_cast<double>(hn::Lanes(tag));
}

}  // namespace einkorn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace einkorn::cpu {
namespace {

HWY_EXPORT(copy_stream);
HWY_EXPORT(multiply_add);

/// Shortest of several runs, seconds; about a second in all.
template <class F>
double best_seconds(F&& run) {
  using Clock = std::chrono::steady_clock;
  double best = 1e30;
  const auto start = Clock::now();
  for (int i = 0; i < 3 || Clock::now() - start < std::chrono::milliseconds(500); ++i) {
    const auto before = Clock::now();
    run();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - before).count());
  }
  return best;
}

}  // namespace

std::vector<std::string> highway_targets() {
  std::vector<std::string> names;
  // Lower bits are better targets.
  for (std::int64_t left = HWY_SUPPORTED_TARGETS & (HWY_TARGETS); left != 0; left &= left - 1) {
    names.emplace_back(hwy::TargetName(left & ~(left - 1)));
  }
  return names;
}

double measure_copy_gbps() {
  constexpr std::int64_t kBytes = std::int64_t{1} << 28;
  Tensor source = Tensor::empty({kBytes}, kU8, kCpuDevice);
  Tensor destination = Tensor::empty({kBytes}, kU8, kCpuDevice);
  source.fill_bytes(1);
  destination.fill_bytes(2);
  constexpr std::int64_t kPage = 1 << 16;
  const double seconds = best_seconds([&] {
    parallel_for(0, kBytes / kPage, 16, [&](std::int64_t begin, std::int64_t end) {
      HWY_DYNAMIC_DISPATCH(copy_stream)
      (source.view().data_as<std::uint8_t>() + begin * kPage,
       destination.view().data_as<std::uint8_t>() + begin * kPage,
       static_cast<std::size_t>((end - begin) * kPage));
    });
  });
  return 2.0 * static_cast<double>(kBytes) / seconds * 1e-9;
}

double measure_fma_gflops() {
  const int threads = thread_count();
  constexpr std::int64_t kRounds = 1 << 20;
  std::vector<double> flops(static_cast<std::size_t>(threads));
  std::vector<float> results(flops.size());
  const double seconds = best_seconds([&] {
    parallel_for(0, threads, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const auto at = static_cast<std::size_t>(i);
        flops[at] = HWY_DYNAMIC_DISPATCH(multiply_add)(kRounds, &results[at]);
      }
    });
  });
  double total = 0;
  for (const double one : flops) total += one;
  return total / seconds * 1e-9;
}

}  // namespace einkorn::cpu
#endif  // HWY_ONCE
