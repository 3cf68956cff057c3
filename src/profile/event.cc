#include "src/profile/event.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <einkorn/roofline.h>
#include <einkorn/tensor.h>
#include <fmt/format.h>

#include "src/measure/input_sets.h"
#include "src/measure/sampler.h"
#include "src/profile/concurrent_nodes.h"

namespace einkorn::profile {
namespace {

constexpr int kMinRounds = 11;
constexpr int kMaxRounds = 201;

/// One thing that is timed.
struct Timed {
  std::unique_ptr<measure::Sampler> sampler;
  std::vector<double> samples = {};
};

class EventRun {
 public:
  EventRun(const Subject& subject, const EventOptions& options)
      : subject_(subject),
        options_(options),
        executable_(subject.plan(), subject.device),
        leaves_(leaves(executable_.plan())),
        nodes_(concurrent_nodes(executable_.plan())) {
    EK_CHECK(!leaves_.empty(), ErrorKind::kValue,
             fmt::format("{}: an empty problem has no stages", subject.variant.id()));
    if (is_cuda()) stream_.emplace(subject.device.device.index);
    say("preparing inputs", 0, 0);
    inputs_ =
        measure::make_input_sets(*subject.entry.op, subject.problem, subject.device, subject.seed);
    const auto bytes = static_cast<std::int64_t>(executable_.plan().workspace_bytes);
    memory_ = Tensor::empty({std::max<std::int64_t>(bytes, 1)}, kU8, subject.device.device);
    workspace_ = {static_cast<std::byte*>(memory_.view().data()), static_cast<std::size_t>(bytes)};
  }

  EventProfile measure() {
    set_up();
    EventProfile out;
    out.complete = rounds();
    fill(out);
    return out;
  }

 private:
  bool is_cuda() const { return subject_.device.device.kind == DeviceKind::kCuda; }
  Stream stream() const { return stream_ ? stream_->get() : Stream::cpu(); }
  const void* args(int set) const { return inputs_.sets[static_cast<std::size_t>(set)].args.get(); }
  void say(const std::string& text, int round, int rounds) const {
    if (options_.progress) options_.progress(text, round, rounds);
  }

  /// Leaves the workspace as a whole run leaves it.
  void run_before() { executable_.run(args(0), stream(), workspace_); }

  void add(const std::string& name, measure::Body body) {
    say("warming up " + name, 0, 0);
    run_before();
    timed_.push_back(
        {measure::make_sampler(subject_.device.device, stream_ ? &*stream_ : nullptr,
                               std::move(body), static_cast<int>(inputs_.sets.size()))});
  }

  /// The whole plan, then the leaves, then the places with branches.
  void set_up() {
    add("the whole plan",
        [this](int set, Stream on) { executable_.run(args(set), on, workspace_); });
    // A plan of one leaf is that leaf.
    for (std::size_t i = 0; i < leaves_.size() && leaves_.size() > 1; ++i) {
      add(leaves_[i].path,
          [this, i](int set, Stream on) { executable_.run_leaf(i, args(set), on, workspace_); });
    }
    for (const ConcurrentNode& node : nodes_) {
      joint_.push_back(std::make_unique<Executable>(node.alone, subject_.device));
      add(node.path, [this, one = joint_.back().get()](int set, Stream on) {
        one->run(args(set), on, workspace_);
      });
    }
  }

  int round_count() const {
    double longest = 0;
    for (const Timed& one : timed_) longest = std::max(longest, one.sampler->seconds());
    const double wanted = options_.seconds / std::max(longest, 1e-6);
    return static_cast<int>(
        std::clamp(wanted, static_cast<double>(kMinRounds), static_cast<double>(kMaxRounds)));
  }

  /// False when it was stopped.
  bool rounds() {
    const int count = round_count();
    for (int round = 0; round < count; ++round) {
      if (round > 0 && options_.stop && options_.stop()) return false;
      const std::string so_far =
          round == 0
              ? std::string()
              : fmt::format(", {:.2f} µs so far", measure::summarize(timed_[0].samples).median_us);
      say(fmt::format("round {} of {}{}", round + 1, count, so_far), round, count);
      for (Timed& one : timed_) {
        run_before();
        one.samples.push_back(one.sampler->sample());
      }
    }
    return true;
  }

  StageTime stage_time(const Leaf& leaf, const measure::Timing& timing, double total_us) const {
    StageTime out;
    out.name = leaf.path;
    out.timing = timing;
    out.branches = leaf.branches;
    out.share = timing.median_us / total_us;
    double bytes = leaf.cost.bytes;
    double flops = leaf.cost.flops;
    if (leaves_.size() == 1) {
      const Work work = subject_.entry.op->work(subject_.problem.get());
      bytes = work.min_bytes;
      flops = work.useful_flops;
    }
    out.gbps = bytes / timing.median_us * 1e-3;
    out.tflops = flops / timing.median_us * 1e-6;
    return out;
  }

  ConcurrentTime concurrent_time(const ConcurrentNode& node, const measure::Timing& joint,
                                 const std::vector<StageTime>& stages) const {
    ConcurrentTime out;
    out.name = node.path;
    out.joint = joint;
    for (const std::vector<std::size_t>& branch : node.branches) {
      double branch_us = 0;
      for (const std::size_t leaf : branch) branch_us += stages[leaf].timing.median_us;
      out.sum_us += branch_us;
      out.longest_us = std::max(out.longest_us, branch_us);
    }
    out.gain = out.sum_us / joint.median_us;
    return out;
  }

  /// What the roofline says of the plan and of each leaf; nothing where a peak is not known.
  void add_predictions(EventProfile& out) const {
    const Prediction prediction = predict(executable_.plan(), subject_.device,
                                          subject_.entry.op->work(subject_.problem.get()));
    const auto known = [](double us) { return us > 0 ? std::optional(us) : std::nullopt; };
    out.predicted_us = known(prediction.us);
    for (std::size_t i = 0; i < std::min(out.stages.size(), prediction.stages.size()); ++i) {
      out.stages[i].predicted_us = known(prediction.stages[i].us);
    }
  }

  void fill(EventProfile& out) const {
    std::vector<measure::Timing> times;
    for (const Timed& one : timed_) {
      times.push_back(measure::summarize(one.samples));
      EK_CHECK(times.back().median_us > 0, ErrorKind::kRuntime,
               fmt::format("{}: no time could be measured", subject_.variant.id()));
    }
    out.total = times[0];
    out.input_sets = static_cast<int>(inputs_.sets.size());
    const bool single = leaves_.size() == 1;
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      out.stages.push_back(stage_time(leaves_[i], times[single ? 0 : i + 1], out.total.median_us));
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const std::size_t at = 1 + (single ? 0 : leaves_.size()) + i;
      out.concurrent.push_back(concurrent_time(nodes_[i], times[at], out.stages));
    }
    add_predictions(out);
  }

  const Subject& subject_;
  const EventOptions& options_;
  Executable executable_;
  std::vector<Leaf> leaves_;
  std::vector<ConcurrentNode> nodes_;
  std::optional<cuda::OwnedStream> stream_ = std::nullopt;
  measure::InputSets inputs_ = {};
  Tensor memory_ = {};
  Workspace workspace_ = {};
  std::vector<std::unique_ptr<Executable>> joint_ = {};
  std::vector<Timed> timed_ = {};
};

}  // namespace

EventProfile profile_event(const Subject& subject, const EventOptions& options) {
  return EventRun(subject, options).measure();
}

}  // namespace einkorn::profile
