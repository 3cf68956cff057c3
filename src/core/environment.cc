#include "src/core/environment.h"

#include <algorithm>
#include <cstdlib>

namespace einkorn {

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read only
  return value == nullptr ? std::string() : std::string(value);
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(':'), text.size());
    if (end > 0) out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string temporary_root() {
  std::string root = environment("TMPDIR");
  return root.empty() ? "/tmp" : root;
}

}  // namespace einkorn
