#include "cli/profile_static.h"

#include <cmath>

#include <einkorn/jit.h>
#include <einkorn/plan.h>
#include <fmt/format.h>

#include "cli/table.h"
#include "src/plan/occupancy.h"
#include "src/plan/request.h"

namespace einkorn::cli {
namespace {

StaticFacts facts_of(const Leaf& leaf, const LaunchStage& launch, const DeviceInfo& device) {
  const jit::Program program = jit::compile(request_of(launch, jit::native_arch(device.cc)));
  const jit::Resources& takes = program->entries.front().resources;
  StaticFacts out;
  out.stage = leaf.path;
  out.registers = takes.registers;
  out.static_smem = takes.static_smem;
  out.dynamic_smem = launch.launch.smem_bytes;
  out.threads = static_cast<int>(launch.launch.block.count());
  out.blocks = static_cast<std::int64_t>(launch.launch.grid.count());
  out.spill_bytes = takes.spill_stores + takes.spill_loads;
  const BlockNeeds needs{out.threads, out.registers, out.static_smem + out.dynamic_smem};
  out.occupancy = occupancy(needs, device);
  const int resident = resident_blocks(needs, device) * device.sm_count;
  if (resident > 0) out.waves = static_cast<double>(out.blocks) / resident;
  return out;
}

}  // namespace

std::vector<StaticFacts> static_facts(const profile::Subject& subject) {
  std::vector<StaticFacts> out;
  const Plan plan = subject.plan();
  for (const Leaf& leaf : leaves(plan)) {
    if (const auto* launch = std::get_if<LaunchStage>(&leaf.stage->node)) {
      out.push_back(facts_of(leaf, *launch, subject.device));
    }
  }
  return out;
}

std::string static_text(const std::vector<StaticFacts>& facts) {
  Table table({"stage", ">blocks", ">threads", ">registers", ">static smem", ">dynamic smem",
               ">spill bytes", ">occupancy at most", ">waves"});
  for (const StaticFacts& one : facts) {
    table.add({one.stage, std::to_string(one.blocks), std::to_string(one.threads),
               std::to_string(one.registers), std::to_string(one.static_smem),
               std::to_string(one.dynamic_smem), std::to_string(one.spill_bytes),
               one.occupancy > 0 ? fmt::format("{:.0f} %", 100 * one.occupancy) : "",
               one.waves > 0 ? fmt::format("{:.2f}", one.waves) : ""});
  }
  return table.text();
}

Json static_json(const std::vector<StaticFacts>& facts) {
  Json out = Json::array();
  for (const StaticFacts& one : facts) {
    out.push_back({{"stage", one.stage},
                   {"blocks", one.blocks},
                   {"threads", one.threads},
                   {"registers", one.registers},
                   {"static_smem", one.static_smem},
                   {"dynamic_smem", one.dynamic_smem},
                   {"spill_bytes", one.spill_bytes},
                   {"occupancy_percent",
                    one.occupancy > 0 ? Json(std::round(1000 * one.occupancy) / 10) : Json()},
                   {"waves", one.waves > 0 ? Json(std::round(1000 * one.waves) / 1000) : Json()}});
  }
  return out;
}

}  // namespace einkorn::cli
