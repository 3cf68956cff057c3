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

PackWriter::PackWriter(std::string folder, bool overwrite) : folder_(std::move(folder)) {
  while (folder_.size() > 1 && folder_.ends_with('/')) folder_.pop_back();
  std::error_code error;
  EK_CHECK(overwrite || !fs::exists(folder_, error) || fs::is_empty(folder_, error),
           ErrorKind::kValue,
           fmt::format("pack: folder: expected a new or empty one, got {}\n"
                       "  hint: --overwrite replaces it",
                       folder_));
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
  const std::string index = index_text(entries_);
  write(temporary_ + "/pack.json", std::as_bytes(std::span(index)));
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
