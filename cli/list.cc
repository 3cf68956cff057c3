// einkorn list: what is registered. Opens no driver, but for `list variants` on a machine that has
// a device node, and for `list devices`.

#include <cstdlib>
#include <filesystem>

#include <einkorn/cuda.h>
#include <einkorn/registry.h>
#include <einkorn/roofline.h>
#include <fmt/format.h>

#include "cli/arguments_json.h"
#include "cli/json.h"
#include "cli/peaks_json.h"
#include "cli/status.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "src/registry/lists.h"
#include "src/registry/suggest.h"

namespace einkorn::cli {
namespace {

/// A line of the lists, built or not.
struct ListedVariant {
  std::string_view op, arch, design;
  int version;
  bool built;
};

constexpr ListedVariant kListed[] = {
#define EK_OP(op)
#define EK_VARIANT(op, arch, design, version) {#op, #arch, #design, version, EK_BUILT_##arch == 1},
#include "ops/variants.inc"
#undef EK_OP
#undef EK_VARIANT
};

struct ArchState {
  std::string_view name;
  bool built;
};

constexpr ArchState kArchStates[] = {
#define EK_ARCH(name, kind, min_cc, max_cc, summary) {#name, EK_BUILT_##name == 1},
#include "ops/arches.inc"
#undef EK_ARCH
};

bool is_built(std::string_view arch) {
  for (const ArchState& state : kArchStates) {
    if (state.name == arch) return state.built;
  }
  return true;  // from outside the tree
}

std::string_view kind_name(std::optional<DeviceKind> kind) {
  if (!kind) return "any";
  return kind == DeviceKind::kCpu ? "cpu" : "cuda";
}

/// Whether opening the driver can succeed at all: a device node, or a driver named explicitly.
/// Asked first because a search for the driver takes longer than all the rest of the list.
bool may_have_cuda() {
  if (std::getenv("EINKORN_LIBCUDA") != nullptr) return true;
  for (const char* node : {"/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg", "/dev/nvhost-gpu"}) {
    std::error_code ignored;  // a node that cannot be seen is one that cannot be used
    if (std::filesystem::exists(node, ignored)) return true;
  }
  return false;
}

struct VariantRow {
  std::string id, op, family, arch, design;
  std::string language;  ///< empty when not built
  int version;
  bool built;
  Availability state;
};

std::vector<VariantRow> variant_rows() {
  const auto view = registry();
  const bool ask_driver = may_have_cuda();
  std::vector<VariantRow> rows;
  for (const OpEntry& entry : view->ops()) {
    for (const Variant* v : entry.variants) {
      Availability state{false, "no NVIDIA device"};
      if (ask_driver || find_arch(v->arch).kind != DeviceKind::kCuda) state = availability(*v);
      rows.push_back({v->id(), std::string(v->op), std::string(entry.op->family),
                      std::string(v->arch), std::string(v->design), std::string(v->language),
                      v->version, true, std::move(state)});
    }
    for (const ListedVariant& v : kListed) {
      if (v.op != entry.op->name || v.built) continue;
      rows.push_back({fmt::format("{}/{}/{}_v{}", v.op, v.arch, v.design, v.version),
                      std::string(v.op),
                      std::string(entry.op->family),
                      std::string(v.arch),
                      std::string(v.design),
                      "",
                      v.version,
                      false,
                      {false, fmt::format("arch {} is not in this build (EK_ARCHES)", v.arch)}});
    }
  }
  return rows;
}

void list_variants(bool as_json) {
  const auto rows = variant_rows();
  if (as_json) {
    Json out = Json::array();
    for (const VariantRow& row : rows) {
      out.push_back({{"id", row.id},
                     {"op", row.op},
                     {"family", row.family},
                     {"arch", row.arch},
                     {"language", text_or_null(row.language)},
                     {"design", row.design},
                     {"version", row.version},
                     {"built", row.built},
                     {"available", row.state.available},
                     {"reason", text_or_null(row.state.reason)}});
    }
    return print_json(out);
  }
  Table table({"variant", "language", "state"});
  for (const VariantRow& row : rows) {
    // The first line says what; the places searched for a driver are doctor's to tell.
    const std::string reason = row.state.reason.substr(0, row.state.reason.find('\n'));
    table.add({row.id, row.language,
               row.state.available ? paint("available", Colour::kGreen) : "not here: " + reason});
  }
  print(table.text());
}

void list_ops_with_variants(bool as_json) {
  const auto view = registry();
  if (as_json) {
    Json out = Json::array();
    for (const OpEntry& entry : view->ops()) {
      Json variants = Json::array();
      for (const Variant* variant : entry.variants) variants.push_back(variant->id());
      out.push_back({{"op", entry.op->name},
                     {"family", entry.op->family},
                     {"summary", entry.op->summary},
                     {"arguments", arguments_json(*entry.op)},
                     {"variants", std::move(variants)}});
    }
    return print_json(out);
  }
  std::string out;
  for (const OpEntry& entry : view->ops()) {
    if (!out.empty()) out += '\n';
    out += fmt::format("{} ({}): {}\n", entry.op->name, entry.op->family, entry.op->summary);
    Table table({"  in order of preference", "language", "what it is"});
    for (const Variant* variant : entry.variants) {
      table.add(
          {"  " + variant->name(), std::string(variant->language), std::string(variant->summary)});
    }
    out += table.text();
  }
  print(out);
}

void list_keys(bool as_json) {
  const auto view = registry();
  Json ops = Json::array();
  std::string out;
  for (const OpEntry& entry : view->ops()) {
    Json keys = Json::array();
    Table table({"  key", "type", "allowed", "default", "meaning"});
    for (const Key& key : entry.op->keys()) {
      keys.push_back({{"name", key.name},
                      {"type", key.type},
                      {"allowed", text_or_null(key.allowed)},
                      {"default", key.default_value},
                      {"doc", key.doc}});
      table.add({"  " + key.name, key.type, key.allowed, key.default_value, key.doc});
    }
    ops.push_back({{"op", entry.op->name},
                   {"family", entry.op->family},
                   {"summary", entry.op->summary},
                   {"keys", std::move(keys)}});
    if (!out.empty()) out += '\n';
    out += fmt::format("{} ({}): {}\n", entry.op->name, entry.op->family, entry.op->summary);
    out += table.text();
  }
  as_json ? print_json(ops) : print(out);
}

void list_arches(bool as_json) {
  Json out = Json::array();
  Table table({"arch", "for", "sm", "built", "what it is"});
  for (const Arch& arch : arches()) {
    const bool cpu = arch.kind != DeviceKind::kCuda;
    const bool built = is_built(arch.name);
    out.push_back({{"name", arch.name},
                   {"kind", kind_name(arch.kind)},
                   {"min_cc", arch.min_cc},
                   {"max_cc", arch.max_cc},
                   {"built", built},
                   {"summary", arch.summary}});
    std::string range;
    if (!cpu) range = std::to_string(arch.min_cc);
    if (!cpu && arch.max_cc != arch.min_cc) {
      range += arch.max_cc >= 999 ? std::string(" and newer") : fmt::format("-{}", arch.max_cc);
    }
    table.add({std::string(arch.name), std::string(kind_name(arch.kind)), range,
               built ? "yes" : "no", std::string(arch.summary)});
  }
  as_json ? print_json(out) : print(table.text());
}

/// By the datasheet, and what was measured in brackets: "3350 (3044)".
std::string peak_text(double datasheet, double measured) {
  const auto number = [](double value) {
    return value > 0 ? fmt::format("{:.{}f}", value, value < 10 ? 2 : 0) : std::string();
  };
  if (measured <= 0) return number(datasheet);
  return fmt::format("{}{}({})", number(datasheet), datasheet > 0 ? " " : "", number(measured));
}

void list_devices(bool as_json) {
  std::vector<std::pair<std::string, DeviceInfo>> devices{{"cpu", cpu_info()}};
  if (may_have_cuda() && cuda::available()) {
    for (int i = 0; i < cuda::device_count(); ++i) {
      devices.emplace_back(to_string(cuda_device(i)), cuda::device_info(i));
    }
  }
  for (const std::string_view name : cuda::known_device_names()) {
    devices.emplace_back(name, cuda::known_device(name));
  }
  Json out = Json::array();
  Table table({"name", "device", "here", ">sm", ">SMs or threads", ">L2 MiB", ">GB/s (measured)",
               ">f32 TFLOP/s", ">16 bit TFLOP/s"});
  for (const auto& [name, info] : devices) {
    const DevicePeaks peaks = peaks_of(info);
    const Peaks measured = peaks.measured.value_or(Peaks{});
    const auto peak_of = [&](Unit unit) {
      return peak_text(peaks.datasheet.of(unit), measured.of(unit));
    };
    out.push_back({{"name", name},
                   {"title", info.name},
                   {"present", info.present},
                   {"cc", info.cc},
                   {"sm_count", info.sm_count},
                   {"smem_per_block_optin", info.smem_per_block_optin},
                   {"l2_bytes", info.l2_bytes},
                   {"datasheet_gbps", info.datasheet_gbps},
                   {"peaks", peaks_json(peaks)}});
    const double mib = static_cast<double>(info.l2_bytes) / (1024 * 1024);
    table.add({name, info.name, info.present ? "yes" : "", info.cc ? std::to_string(info.cc) : "",
               std::to_string(info.sm_count), mib > 0 ? fmt::format("{:.0f}", mib) : "",
               peak_text(peaks.datasheet.gbps, measured.gbps), peak_of(Unit::kF32),
               peak_of(Unit::kTensor16)});
  }
  as_json ? print_json(out) : print(table.text());
}

}  // namespace

int list(const ListOptions& options) {
  if (options.what.empty()) {
    list_ops_with_variants(options.json);
  } else if (options.what == "variants") {
    list_variants(options.json);
  } else if (options.what == "ops") {
    list_keys(options.json);
  } else if (options.what == "arches") {
    list_arches(options.json);
  } else if (options.what == "devices") {
    list_devices(options.json);
  } else {
    throw Exit(kBadUsage,
               "list: " + expected_one_of(options.what, {"variants", "ops", "arches", "devices"}));
  }
  return kAllWell;
}

}  // namespace einkorn::cli
