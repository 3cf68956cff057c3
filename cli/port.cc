// einkorn port: the analysis of other repositories, which the Python package does.

#include "cli/port.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/core/checkout.h"
#include "src/core/environment.h"
#include "src/core/subprocess.h"

namespace einkorn::cli {
namespace {

/// So that a checkout's package is found although nothing is installed.
void put_on_python_path(const std::string& folder) {
  const std::string before = environment("PYTHONPATH");
  const std::string path = before.empty() ? folder : fmt::format("{}:{}", folder, before);
  setenv("PYTHONPATH", path.c_str(), 1);
}

}  // namespace

int port(std::span<char*> arguments) {
  if (const auto package = find_in_checkout("python/einkorn/port")) {
    put_on_python_path(package->parent_path().parent_path().string());
  }
  // -P: the working directory, maybe a repository under survey, has no modules for us.
  std::vector<std::string> words{python_command(), "-P", "-m", "einkorn.port"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::vector<char*> pointers = subprocess::pointers_to(words);
  std::fflush(nullptr);
  execvp(pointers[0], pointers.data());
  throw_error(ErrorKind::kRuntime,
              fmt::format("port: cannot start {}: {}\n"
                          "  hint: EINKORN_PYTHON names a Python of 3.11 or newer that has einkorn",
                          words[0], std::strerror(errno)));
}

}  // namespace einkorn::cli
