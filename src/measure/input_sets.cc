#include "src/measure/input_sets.h"

#include <algorithm>
#include <cstring>

#include <einkorn/cuda.h>
#include <einkorn/jit.h>

#include "src/cpu/threads.h"
#include "src/measure/check.h"

namespace einkorn::measure {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kMaxSets = 256;
// For a device that does not tell its cache: larger than the last-level cache of most.
constexpr std::int64_t kUnknownCache = 64 * kMiB;

}  // namespace

int set_count(std::int64_t bytes, const DeviceInfo& device) {
  const bool gpu = device.device.kind == DeviceKind::kCuda;
  const std::int64_t size = std::max<std::int64_t>(bytes, 1);
  const std::int64_t cache = device.l2_bytes > 0 ? device.l2_bytes : kUnknownCache;
  const std::int64_t target = (gpu ? 4 : 2) * cache;
  const std::int64_t wanted =
      std::max<std::int64_t>((target + size - 1) / size, size >= target ? 2 : 3);
  const std::int64_t affordable = (gpu ? 8192 : 1024) * kMiB / size;
  return static_cast<int>(std::max<std::int64_t>(std::min({wanted, affordable, kMaxSets}), 2));
}

InputSets make_input_sets(const OpDef& op, const AnyProblem& problem, const DeviceInfo& device,
                          std::uint64_t seed) {
  Rng rng(seed);
  const CaseData host = op.make_inputs(problem.get(), rng);
  InputSets out;
  for (const Tensor& tensor : host.storage) {
    out.bytes += static_cast<std::int64_t>(tensor.view().nbytes());
  }
  const int count = set_count(out.bytes, device);
  for (int i = 0; i < count; ++i) out.sets.push_back(clone_to(op, host, device.device));
  return out;
}

CopySets make_copy_sets(std::int64_t bytes, const DeviceInfo& device, std::uint64_t seed) {
  CopySets out;
  out.bytes = bytes;
  // Filled by whole words; the few bytes past the end belong to the allocation only.
  const std::int64_t words = bytes / 8 + 1;
  const Tensor host = Tensor::empty({words}, kI64, kCpuDevice);
  Rng rng(seed);
  for (std::int64_t i = 0; i < words; ++i) host.view().data_as<std::uint64_t>()[i] = rng.next();
  const int count = set_count(2 * bytes, device);
  for (int i = 0; i < count; ++i) {
    out.from.push_back(host.to(device.device));
    out.to.push_back(Tensor::empty({words}, kI64, device.device));
    out.to.back().fill_bytes(0);
  }
  return out;
}

void copy_set(const CopySets& sets, int set, Stream stream) {
  const auto index = static_cast<std::size_t>(set);
  const auto* from = sets.from[index].view().data_as<const char>();
  auto* to = sets.to[index].view().data_as<char>();
  if (stream.device.kind == DeviceKind::kCuda) {
    cuda::copy_async(to, from, static_cast<std::size_t>(sets.bytes), stream);
    return;
  }
  // Pieces of 256 KiB: enough of them for all threads, each long enough for the prefetchers.
  constexpr std::int64_t kGrain = 256 * 1024;
  cpu::parallel_for(0, sets.bytes, kGrain, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
  });
}

CopyKernel::CopyKernel(const DeviceInfo& device)
    : kernel_(jit::load({.file = "plain_copy",
                         .source = "#include \"src/cuda/device/common/plain_copy.cuh\"\n",
                         .instantiate = "einkorn::plain_copy",
                         .arch = jit::native_arch(device.cc),
                         .options = {}})) {}

void CopyKernel::operator()(const CopySets& sets, int set, Stream stream) const {
  constexpr std::uint32_t kThreads = 512;  // as the kernel has it
  const auto index = static_cast<std::size_t>(set);
  const void* from = sets.from[index].view().data();
  void* to = sets.to[index].view().data();
  std::int64_t count = sets.bytes / 16;
  void* arguments[] = {static_cast<void*>(&from), static_cast<void*>(&to), &count};
  cuda::Launch launch;
  launch.grid.x = static_cast<std::uint32_t>((count + kThreads - 1) / kThreads);
  launch.block.x = kThreads;
  kernel_.launch(launch, stream, arguments);
}

}  // namespace einkorn::measure
