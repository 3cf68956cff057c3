#pragma once

// Inputs in several copies, so that no call finds its own in the cache.

#include <cstdint>
#include <vector>

#include <einkorn/cuda.h>
#include <einkorn/op.h>

namespace einkorn::measure {

/// How many sets of `bytes` bytes to rotate over: together 4 times the last-level cache of a GPU or
/// twice a CPU's, at least 3 (2 when one set alone is that large), and no more than memory and
/// patience allow: 256 sets, 8 GiB on a GPU, 1 GiB on a CPU, but always 2.
int set_count(std::int64_t bytes, const DeviceInfo& device);

struct InputSets {
  std::vector<CaseData> sets;
  std::int64_t bytes = 0;  ///< memory of one set
};
InputSets make_input_sets(const OpDef& op, const AnyProblem& problem, const DeviceInfo& device,
                          std::uint64_t seed);

/// Buffers of `bytes` bytes to copy from and to, random data in the sources.
struct CopySets {
  std::vector<Tensor> from;
  std::vector<Tensor> to;
  std::int64_t bytes = 0;
};
CopySets make_copy_sets(std::int64_t bytes, const DeviceInfo& device, std::uint64_t seed);

/// Copies set `set`, on all threads of a CPU or by the driver, queued on the stream.
void copy_set(const CopySets& sets, int set, Stream stream);

/// The same on a GPU by a kernel of ours, 16 bytes a thread: at some sizes the driver's own copy is
/// the slower one, and a yardstick has to be the faster.
class CopyKernel {
 public:
  explicit CopyKernel(const DeviceInfo& device);
  void operator()(const CopySets& sets, int set, Stream stream) const;

 private:
  cuda::Kernel kernel_;
};

}  // namespace einkorn::measure
