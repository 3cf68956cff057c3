// einkorn jit compile: one source into the cache, with what its kernels take.

#include <algorithm>
#include <cstdio>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/jit_verbs.h"
#include "cli/json.h"
#include "cli/status.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "src/jit/batch.h"

namespace einkorn::cli {
namespace {

/// One arch and what it came to.
struct Compiled {
  jit::Request request;
  jit::BatchResult result;

  const jit::Artifact& artifact() const { return result.program.artifact(); }
};

bool spills(const jit::EntryPoint& entry) {
  return entry.resources.spill_stores > 0 || entry.resources.spill_loads > 0;
}

std::string trace_text(const jit::Trace& trace) {
  Table table({"  place", ">ms", "outcome"});
  for (const jit::Trace::Step& step : trace.steps) {
    table.add({"  " + step.place, fmt::format("{:.2f}", step.ms), step.outcome});
  }
  return table.text();
}

std::vector<Compiled> compile_each(const std::vector<jit::Request>& requests) {
  std::vector<jit::BatchResult> results = jit::compile_all(requests, {});
  std::vector<Compiled> out;
  out.reserve(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    out.push_back({requests[i], std::move(results[i])});
  }
  return out;
}

Json trace_json(const jit::Trace& trace) {
  Json out = Json::array();
  for (const jit::Trace::Step& step : trace.steps) {
    out.push_back({{"place", step.place}, {"outcome", step.outcome}, {"ms", step.ms}});
  }
  return out;
}

Json to_json(const Compiled& one) {
  Json entries = Json::array();
  for (const jit::EntryPoint& entry : one.artifact().entries) {
    const jit::Resources& r = entry.resources;
    entries.push_back({{"expression", entry.expression},
                       {"lowered", entry.lowered},
                       {"registers", r.registers},
                       {"static_smem", r.static_smem},
                       {"stack_bytes", r.stack_bytes},
                       {"spill_stores", r.spill_stores},
                       {"spill_loads", r.spill_loads}});
  }
  return {{"file", one.request.file},
          {"arch", text_or_null(one.request.arch)},
          {"key", one.artifact().key},
          {"compiler", one.artifact().compiler},
          {"compile_ms", one.artifact().compile_ms},
          {"image_bytes", one.artifact().image.size()},
          {"entries", std::move(entries)},
          {"trace", trace_json(one.result.trace)}};
}

std::string to_text(const std::vector<Compiled>& good) {
  Table table({"arch", "kernel", ">registers", ">static shared B", ">stack B", ">spills B",
               ">image B", "by", ">ms", "key"});
  for (const Compiled& one : good) {
    const jit::Artifact& artifact = one.artifact();
    std::vector<std::string> tail = {std::to_string(artifact.image.size()), artifact.compiler,
                                     fmt::format("{:.0f}", artifact.compile_ms),
                                     artifact.key.substr(0, 12)};
    if (artifact.entries.empty())
      table.add({one.request.arch, "", "", "", "", "", tail[0], tail[1], tail[2], tail[3]});
    for (const jit::EntryPoint& entry : artifact.entries) {
      const jit::Resources& r = entry.resources;
      const std::int64_t spilled = r.spill_stores + r.spill_loads;
      table.add({one.request.arch, entry.expression, std::to_string(r.registers),
                 std::to_string(r.static_smem), std::to_string(r.stack_bytes),
                 spilled > 0 ? paint(std::to_string(spilled), Colour::kRed) : "0", tail[0], tail[1],
                 tail[2], tail[3]});
    }
  }
  return table.text();
}

void print_results(const JitCompileOptions& options, const std::vector<Compiled>& all) {
  std::vector<Compiled> good;
  for (const Compiled& one : all) {
    if (!one.result.error) good.push_back(one);
  }
  if (options.json) {
    Json out = Json::array();
    for (const Compiled& one : good) out.push_back(to_json(one));
    // What went wrong is on stderr; a document without any kernel would say nothing.
    if (!good.empty()) print_json(out);
    return;
  }
  std::string out = good.empty() ? std::string() : to_text(good);
  // The places asked are part of an error's answer, too.
  for (const Compiled& one : all) {
    if (!options.explain) break;
    out += fmt::format("{}{}\n{}", out.empty() ? "" : "\n", one.request.arch,
                       trace_text(one.result.trace));
  }
  print(out);
}

/// Ends the command when one failed: with the last error, the others told before.
void throw_errors(const std::vector<Compiled>& all) {
  const Error* last = nullptr;
  for (const Compiled& one : all) {
    if (!one.result.error) continue;
    if (last != nullptr) fmt::print(stderr, "einkorn: error: {}\n", last->what());
    last = &*one.result.error;
  }
  if (last == nullptr) return;
  as_usage([&] { throw Error(*last); });
}

void throw_spills(const std::vector<Compiled>& all) {
  std::vector<std::string> found;
  for (const Compiled& one : all) {
    for (const jit::EntryPoint& entry : one.artifact().entries) {
      if (!spills(entry)) continue;
      found.push_back(fmt::format("{} for {}: {} B stored, {} B loaded a thread", entry.expression,
                                  one.request.arch, entry.resources.spill_stores,
                                  entry.resources.spill_loads));
    }
  }
  if (found.empty()) return;
  throw Exit(kFailed,
             fmt::format("--fail-on-spill: registers spilled\n  {}", fmt::join(found, "\n  ")));
}

}  // namespace

int jit_compile(const JitCompileOptions& options) {
  if (options.fail_on_spill && options.source.cpu) {
    throw Exit(kBadUsage, "--fail-on-spill: expected kernels of the GPU, got --cpu");
  }
  const std::vector<Compiled> all = compile_each(requests_of(options.source));
  print_results(options, all);
  throw_errors(all);
  if (options.fail_on_spill) throw_spills(all);
  return kAllWell;
}

}  // namespace einkorn::cli
