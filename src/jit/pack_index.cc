#include "src/jit/pack_index.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "src/core/file.h"

namespace einkorn::jit {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kShown = 3;

std::string index_of(const std::string& folder) { return folder + "/pack.json"; }

/// "k<float, 4> for sm_90a" of each kernel whose source has this name.
struct Kernels {
  std::vector<std::string> of_source;
  bool same = false;  ///< the same expressions and arch are among them
};

Kernels kernels_of(const Json& index, const CompileInputs& inputs) {
  Kernels out;
  for (const Json& row : index.at("kernels")) {
    if (row.at("file") != inputs.main().name) continue;
    const auto expressions = row.at("expressions").get<std::vector<std::string>>();
    const auto arch = row.at("arch").get<std::string>();
    out.same |= expressions == inputs.entries && arch == inputs.arch;
    out.of_source.push_back(fmt::format("{} for {}", fmt::join(expressions, ", "), arch));
  }
  return out;
}

}  // namespace

std::string cannot_use_pack(const std::string& folder, bool trust) {
  struct stat info{};
  if (stat(index_of(folder).c_str(), &info) != 0) {
    return fmt::format("expected a folder that einkorn pack made, with a pack.json: {}",
                       std::system_category().message(errno));
  }
  if (trust) return {};
  if (stat(folder.c_str(), &info) == 0 && (info.st_mode & S_IWOTH) != 0) {
    return fmt::format(
        "others may write to it (mode {:04o}); EINKORN_CACHE_TRUST=1 takes it as it is",
        info.st_mode & 07777);
  }
  return {};
}

std::string nearest_in_pack(const std::string& folder, const CompileInputs& inputs) {
  try {
    const Kernels kernels = kernels_of(Json::parse(read_file(index_of(folder)).text), inputs);
    if (kernels.of_source.empty()) return fmt::format("has nothing of {}", inputs.main().name);
    if (kernels.same) return "has this kernel of other sources or options";
    std::vector<std::string> shown = kernels.of_source;
    shown.resize(std::min(shown.size(), kShown));
    return fmt::format("of {} it has {}{}", inputs.main().name, fmt::join(shown, "; "),
                       kernels.of_source.size() > kShown ? "; ..." : "");
  } catch (const Json::exception& error) {
    return fmt::format("its pack.json cannot be read: {}", error.what());
  }
}

}  // namespace einkorn::jit
