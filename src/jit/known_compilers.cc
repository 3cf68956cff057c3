#include "src/jit/known_compilers.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/core/file.h"
#include "src/jit/disk.h"

namespace einkorn::jit {
namespace {

// Those of the last upgrades; a look-up of each is one open() that fails.
constexpr std::size_t kMost = 8;

std::string folder_of(std::string_view root) { return fmt::format("{}/compilers", root); }

}  // namespace

std::vector<std::string> known_identities(std::string_view root, std::string_view compiler) {
  const FileContent content = read_file(fmt::format("{}/{}", folder_of(root), compiler));
  std::vector<std::string> out;
  for (std::string_view rest = content.text; !rest.empty() && out.size() < kMost;) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (end > 0) out.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

std::string keep_identity(std::string_view root, std::string_view compiler,
                          const std::string& identity) {
  std::vector<std::string> known = known_identities(root, compiler);
  if (!known.empty() && known.front() == identity) return {};
  std::erase(known, identity);
  known.insert(known.begin(), identity);
  known.resize(std::min(known.size(), kMost));
  if (std::string reason = disk::make_folders(folder_of(root)); !reason.empty()) return reason;
  const auto error = replace_file(fmt::format("{}/{}", folder_of(root), compiler),
                                  fmt::format("{}\n", fmt::join(known, "\n")));
  return error ? error.message() : std::string();
}

}  // namespace einkorn::jit
