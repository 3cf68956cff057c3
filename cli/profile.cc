// einkorn profile: where the time of one variant goes, by stage times, counters or a timeline.

#include "cli/profile.h"

#include <algorithm>
#include <cctype>
#include <ctime>
#include <filesystem>

#include <einkorn/error.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "cli/files.h"
#include "cli/profile_text.h"
#include "cli/status.h"
#include "cli/target.h"
#include "src/cuda/cupti.h"
#include "src/profile/documents.h"
#include "src/registry/planned.h"
#include "src/registry/suggest.h"

namespace einkorn::cli {
namespace {

/// A name of a file that keeps letters, digits and what problems are made of.
std::string slug(std::string_view text) {
  // File systems take 255 bytes.
  constexpr std::size_t kMost = 160;
  std::string out;
  for (const char c : text.substr(0, kMost)) {
    const bool keep = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '=' || c == '.' ||
                      c == '-' || c == '_';
    out += keep ? c : (c == '/' ? '-' : '_');
  }
  return out.empty() ? "none" : out;
}

/// Of its own for each profile: one that is there gets a number behind it.
std::string default_folder(const std::string& mode, const profile::Subject& subject) {
  const std::string base = fmt::format(
      "out/profiles/{}/{}/{}/{:%Y%m%dT%H%M%SZ}", mode, slug(subject.variant.id()),
      slug(subject.entry.op->print(subject.problem.get())), fmt::gmtime(std::time(nullptr)));
  std::string folder = base;
  std::error_code ignored;
  for (int i = 2; std::filesystem::exists(folder, ignored); ++i) {
    folder = fmt::format("{}-{}", base, i);
  }
  return folder;
}

Profiled profile_event(const ProfileOptions& options, const profile::Subject& subject) {
  Progress progress;
  progress.about(fmt::format("profile {}", subject.variant.id()));
  profile::EventOptions request;
  request.seconds = options.seconds;
  request.stop = interrupted;
  request.progress = [&progress](const std::string& text, int round, int rounds) {
    progress.of(round, rounds);
    try {
      progress.show(text);
    } catch (const Interrupted&) {
      if (round == 0) throw;  // nothing is measured yet; later `stop` keeps what is
    }
  };
  const profile::EventProfile found = profile::profile_event(subject, request);
  progress.clear();
  Profiled out;
  out.document = profile::params_json("event", subject);
  out.document.update(profile::event_json(found));
  out.text = event_text(found);
  if (!found.complete) {
    out.document["interrupted"] = true;
    out.text += "\nstopped by Ctrl-C: fewer samples than planned\n";
    out.status = kInterrupted;
  }
  return out;
}

Profiled profile_timeline(const profile::Subject& subject) {
  Progress progress;
  progress.about(fmt::format("profile {}", subject.variant.id()));
  const profile::Timeline found = profile::profile_timeline(
      subject, [&progress](const std::string& text) { progress.show(text); });
  progress.clear();
  std::uint32_t version = 0;
  static_cast<void>(cuda::cupti().get_version(&version));
  Profiled out;
  out.document =
      profile::params_json("timeline", subject, {{"cupti", cuda::describe_cupti_version(version)}});
  out.document.update(profile::timeline_json(found));
  out.text = timeline_text(found);
  out.files.push_back({"trace.json", profile::chrome_trace(found, subject.variant.id())});
  return out;
}

/// Exit(kNothingRan) when no variant serves.
const Variant& variant_of(const Target& target, const AnyProblem& problem,
                          const DeviceInfo& device) {
  const Selection selection =
      as_usage([&] { return explain(*target.entry, problem.get(), device, target.choice()); });
  if (selection.chosen != nullptr) return *selection.chosen;
  throw Exit(kNothingRan, describe_failure(*target.entry, problem.get(), device, selection));
}

void refuse_cpu(const std::string& mode, const Variant& variant, const DeviceInfo& device) {
  if (device.device.kind == DeviceKind::kCuda || mode == "event") return;
  throw Exit(kNothingRan,
             fmt::format("profile: --mode {} reads a CUDA device, and {} runs on the CPU\n"
                         "  hint: --mode event times the stages of a CPU variant as well",
                         mode, variant.id()));
}

void report(const ProfileOptions& options, const profile::Subject& subject,
            const Profiled& profiled) {
  const std::string folder =
      options.output.empty() ? default_folder(options.mode, subject) : options.output;
  const std::string head =
      fmt::format("{}, {}\ndevice  {}\ntiling  {}\n\n", subject.variant.id(),
                  subject.entry.op->print(subject.problem.get()), subject.device.name,
                  subject.tiling.empty() ? "none" : subject.tiling);
  if (options.json) {
    print_json(profiled.document);
  } else {
    print(head + profiled.text);
  }
  // After the result is on the screen: a folder that cannot be written loses no measurement.
  Json params;
  for (const char* key : {"mode", "op", "variant", "problem", "tiling", "device", "driver",
                          "versions", "commit", "date", "seed"}) {
    params[key] = profiled.document[key];
  }
  write_file(folder + "/params.json", json_text(params));
  write_file(folder + "/profile.json", json_text(profiled.document));
  write_file(folder + "/report.txt", plain(head + profiled.text));
  for (const Profiled::File& file : profiled.files) write_file(folder + '/' + file.name, file.text);
  if (!options.json) print(fmt::format("\nwritten to {}\n", folder));
}

}  // namespace

int profile_op(const ProfileOptions& options) {
  const std::vector<std::string_view> modes{"event", "counters", "timeline"};
  if (std::ranges::find(modes, options.mode) == modes.end()) {
    throw Exit(kBadUsage, "--mode: " + expected_one_of(options.mode, modes));
  }
  const auto view = registry();
  const Words words = split_words(options.words);
  const Target target = only_target(*view, words, "profile");
  const AnyProblem problem = parse_problem(target, words.pairs);
  // Counters say something of a device that is not here, too: what the compiled kernels take.
  const DeviceInfo device = options.mode == "counters" ? describe_device(options.device)
                                                       : device_info(find_device(options.device));
  const Variant& variant = variant_of(target, problem, device);
  refuse_cpu(options.mode, variant, device);
  profile::Subject subject{*target.entry, variant, problem, {}, device, options.seed};
  subject.tiling =
      options.tiling.empty()
          ? detail::chosen_tiling(*target.entry, variant, problem.get(), device)
          : as_usage([&] { return variant.plan(problem.get(), device, options.tiling).tiling; });

  catch_interrupts();
  Profiled profiled;
  if (options.mode == "event") profiled = profile_event(options, subject);
  if (options.mode == "timeline") profiled = profile_timeline(subject);
  if (options.mode == "counters") profiled = profile_counters(subject);
  report(options, subject, profiled);
  return profiled.status;
}

}  // namespace einkorn::cli
