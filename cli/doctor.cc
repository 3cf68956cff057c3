// einkorn doctor: what is here, what is missing, and what to do about it.

#include <cstdlib>
#include <optional>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <einkorn/registry.h>
#include <einkorn/version.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/environment.h"
#include "cli/json.h"
#include "cli/rates.h"
#include "cli/status.h"
#include "cli/table.h"
#include "cli/units.h"
#include "cli/verbs.h"
#include "src/cpu/describe.h"
#include "src/cpu/threads.h"
#include "src/jit/status.h"

namespace einkorn::cli {
namespace {

/// Everything doctor looks at, gathered before anything is printed.
struct Findings {
  std::shared_ptr<const Registry> view;  ///< null when a plugin cannot be loaded
  std::vector<DeviceInfo> devices;       ///< the CPU first
  int threads = 0;                       ///< of the CPU variants
  std::string no_cuda;                   ///< why there is no CUDA device; empty when there is one
  std::vector<cuda::LibraryReport> libraries;
  std::vector<EnvironmentVariable> environment;
  std::vector<UnknownVariable> unknown;
  std::vector<Rate> rates;
  std::vector<std::string> problems;  ///< what has to be corrected
  std::vector<std::string> notes;     ///< what works less well than it could
};

void look_at_registry(Findings& found) {
  try {
    found.view = registry();
  } catch (const Error& error) {
    found.problems.emplace_back(error.what());
    return;
  }
  found.environment = variables_in_force(*found.view);
  found.unknown = unknown_variables(*found.view);
  for (const UnknownVariable& one : found.unknown) {
    found.problems.push_back(fmt::format(
        "{} is set and means nothing{}", one.name,
        one.nearest.empty() ? std::string() : fmt::format(": did you mean {}?", one.nearest)));
  }
  // A variant named by EINKORN_<OP> that does not exist would fail every call of the op.
  for (const OpEntry& entry : found.view->ops()) {
    const char* named = std::getenv(environment_name(entry.op->name).c_str());
    if (named == nullptr || *named == '\0') continue;
    try {
      static_cast<void>(found.view->find_variant(entry, named));
    } catch (const Error& error) {
      found.problems.push_back(
          fmt::format("{}: {}", environment_name(entry.op->name), error.what()));
    }
  }
}

void look_at_devices(Findings& found) {
  found.devices.push_back(cpu_info());
  try {
    found.threads = cpu::thread_count();
  } catch (const Error& error) {
    found.problems.emplace_back(error.what());
  }
  if (!cuda::available(&found.no_cuda)) return;
  for (int i = 0; i < cuda::device_count(); ++i) found.devices.push_back(cuda::device_info(i));
}

void look_at_libraries(Findings& found) {
  found.libraries = cuda::library_reports();
  for (const cuda::LibraryReport& report : found.libraries) {
    if (!report.path.empty()) continue;
    std::string variable;
    if (report.library == "libcuda") variable = "EINKORN_LIBCUDA";
    if (report.library == "libnvrtc") variable = "EINKORN_NVRTC";
    if (report.library == "libnvidia-ml") variable = "EINKORN_NVML";
    if (report.library == "libcublasLt") variable = "EINKORN_CUBLASLT";
    if (report.library == "libcupti") variable = "EINKORN_CUPTI";
    if (const char* path = std::getenv(variable.c_str()); path != nullptr) {
      found.problems.push_back(fmt::format("{} names '{}', which cannot be opened: {}", variable,
                                           path, fmt::join(report.tried, "; ")));
    } else if (report.library == "libnvrtc") {
      found.notes.emplace_back(
          "no NVRTC: CUDA variants can be neither compiled nor run; `make run` brings it into "
          ".venv, or set EINKORN_NVRTC to a libnvrtc.so.13");
    }
  }
}

Json libraries_json(const Findings& found) {
  Json out = Json::array();
  for (const cuda::LibraryReport& report : found.libraries) {
    out.push_back({{"library", report.library},
                   {"path", text_or_null(report.path)},
                   {"version", text_or_null(report.version)},
                   {"tried", report.tried}});
  }
  return out;
}

Json devices_json(const Findings& found) {
  Json out = Json::array();
  for (const DeviceInfo& info : found.devices) {
    out.push_back({{"name", to_string(info.device)},
                   {"title", info.name},
                   {"cc", info.cc},
                   {"sm_count", info.sm_count},
                   {"smem_per_block_optin", info.smem_per_block_optin},
                   {"l2_bytes", info.l2_bytes},
                   {"datasheet_gbps", info.datasheet_gbps}});
  }
  return out;
}

Json environment_json(const Findings& found) {
  Json out = Json::array();
  for (const EnvironmentVariable& one : found.environment) {
    out.push_back({{"name", one.name}, {"value", one.value}, {"meaning", one.meaning}});
  }
  return out;
}

Json rates_json(const Findings& found) {
  Json out = Json::array();
  for (const Rate& rate : found.rates) {
    out.push_back({{"device", rate.device},
                   {"what", rate.what},
                   {"value", rate.value > 0 ? Json(rate.value) : Json()},
                   {"unit", rate.unit},
                   {"datasheet", rate.datasheet > 0 ? Json(rate.datasheet) : Json()},
                   {"reason", text_or_null(rate.reason)}});
  }
  return out;
}

Json cache_json(const jit::CacheStatus& cache) {
  return {{"mode", cache.mode},   {"root", text_or_null(cache.root)}, {"entries", cache.entries},
          {"bytes", cache.bytes}, {"max_bytes", cache.max_bytes},     {"packs", cache.packs}};
}

Json compilers_json(const std::vector<jit::CompilerStatus>& compilers) {
  Json out = Json::array();
  for (const jit::CompilerStatus& one : compilers) {
    out.push_back({{"name", one.name},
                   {"identity", text_or_null(one.identity)},
                   {"reason", text_or_null(one.reason)}});
  }
  return out;
}

Json to_json(const Findings& found, bool measured) {
  return {{"version", version()},
          {"commit", git_commit()},
          {"devices", devices_json(found)},
          {"cpu", {{"targets", cpu::highway_targets()}, {"threads", found.threads}}},
          {"no_cuda", text_or_null(found.no_cuda)},
          {"driver", text_or_null(cuda::driver_version())},
          {"libraries", libraries_json(found)},
          {"caches", cache_json(jit::cache_status())},
          {"compilers", compilers_json(jit::compiler_status())},
          {"environment", environment_json(found)},
          {"measured", measured ? rates_json(found) : Json()},
          {"problems", found.problems},
          {"notes", found.notes}};
}

std::string devices_text(const Findings& found) {
  Table table({"  device", "name", ">sm", ">SMs or threads", ">last cache MiB", ">datasheet GB/s"});
  for (const DeviceInfo& info : found.devices) {
    const double cache = mib(static_cast<std::uint64_t>(info.l2_bytes));
    table.add({"  " + to_string(info.device), info.name, info.cc ? std::to_string(info.cc) : "",
               std::to_string(info.sm_count), cache > 0 ? fmt::format("{:.0f}", cache) : "",
               info.datasheet_gbps > 0 ? fmt::format("{:.0f}", info.datasheet_gbps) : ""});
  }
  std::string out = "devices\n" + table.text();
  out += fmt::format("  CPU variants use {} threads and {} (built and here: {})\n", found.threads,
                     cpu::highway_targets().front(), fmt::join(cpu::highway_targets(), ", "));
  if (!found.no_cuda.empty()) {
    out += fmt::format("  no CUDA device: {}\n", found.no_cuda.substr(0, found.no_cuda.find('\n')));
  }
  return out;
}

std::string libraries_text(const Findings& found) {
  Table table({"  library", "version", "path"});
  std::string missing;
  for (const cuda::LibraryReport& report : found.libraries) {
    table.add({"  " + report.library, report.version,
               report.path.empty() ? paint("not found", Colour::kYellow) : report.path});
    if (!report.path.empty()) continue;
    missing += fmt::format("  {} was looked for in\n    {}\n", report.library,
                           fmt::join(report.tried, "\n    "));
  }
  const std::string driver = cuda::driver_version();
  return "\nlibraries opened at run time\n" + table.text() +
         (driver.empty() ? "" : fmt::format("  driver {}\n", driver)) + missing;
}

std::string environment_text(const Findings& found) {
  std::string out = "\nenvironment\n";
  for (const EnvironmentVariable& one : found.environment) {
    out += fmt::format("  {}={}  ({})\n", one.name, one.value, one.meaning);
  }
  if (found.environment.empty()) out += "  no EINKORN_ variable is set\n";
  return out;
}

std::string jit_text() {
  const jit::CacheStatus cache = jit::cache_status();
  std::string out = "\nkernel cache\n";
  out += cache.root.empty()
             ? "  in memory only: no folder can be used\n"
             : fmt::format("  {}: {} kernels, {:.1f} of at most {:.0f} MiB\n", cache.root,
                           cache.entries, mib(cache.bytes), mib(cache.max_bytes));
  for (const std::string& pack : cache.packs) out += fmt::format("  pack {}\n", pack);
  if (cache.mode != "on") out += fmt::format("  EINKORN_JIT={}\n", cache.mode);
  out += "\ncompilers, in the order they are tried\n";
  for (const jit::CompilerStatus& one : jit::compiler_status()) {
    out += fmt::format("  {:<13} {}\n", one.name,
                       one.reason.empty() ? one.identity : "not here: " + one.reason);
  }
  return out;
}

std::string rates_text(const Findings& found) {
  Table table({"  device", "what", ">measured", "unit", ">datasheet", "note"});
  for (const Rate& rate : found.rates) {
    table.add({"  " + rate.device, rate.what,
               rate.value > 0 ? fmt::format("{:.1f}", rate.value) : "", rate.unit,
               rate.datasheet > 0 ? fmt::format("{:.0f}", rate.datasheet) : "", rate.reason});
  }
  return "\nmeasured here\n" + table.text();
}

std::string to_text(const Findings& found, bool measured) {
  std::string out = fmt::format("einkorn {} ({})\n\n", version(), git_commit());
  out += devices_text(found) + libraries_text(found) + jit_text() + environment_text(found);
  if (measured) out += rates_text(found);
  out += '\n';
  for (const std::string& note : found.notes) out += fmt::format("note: {}\n", note);
  for (const std::string& problem : found.problems) {
    out += fmt::format("{}: {}\n", paint("problem", Colour::kRed), problem);
  }
  if (found.problems.empty()) out += paint("no problem found", Colour::kGreen) + '\n';
  return out;
}

}  // namespace

int doctor(const DoctorOptions& options) {
  Findings found;
  found.problems = problems_of_compile_variables();
  look_at_registry(found);
  look_at_devices(found);
  look_at_libraries(found);
  bool stopped = false;
  if (options.measure) {
    catch_interrupts();
    Progress progress;
    try {
      measure_rates(found.devices, progress, found.rates);
      for (std::string& note : save_rates(found.devices, found.rates)) {
        found.notes.push_back(std::move(note));
      }
    } catch (const Interrupted&) {
      stopped = true;
    }
  }
  if (options.json) {
    print_json(to_json(found, options.measure));
  } else {
    print(to_text(found, options.measure));
  }
  if (stopped) return kInterrupted;
  return found.problems.empty() ? kAllWell : kFailed;
}

}  // namespace einkorn::cli
