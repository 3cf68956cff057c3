#pragma once

// Timed repetition of one call over rotating inputs.

#include <functional>
#include <memory>

#include <einkorn/cuda.h>
#include <einkorn/device.h>

namespace einkorn::measure {

/// Does one call on input set `set`, or queues it on the stream.
using Body = std::function<void(int set, Stream stream)>;

/// One thing that is timed against others, a sample at a time.
class Sampler {
 public:
  virtual ~Sampler() = default;
  /// Microseconds per call, the mean over one sample's calls.
  virtual double sample() = 0;
  /// Seconds that one sample takes, measured when it was set up.
  double seconds() const { return seconds_; }

 protected:
  double seconds_ = 0;
};

/// Warms up and settles how many calls make a sample of 3 to 10 ms (one call if it is longer). On
/// CUDA a sample is a graph of those calls between two events; on the CPU a loop between two
/// readings of the steady clock. `stream` is used for CUDA only and must outlive the sampler.
std::unique_ptr<Sampler> make_sampler(Device device, const cuda::OwnedStream* stream, Body body,
                                      int sets);

}  // namespace einkorn::measure
