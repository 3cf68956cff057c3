// einkorn predict: how long a plan would take, from its work and the device's peaks.

#include "cli/predict.h"

#include <einkorn/roofline.h>
#include <fmt/format.h>

#include "cli/choices.h"
#include "cli/json.h"
#include "cli/peaks_json.h"
#include "cli/status.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "src/registry/planned.h"

namespace einkorn::cli {
namespace {

/// One variant's plan and what becomes of it.
struct Predicted {
  const Variant* variant;
  std::string tiling;
  Prediction prediction;
};

struct Subject {
  Target target;
  AnyProblem problem;
  DeviceInfo device;
  DevicePeaks peaks;
  Work work;
};

Predicted predict_one(const Subject& subject, const Variant& variant, std::string tiling) {
  const void* problem = subject.problem.get();
  if (tiling.empty()) {
    tiling = detail::chosen_tiling(*subject.target.entry, variant, problem, subject.device);
  }
  const Plan plan = as_usage([&] { return variant.plan(problem, subject.device, tiling); });
  return {&variant, plan.tiling, predict(plan, subject.device, subject.work, subject.peaks)};
}

std::vector<Predicted> predict_all(const Subject& subject, const PredictOptions& options) {
  const OpEntry& entry = *subject.target.entry;
  const void* problem = subject.problem.get();
  std::vector<Predicted> out;
  if (!options.all_variants) {
    const Variant& chosen = select(entry, problem, subject.device, subject.target.choice());
    out.push_back(predict_one(subject, chosen, options.tiling));
    return out;
  }
  for (const Variant* variant : entry.variants) {
    if (variant == entry.op->reference_variant) continue;
    if (refusal_of(*variant, problem, subject.device)) continue;
    out.push_back(predict_one(subject, *variant, options.tiling));
  }
  return out;
}

Json known(double value) { return value > 0 ? Json(value) : Json(); }

std::string_view unit_name(Unit unit) { return kUnitNames[static_cast<std::size_t>(unit)]; }

/// Flops a byte.
double intensity_of(const Cost& cost) { return cost.bytes > 0 ? cost.flops / cost.bytes : 0; }

/// Whose peaks the predicted time is by.
std::string source_of(const DevicePeaks& peaks) {
  return peaks.measured ? peaks.measured->source : peaks.datasheet.source;
}

std::string_view roof_of(const Prediction& prediction) {
  return prediction.cache_resident ? "cache" : name(prediction.bound);
}

Json stage_json(const StagePrediction& stage) {
  return {{"name", stage.path},
          {"bytes", stage.cost.bytes},
          {"flops", stage.cost.flops},
          {"unit", unit_name(stage.cost.unit)},
          {"intensity", intensity_of(stage.cost)},
          {"predicted_us", known(stage.us)},
          {"datasheet_us", known(stage.datasheet_us)},
          {"bound", name(stage.bound)}};
}

Json to_json(const Subject& subject, const Predicted& one) {
  const Prediction& prediction = one.prediction;
  Json stages = Json::array();
  for (const StagePrediction& stage : prediction.stages) stages.push_back(stage_json(stage));
  const Peaks best = subject.peaks.best();
  return {{"device", subject.device.name},
          {"variant", one.variant->id()},
          {"problem", subject.target.entry->op->print(subject.problem.get())},
          {"predicted_us", known(prediction.us)},
          {"roof", roof_of(prediction)},
          {"stages", std::move(stages)},
          {"tiling", one.tiling},
          {"predicted_by", text_or_null(source_of(subject.peaks))},
          {"datasheet_us", known(prediction.datasheet_us)},
          {"launch_us", subject.peaks.launch_us},
          {"work",
           {{"useful_flops", subject.work.useful_flops},
            {"executed_flops", subject.work.executed_flops},
            {"min_bytes", subject.work.min_bytes},
            {"est_bytes", subject.work.est_bytes}}},
          {"ridge", known(ridge_point(best, subject.work.unit))},
          {"peaks", peaks_json(subject.peaks)}};
}

std::string us(double value) { return value > 0 ? fmt::format("{:.2f}", value) : "not known"; }

std::string stages_text(const Subject& subject, const Predicted& one) {
  const Prediction& prediction = one.prediction;
  Table table({"stage", ">MB", ">Mflop", ">flop/byte", ">datasheet µs", ">predicted µs", "bound"});
  for (const StagePrediction& stage : prediction.stages) {
    table.add({stage.path, fmt::format("{:.2f}", stage.cost.bytes * 1e-6),
               fmt::format("{:.2f}", stage.cost.flops * 1e-6),
               fmt::format("{:.2f}", intensity_of(stage.cost)), us(stage.datasheet_us),
               us(stage.us), std::string(name(stage.bound))});
  }
  if (prediction.stages.size() != 1) {
    table.add({"all", "", "", "", us(prediction.datasheet_us), us(prediction.us), ""});
  }
  std::string out =
      fmt::format("\n{}{}{}\n", one.variant->id(), one.tiling.empty() ? "" : "  ", one.tiling);
  out += table.text();
  if (prediction.cache_resident) {
    out += fmt::format("  fits the last-level cache ({:.0f} MiB): held against no roof\n",
                       static_cast<double>(subject.device.l2_bytes) / 1024 / 1024);
  }
  return out;
}

std::string peaks_text(std::string_view title, const Peaks& peaks, Unit unit) {
  if (peaks.gbps <= 0) return {};
  const double rate = peaks.of(unit);
  return fmt::format("{}{:.0f} GB/s{} ({})\n", title, peaks.gbps,
                     rate > 0 ? fmt::format(", {} {:.1f} TFLOP/s, ridge at {:.1f} flop/byte",
                                            unit_name(unit), rate, ridge_point(peaks, unit))
                              : std::string(),
                     peaks.source);
}

std::string to_text(const Subject& subject, const std::vector<Predicted>& all) {
  const Unit unit = subject.work.unit;
  const Work& work = subject.work;
  std::string out = fmt::format("device   {}{}\nproblem  {}\n", subject.device.name,
                                subject.device.present ? "" : " (not here: from the table)",
                                subject.target.entry->op->print(subject.problem.get()));
  out += peaks_text("peaks    ", subject.peaks.datasheet, unit);
  if (subject.peaks.measured) out += peaks_text("         ", *subject.peaks.measured, unit);
  out += fmt::format(
      "work     {:.2f} MB at least, {:.2f} MB estimated; {:.2f} Mflop useful, {:.2f} executed\n",
      work.min_bytes * 1e-6, work.est_bytes * 1e-6, work.useful_flops * 1e-6,
      work.executed_flops * 1e-6);
  if (subject.peaks.best().gbps > 0) {
    out += fmt::format("by       {}; {:.2f} µs a launch\n", source_of(subject.peaks),
                       subject.peaks.launch_us);
  }
  for (const Predicted& one : all) out += stages_text(subject, one);
  if (subject.peaks.best().gbps <= 0) {
    out +=
        "\nno peak of this device is known\n"
        "  hint: `einkorn doctor --measure` measures and keeps those of this machine\n";
  }
  return out;
}

}  // namespace

int predict_op(const PredictOptions& options) {
  const auto view = registry();
  const Words words = split_words(options.words);
  const Target target = only_target(*view, words, "predict");
  const AnyProblem problem = parse_problem(target, words.pairs);
  const DeviceInfo device = describe_device(options.device);
  const Subject subject{target, problem, device, peaks_of(device),
                        target.entry->op->work(problem.get())};
  const std::vector<Predicted> all = predict_all(subject, options);
  if (options.json) {
    Json out = Json::array();
    for (const Predicted& one : all) out.push_back(to_json(subject, one));
    print_json(options.all_variants ? out : out.at(0));
  } else {
    print(to_text(subject, all));
  }
  return all.empty() ? kNothingRan : kAllWell;
}

}  // namespace einkorn::cli
