// Time from work and peaks: Williams, Waterman and Patterson 2009, "Roofline", with the launches.

#include <algorithm>
#include <span>

#include <einkorn/roofline.h>

namespace einkorn {
namespace {

/// Microseconds by the datasheet and by the best peaks. Both 0: not known.
struct Times {
  double best = 0;
  double datasheet = 0;

  Times& operator+=(const Times& other) {
    best += other.best;
    datasheet += other.datasheet;
    return *this;
  }
};

Times longer(const Times& a, const Times& b) {
  return {std::max(a.best, b.best), std::max(a.datasheet, b.datasheet)};
}

bool told(const Cost& cost) { return cost.flops > 0 || cost.bytes > 0; }

double memory_us(double bytes, const Peaks& peaks) {
  return peaks.gbps > 0 ? bytes / peaks.gbps * 1e-3 : 0;
}
double compute_us(const Cost& cost, const Peaks& peaks) {
  const double rate = peaks.of(cost.unit);
  return rate > 0 ? cost.flops / rate * 1e-6 : 0;
}

/// Without the launch.
double roof_us(const Cost& cost, const Peaks& peaks) {
  return std::max(memory_us(cost.bytes, peaks), compute_us(cost, peaks));
}

class Predictor {
 public:
  Predictor(const Plan& plan, const DeviceInfo& device, const Work& work, const DevicePeaks& peaks)
      : leaves_(leaves(plan)), device_(device), best_(peaks.best()), peaks_(peaks) {
    if (leaves_.size() == 1 && !told(leaves_[0].cost)) {
      leaves_[0].cost = {work.executed_flops, work.est_bytes, work.unit};
    }
  }

  Prediction predict(const Plan& plan) {
    Prediction out;
    out.stages.reserve(leaves_.size());
    for (const Leaf& leaf : leaves_) out.stages.push_back(of_leaf(leaf));
    if (std::ranges::any_of(out.stages, [](const auto& stage) { return stage.us <= 0; })) {
      return out;
    }
    stages_ = &out.stages;
    const Times all = in_order(plan.stages);
    out.us = all.best;
    out.datasheet_us = all.datasheet;
    const auto longest = std::ranges::max_element(out.stages, {}, &StagePrediction::us);
    if (longest != out.stages.end()) out.bound = longest->bound;
    return out;
  }

 private:
  StagePrediction of_leaf(const Leaf& leaf) const {
    StagePrediction out;
    out.path = leaf.path;
    out.cost = leaf.cost;
    if (!told(leaf.cost) || best_.gbps <= 0) return out;
    const double memory = memory_us(leaf.cost.bytes, best_);
    const double compute = compute_us(leaf.cost, best_);
    out.us = std::max(memory, compute) + peaks_.launch_us;
    if (peaks_.datasheet.gbps > 0) {
      out.datasheet_us = roof_us(leaf.cost, peaks_.datasheet) + peaks_.launch_us;
    }
    out.bound = memory >= compute ? Bound::kMemory : Bound::kCompute;
    if (std::max(memory, compute) < peaks_.launch_us) out.bound = Bound::kLatency;
    return out;
  }

  Times in_order(std::span<const Stage> stages) {
    Times out;
    for (const Stage& stage : stages) out += of(stage);
    return out;
  }

  /// Branches share the device: none of its roofs gives more because there are several of them.
  /// Those of a CPU, where a stage takes all threads, and those that do not fit together run in
  /// order.
  Times side_by_side(const Concurrent& node) {
    if (device_.device.kind == DeviceKind::kCpu || joint_refusal(node, device_)) {
      return in_order(node.branches);
    }
    const std::size_t first = next_;
    Times out;
    for (const Stage& branch : node.branches) out = longer(out, of(branch));
    return longer(out, {together(first, best_), together(first, peaks_.datasheet)});
  }

  double together(std::size_t first, const Peaks& peaks) const {
    double memory = 0;
    double compute = 0;
    for (std::size_t i = first; i < next_; ++i) {
      memory += memory_us(leaves_[i].cost.bytes, peaks);
      compute += compute_us(leaves_[i].cost, peaks);
    }
    const double all = std::max(memory, compute);
    return all > 0 ? all + peaks_.launch_us : 0;
  }

  Times of(const Stage& stage) {
    return std::visit(
        [&](const auto& node) -> Times {
          using Node = std::remove_cvref_t<decltype(node)>;
          if constexpr (std::is_same_v<Node, Concurrent>) {
            return side_by_side(node);
          } else if constexpr (std::is_same_v<Node, Sequence> || std::is_same_v<Node, SubPlan>) {
            return in_order(node.stages);
          } else {
            const StagePrediction& leaf = (*stages_)[next_++];
            return {leaf.us, leaf.datasheet_us};
          }
        },
        stage.node);
  }

  std::vector<Leaf> leaves_;
  const DeviceInfo& device_;
  Peaks best_;
  const DevicePeaks& peaks_;
  const std::vector<StagePrediction>* stages_ = nullptr;
  std::size_t next_ = 0;  // the leaf that the walk is at
};

}  // namespace

std::string_view name(Bound bound) {
  switch (bound) {
    case Bound::kMemory:
      return "memory";
    case Bound::kCompute:
      return "compute";
    case Bound::kLatency:
      return "latency";
    case Bound::kUnknown:
      break;
  }
  return "unknown";
}

Prediction predict(const Plan& plan, const DeviceInfo& device, const Work& work,
                   const DevicePeaks& peaks) {
  Prediction out = Predictor(plan, device, work, peaks).predict(plan);
  out.cache_resident = work.min_bytes < static_cast<double>(device.l2_bytes);
  return out;
}

Prediction predict(const Plan& plan, const DeviceInfo& device, const Work& work) {
  return predict(plan, device, work, peaks_of(device));
}

}  // namespace einkorn
