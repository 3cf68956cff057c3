// einkorn jit compile: one source into the cache, with what its kernels take.

#include <algorithm>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "cli/jit_verbs.h"
#include "cli/json.h"
#include "cli/status.h"
#include "cli/table.h"
#include "cli/terminal.h"

namespace einkorn::cli {
namespace {

struct Compiled {
  jit::Request request;
  jit::Program program;
  jit::Trace trace;
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

/// Errors name what to do; the places asked before are part of the answer.
Compiled compile_one(const jit::Request& request, bool explain) {
  Compiled out{request, {}, {}};
  try {
    out.program = jit::compile(request, &out.trace);
  } catch (const Error&) {
    if (explain) print(fmt::format("{}\n{}", request.arch, trace_text(out.trace)));
    throw;
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
  for (const jit::EntryPoint& entry : one.program->entries) {
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
          {"key", one.program->key},
          {"compiler", one.program->compiler},
          {"compile_ms", one.program->compile_ms},
          {"image_bytes", one.program->image.size()},
          {"entries", std::move(entries)},
          {"trace", trace_json(one.trace)}};
}

std::string to_text(const std::vector<Compiled>& all, bool explain) {
  Table table({"arch", "kernel", ">registers", ">static shared B", ">stack B", ">spills B",
               ">image B", "by", ">ms", "key"});
  for (const Compiled& one : all) {
    const jit::Artifact& artifact = one.program.artifact();
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
  std::string out = table.text();
  for (const Compiled& one : all) {
    if (explain) out += fmt::format("\n{}\n{}", one.request.arch, trace_text(one.trace));
  }
  return out;
}

}  // namespace

int jit_compile(const JitCompileOptions& options) {
  std::vector<jit::Request> requests = requests_of(options.source);
  if (options.cpu) {
    requests.resize(1);
    requests[0].target = jit::Target::kCpu;
    if (options.source.archs.empty()) requests[0].arch.clear();
  }
  std::vector<Compiled> all;
  all.reserve(requests.size());
  for (const jit::Request& request : requests) {
    all.push_back(as_usage([&] { return compile_one(request, options.explain); }));
  }
  if (options.json) {
    Json out = Json::array();
    for (const Compiled& one : all) out.push_back(to_json(one));
    print_json(out);
  } else {
    print(to_text(all, options.explain));
  }
  const bool spilled = std::ranges::any_of(
      all, [](const Compiled& one) { return std::ranges::any_of(one.program->entries, spills); });
  return options.fail_on_spill && spilled ? kFailed : kAllWell;
}

}  // namespace einkorn::cli
