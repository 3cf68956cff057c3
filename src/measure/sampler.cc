#include "src/measure/sampler.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <einkorn/error.h>
#include <einkorn/registry.h>
#include <einkorn/tensor.h>

namespace einkorn::measure {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr double kSampleUs = 5000;
// Bounds the nodes of a graph; a call of 1 us still makes a sample of 4 ms.
constexpr int kMaxCalls = 4096;

int calls_for(double call_us, int sets) {
  const double wanted = std::ceil(kSampleUs / std::max(call_us, 0.01));
  int calls = static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(kMaxCalls)));
  // Whole rotations, so that every set counts alike.
  if (calls > sets) calls = (calls + sets - 1) / sets * sets;
  return calls;
}

class GraphSampler final : public Sampler {
 public:
  GraphSampler(Device device, const cuda::OwnedStream& stream, const Body& body, int sets)
      : stream_(stream),
        start_(device.index),
        stop_(device.index),
        flush_(Tensor::empty({std::max<std::int64_t>(2 * device_info(device).l2_bytes, 1)}, kU8,
                             device)) {
    for (int set = 0; set < sets; ++set) body(set, stream.get());  // loads kernels, touches memory
    stream.synchronize();
    record(body, sets, sets);
    double call_us = replay();
    for (int i = 0; i < 2; ++i) call_us = std::min(call_us, replay());
    // All sets take part even when they alone make a longer sample: rotation comes first.
    const int calls = std::max(calls_for(call_us, sets), sets);
    if (calls != sets) record(body, sets, calls);
    seconds_ = 2e-6 * call_us * calls;
  }

  double sample() override { return replay(); }

 private:
  void record(const Body& body, int sets, int calls) {
    graph_ = cuda::Graph::capture(stream_.get(), [&] {
      for (int i = 0; i < calls; ++i) body(i % sets, stream_.get());
    });
    calls_ = calls;
  }

  double replay() {
    const Stream stream = stream_.get();
    // What ran before may have left this call's inputs in the L2. A kernel that marks its own lines
    // to be evicted first never displaces them, and would go on finding them there.
    cuda::fill_async(flush_.view().data(), 0, flush_.view().nbytes(), stream);
    // The first replay keeps the device busy until the second, the timed one, is queued behind it:
    // the time of launching a graph stays out, and the clocks are up.
    graph_.replay(stream);
    start_.record(stream);
    graph_.replay(stream);
    stop_.record(stream);
    stop_.synchronize();
    return 1e3 * static_cast<double>(stop_.elapsed_ms_since(start_)) / calls_;
  }

  const cuda::OwnedStream& stream_;
  cuda::Graph graph_;
  int calls_ = 0;
  cuda::Event start_;
  cuda::Event stop_;
  Tensor flush_;
};

class HostSampler final : public Sampler {
 public:
  HostSampler(Body body, int sets) : body_(std::move(body)), sets_(sets) {
    calls_ = sets;
    run();  // touches memory
    calls_ = 1;
    double call_us = run();
    for (int i = 1; i < std::min(sets, 5); ++i) call_us = std::min(call_us, run());
    calls_ = calls_for(call_us, sets);
    seconds_ = 1e-6 * call_us * calls_;
  }

  double sample() override { return run(); }

 private:
  double run() {
    const auto start = SteadyClock::now();
    for (int i = 0; i < calls_; ++i) {
      body_(next_, Stream::cpu());
      if (++next_ == sets_) next_ = 0;
    }
    const std::chrono::duration<double, std::micro> passed = SteadyClock::now() - start;
    return passed.count() / calls_;
  }

  Body body_;
  int sets_;
  int calls_ = 1;
  int next_ = 0;
};

}  // namespace

std::unique_ptr<Sampler> make_sampler(Device device, const cuda::OwnedStream* stream, Body body,
                                      int sets) {
  EK_ICHECK(sets > 0, "a sampler without inputs");
  if (device.kind == DeviceKind::kCpu) return std::make_unique<HostSampler>(std::move(body), sets);
  EK_ICHECK(stream != nullptr, "a CUDA sampler without a stream");
  return std::make_unique<GraphSampler>(device, *stream, body, sets);
}

}  // namespace einkorn::measure
