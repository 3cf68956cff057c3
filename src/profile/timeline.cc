#include "src/profile/timeline.h"

#include <algorithm>
#include <utility>

#include <einkorn/error.h>
#include <einkorn/tensor.h>
#include <fmt/format.h>

#include "src/cuda/cupti.h"
#include "src/measure/input_sets.h"

namespace einkorn::profile {
namespace {

constexpr int kRuns = 5;
// Well under the driver's queue of about 1000 launches, past which a launch waits for the device.
constexpr std::size_t kMaxLaunches = 200;
// What the runs queue up behind: 32 fills of 256 MiB take 2 ms and more on any device with less
// than 4 TB/s, and 200 launches with their events less than that.
constexpr int kFills = 32;
constexpr std::int64_t kFillBytes = std::int64_t{256} << 20;

bool launches(const Leaf& leaf) {
  const auto* launch = std::get_if<LaunchStage>(&leaf.stage->node);
  return launch != nullptr && launch->launch.grid.count() > 0;
}

class TimelineRun {
 public:
  TimelineRun(const Subject& subject, const std::function<void(const std::string&)>& progress)
      : executable_(subject.plan(), subject.device),
        leaves_(leaves(executable_.plan())),
        nodes_(concurrent_nodes(executable_.plan())),
        stream_(subject.device.device.index) {
    EK_CHECK(std::ranges::any_of(leaves_, launches), ErrorKind::kValue,
             fmt::format("{}: an empty problem launches nothing", subject.variant.id()));
    progress("preparing inputs");
    inputs_ =
        measure::make_input_sets(*subject.entry.op, subject.problem, subject.device, subject.seed);
    const Device device = subject.device.device;
    const auto bytes = static_cast<std::int64_t>(executable_.plan().workspace_bytes);
    memory_ = Tensor::empty({std::max<std::int64_t>(bytes, 1)}, kU8, device);
    workspace_ = {static_cast<std::byte*>(memory_.view().data()), static_cast<std::size_t>(bytes)};
    fill_ = Tensor::empty({kFillBytes}, kU8, device);
  }

  Timeline measure(cuda::KernelRecorder& recorder,
                   const std::function<void(const std::string&)>& progress) {
    progress("warming up");
    run(0);
    stream_.synchronize();
    static_cast<void>(recorder.take());
    const std::size_t kernels = kernel_count();
    const int runs = kernels * kRuns > kMaxLaunches ? 1 : kRuns;
    progress(fmt::format("recording {} runs", runs));
    for (int i = 0; i < kFills; ++i) {
      cuda::fill_async(fill_.view().data(), 0, static_cast<std::size_t>(kFillBytes), stream_.get());
    }
    for (int i = 0; i < runs; ++i) run(i + 1);
    stream_.synchronize();
    return median_of(recorder.take(), static_cast<std::size_t>(runs));
  }

 private:
  void run(int number) {
    const auto set = static_cast<std::size_t>(number) % inputs_.sets.size();
    executable_.run(inputs_.sets[set].args.get(), stream_.get(), workspace_);
  }

  std::size_t kernel_count() const {
    return static_cast<std::size_t>(std::ranges::count_if(leaves_, launches));
  }

  /// The records in the order of the launches are the leaves, run after run.
  Timeline median_of(const std::vector<cuda::KernelRecord>& records, std::size_t runs) const {
    const std::size_t kernels = kernel_count();
    EK_CHECK(records.size() == kernels * runs, ErrorKind::kRuntime,
             fmt::format("timeline: expected records of {} kernels, CUPTI gave {}", kernels * runs,
                         records.size()));
    std::vector<Timeline> all;
    all.reserve(runs);
    for (std::size_t run = 0; run < runs; ++run) {
      all.push_back(analyse(spans_of(records, run * kernels), nodes_));
    }
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(runs / 2);
    std::ranges::nth_element(all, middle, {}, &Timeline::span_us);
    middle->runs = static_cast<int>(runs);
    return *middle;
  }

  std::vector<Span> spans_of(const std::vector<cuda::KernelRecord>& records,
                             std::size_t first) const {
    std::vector<Span> out;
    std::size_t next = first;
    std::uint64_t begin = records[first].start_ns;
    for (std::size_t i = 0; i < kernel_count(); ++i) {
      begin = std::min(begin, records[first + i].start_ns);
    }
    for (const Leaf& leaf : leaves_) {
      Span span;
      span.name = leaf.path;
      if (launches(leaf)) {
        const cuda::KernelRecord& record = records[next++];
        span.kernel = record.name;
        span.stream = record.stream;
        span.start_us = static_cast<double>(record.start_ns - begin) * 1e-3;
        span.duration_us = static_cast<double>(record.end_ns - record.start_ns) * 1e-3;
        span.grid = record.grid;
        span.block = record.block;
        span.registers = record.registers;
      }
      out.push_back(std::move(span));
    }
    return out;
  }

  Executable executable_;
  std::vector<Leaf> leaves_;
  std::vector<ConcurrentNode> nodes_;
  cuda::OwnedStream stream_;
  measure::InputSets inputs_ = {};
  Tensor memory_ = {};
  Workspace workspace_ = {};
  Tensor fill_ = {};
};

}  // namespace

Timeline profile_timeline(const Subject& subject,
                          const std::function<void(const std::string&)>& progress) {
  EK_CHECK(
      subject.device.device.kind == DeviceKind::kCuda, ErrorKind::kValue,
      fmt::format("timeline: expected a CUDA device, got {}", to_string(subject.device.device)));
  const cuda::ContextGuard context(subject.device.device.index);
  cuda::KernelRecorder recorder;
  TimelineRun run(subject, progress);
  return run.measure(recorder, progress);
}

}  // namespace einkorn::profile
