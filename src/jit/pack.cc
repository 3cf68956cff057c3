#include "src/jit/pack.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <einkorn/error.h>
#include <einkorn/version.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/jit/artifact_file.h"
#include "src/jit/disk.h"
#include "src/jit/inputs.h"
#include "src/jit/meta.h"
#include "src/jit/store.h"

namespace einkorn::jit {
namespace {

namespace fs = std::filesystem;

// What a pack holds, and nothing beside it.
constexpr const char* kIndex = "pack.json";
constexpr const char* kKernels = "v1";

/// What a folder holds that no pack does; empty when it is a pack or holds nothing.
std::string foreign_to_a_pack(const std::string& folder) {
  bool index = false;
  bool kernels = false;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool is_index = name == kIndex && entry.is_regular_file();
    const bool is_kernels = name == kKernels && entry.is_directory();
    if (!is_index && !is_kernels) return name;
    index |= is_index;
    kernels |= is_kernels;
  }
  if (index == kernels) return {};
  return index ? kIndex : kKernels;
}

/// Replacing removes what is there, so nothing but a pack is ever replaced.
void check_replaceable(const std::string& folder, bool overwrite) {
  const auto refuse = [&](std::string_view got, std::string_view hint) {
    throw_error(ErrorKind::kValue,
                fmt::format("pack: --output: expected a new or empty folder{}, got {}, {}\n"
                            "  hint: {}",
                            overwrite ? " or a pack" : "", folder, got, hint));
  };
  constexpr std::string_view kElsewhere = "name another folder, or remove it yourself";
  std::error_code none;
  const fs::file_status at = fs::symlink_status(folder, none);
  if (!fs::exists(at)) return;
  if (fs::is_symlink(at)) refuse("which is a link", kElsewhere);
  if (!fs::is_directory(at)) refuse("which is no folder", kElsewhere);
  try {
    if (fs::is_empty(folder)) return;
    const std::string foreign = foreign_to_a_pack(folder);
    if (!foreign.empty()) {
      refuse(fmt::format("which is no pack: it holds \"{}\"", foreign), kElsewhere);
    }
  } catch (const fs::filesystem_error& error) {
    refuse(fmt::format("which cannot be read: {}", error.code().message()), kElsewhere);
  }
  if (!overwrite) refuse("which is a pack", "--overwrite replaces it");
}

void check_written(const std::string& reason, const std::string& path) {
  EK_CHECK(reason.empty(), ErrorKind::kRuntime,
           fmt::format("pack: {}: expected to write it, got: {}", path, reason));
}

void write(const std::string& path, std::span<const std::byte> bytes) {
  check_written(disk::write_new(path, bytes), path);
}

std::string index_text(const std::vector<PackEntry>& entries) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const PackEntry& entry : entries) {
    rows.push_back({{"file", entry.file},
                    {"arch", entry.arch},
                    {"expressions", entry.expressions},
                    {"bytes", entry.bytes}});
  }
  const nlohmann::ordered_json json = {{"format", 1},
                                       {"einkorn", version()},
                                       {"commit", git_commit()},
                                       {"kernels", std::move(rows)}};
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

PackWriter::PackWriter(std::string folder, bool overwrite)
    : folder_(std::move(folder)), overwrite_(overwrite) {
  EK_CHECK(!folder_.empty(), ErrorKind::kValue,
           "pack: --output: expected the path of a folder, got an empty text");
  while (folder_.size() > 1 && folder_.ends_with('/')) folder_.pop_back();
  check_replaceable(folder_, overwrite_);
  temporary_ = fmt::format("{}.{}", folder_, disk::unique_name());
  check_written(disk::make_folders(temporary_), temporary_);
}

PackWriter::~PackWriter() {
  if (!temporary_.empty()) disk::remove_entry(temporary_);
}

void PackWriter::add(const Request& request, const Program& program) {
  const CompileInputs inputs = resolve_inputs(request);
  const std::string folder = entry_folder(temporary_, inputs.arch, inputs.content);
  std::error_code error;
  if (fs::exists(folder, error)) return;  // the same request again
  check_written(disk::make_folders(folder), folder);
  const Artifact& artifact = program.artifact();
  const std::vector<std::byte> bytes = pack_artifact(inputs.content, artifact);
  write(folder + "/artifact.bin", bytes);
  const std::string meta = meta_text(inputs.content, artifact, key_parts(inputs, {}));
  write(folder + "/meta.json", std::as_bytes(std::span(meta)));
  entries_.push_back({inputs.main().name, inputs.arch, inputs.entries, bytes.size()});
}

void PackWriter::finish() {
  check_replaceable(folder_, overwrite_);  // compiling took a while
  // A pack of no kernel, too, is known as one.
  check_written(disk::make_folders(temporary_ + "/" + kKernels), temporary_);
  const std::string index = index_text(entries_);
  write(temporary_ + "/" + kIndex, std::as_bytes(std::span(index)));
  // A pack that is there is moved aside first: a folder cannot be renamed onto a full one.
  const std::string old = temporary_ + ".old";
  std::error_code error;
  if (fs::exists(folder_, error)) fs::rename(folder_, old, error);
  if (!error) fs::rename(temporary_, folder_, error);
  check_written(error ? error.message() : std::string(), folder_);
  disk::remove_entry(old);
  temporary_.clear();
}

}  // namespace einkorn::jit
