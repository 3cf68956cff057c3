// einkorn pack and warmup: compile ahead, into a folder that is shipped or into the cache.

#include <algorithm>
#include <chrono>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/jit_verbs.h"
#include "cli/json.h"
#include "cli/manifest.h"
#include "cli/source_file.h"
#include "cli/status.h"
#include "cli/terminal.h"
#include "cli/units.h"
#include "src/jit/batch.h"
#include "src/jit/pack.h"

namespace einkorn::cli {
namespace {

struct Batch {
  std::vector<jit::Request> requests;
  std::vector<jit::BatchResult> results;
  double seconds = 0;

  std::size_t failed() const {
    std::size_t count = 0;
    for (const jit::BatchResult& one : results) count += one.error ? 1 : 0;
    return count;
  }
  /// Those that no cache and no pack had.
  std::size_t compiled() const {
    return static_cast<std::size_t>(std::ranges::count_if(results, [](const auto& one) {
      return !one.error && std::ranges::any_of(one.trace.steps, [](const auto& step) {
        return step.outcome == "compiled";
      });
    }));
  }
};

Batch compile_batch(std::vector<jit::Request> requests) {
  Batch out{std::move(requests), {}, 0};
  const auto start = std::chrono::steady_clock::now();
  Progress progress;
  std::size_t finished = 0;
  out.results = jit::compile_all(out.requests, [&](std::size_t i, const jit::BatchResult&) {
    ++finished;
    progress.of(static_cast<double>(finished), static_cast<double>(out.requests.size()));
    progress.show(fmt::format("{} of {} compiled, {} for {}", finished, out.requests.size(),
                              out.requests[i].file, out.requests[i].arch));
  });
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

std::string failures_text(const Batch& batch) {
  std::string out;
  for (const jit::BatchResult& one : batch.results) {
    if (one.error) out += fmt::format("{}\n", one.error->what());
  }
  return out;
}

Json failures_json(const Batch& batch) {
  Json out = Json::array();
  for (std::size_t i = 0; i < batch.results.size(); ++i) {
    const std::optional<Error>& error = batch.results[i].error;
    if (!error) continue;
    const jit::Request& request = batch.requests[i];
    out.push_back({{"file", request.file},
                   {"expressions", std::vector<std::string>(request.instantiate)},
                   {"arch", request.arch},
                   {"error", error->what()}});
  }
  return out;
}

/// The CUDA variants that the words name, all when there is none.
std::vector<std::pair<Target, const Variant*>> shipped_variants(
    const Registry& registry, const std::vector<std::string>& words) {
  std::vector<Target> targets;
  targets.reserve(words.size());
  for (const std::string& word : words) targets.push_back(find_target(registry, word));
  if (words.empty()) {
    for (const OpEntry& entry : registry.ops()) targets.push_back({&entry, nullptr});
  }
  std::vector<std::pair<Target, const Variant*>> out;
  for (const Target& target : targets) {
    for (const Variant* variant : target.entry->variants) {
      const bool wanted = target.variant == nullptr || target.variant == variant;
      if (wanted && find_arch(variant->arch).kind == DeviceKind::kCuda) {
        out.emplace_back(target, variant);
      }
    }
  }
  return out;
}

std::vector<jit::Request> shipped_requests(const PackOptions& options,
                                           const std::vector<std::string>& archs) {
  const auto view = registry();
  std::vector<jit::Request> out;
  for (const auto& [target, variant] : shipped_variants(*view, options.words)) {
    for (const NamedProblem& problem : cases_of_levels(target, 0, options.level)) {
      for (const std::string& arch : archs) {
        add_requests(*variant, problem.problem, device_of_arch(arch), options.tilings, out);
      }
    }
  }
  return distinct(std::move(out));
}

std::vector<std::string> archs_here() {
  std::vector<std::string> out;
  for (int i = 0; i < cuda::device_count(); ++i) {
    const std::string arch = jit::native_arch(cuda::device_info(i).cc);
    if (std::ranges::find(out, arch) == out.end()) out.push_back(arch);
  }
  if (out.empty()) {
    throw Exit(
        kBadUsage,
        "--arch: expected one, such as sm_90a, as no GPU is here to tell\n  hint: a kernel of "
        "the manifest may name its own in \"arch\"");
  }
  return out;
}

}  // namespace

int pack(const PackOptions& options) {
  std::vector<std::string> archs = options.archs;
  if (archs.empty()) archs = {"sm_80", "sm_90a", "sm_100a"};
  check_cuda_archs("--arch", archs);
  if (!options.manifest.empty() && !options.words.empty()) {
    throw Exit(kBadUsage, "pack: expected ops or --manifest, got both");
  }
  std::vector<jit::Request> requests =
      options.manifest.empty() ? shipped_requests(options, archs)
                               : manifest_requests(options.manifest, [&] { return archs; });
  jit::PackWriter writer =
      as_usage([&] { return jit::PackWriter(options.output, options.overwrite); });
  const Batch batch = compile_batch(std::move(requests));
  if (batch.failed() > 0) {
    // Half a pack would be taken for a whole one.
    options.json ? print_json({{"output", nullptr}, {"failed", failures_json(batch)}})
                 : print(failures_text(batch) + fmt::format("no pack: {} of {} kernels failed\n",
                                                            batch.failed(), batch.results.size()));
    return kFailed;
  }
  for (std::size_t i = 0; i < batch.results.size(); ++i) {
    writer.add(batch.requests[i], batch.results[i].program);
  }
  writer.finish();
  std::uint64_t bytes = 0;
  for (const jit::PackEntry& entry : writer.entries()) bytes += entry.bytes;
  if (options.json) {
    print_json({{"output", options.output},
                {"archs", archs},
                {"kernels", writer.entries().size()},
                {"bytes", bytes},
                {"seconds", batch.seconds},
                {"failed", Json::array()}});
  } else {
    print(fmt::format("{}: {} kernels for {}, {:.1f} MiB, {:.1f} s\nuse it with EINKORN_PACK={}\n",
                      options.output, writer.entries().size(), fmt::join(archs, ", "), mib(bytes),
                      batch.seconds, options.output));
  }
  return kAllWell;
}

int warmup(const WarmupOptions& options) {
  check_cuda_archs("--arch", options.archs);
  const Batch batch = compile_batch(manifest_requests(
      options.manifest, [&] { return options.archs.empty() ? archs_here() : options.archs; }));
  const std::size_t ready = batch.results.size() - batch.failed();
  if (options.json) {
    print_json({{"kernels", batch.results.size()},
                {"compiled", batch.compiled()},
                {"seconds", batch.seconds},
                {"failed", failures_json(batch)}});
  } else {
    print(failures_text(batch) +
          fmt::format("{} {} ready, {} of them compiled now; {} failed, {:.1f} s\n", ready,
                      ready == 1 ? "kernel" : "kernels", batch.compiled(), batch.failed(),
                      batch.seconds));
  }
  return batch.failed() > 0 ? kFailed : kAllWell;
}

}  // namespace einkorn::cli
