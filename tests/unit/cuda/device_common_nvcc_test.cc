// The headers under the toolkit's own compiler, where there is one.

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "tests/unit/cuda/device_common.h"

extern "C" char** environ;

namespace einkorn::device_common {
namespace {

namespace fs = std::filesystem;

/// nvcc's path, or nothing.
std::string find_nvcc() {
  const char* path = std::getenv("PATH");
  std::string folders = std::string(path != nullptr ? path : "") + ":/usr/local/cuda/bin";
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const std::string candidate = folders.substr(0, end) + "/nvcc";
    if (end > 0 && access(candidate.c_str(), X_OK) == 0) return candidate;
    folders.erase(0, end + 1);
  }
  return {};
}

/// Exit status, with standard output and errors in `log`; -1 when it does not start.
int run_command(std::vector<std::string> words, const std::string& log) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t pid = -1;
  const int started = posix_spawn(&pid, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (started != 0) return -1;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Quiet, which nvcc is with neither warnings nor spills.
void expect_clean_under_nvcc(const std::string& nvcc, const Part& part, const fs::path& folder,
                             std::span<const char* const> arches) {
  SCOPED_TRACE(part.header);
  const fs::path source = folder / (part.header + ".cu");
  std::string addresses;
  for (const std::string& kernel : part.kernels) {
    addresses += fmt::format("    reinterpret_cast<const void*>(&{}),\n", kernel);
  }
  std::ofstream(source) << kernels_of(part.header)
                        << "extern const void* const kernels[];\nconst void* const kernels[] = {\n"
                        << addresses << "};\n";
  std::vector<std::string> command = {nvcc,
                                      "-fatbin",
                                      "-std=c++20",
                                      "-I",
                                      EK_SOURCE_DIR,
                                      "-Xptxas",
                                      "-warn-spills,-warn-lmem-usage",
                                      "-Werror",
                                      "all-warnings"};
  for (const char* arch : arches) {
    command.emplace_back("-gencode");
    command.push_back(fmt::format("arch=compute_{0},code=sm_{0}", arch + 3));
  }
  command.insert(command.end(),
                 {"-o", (folder / (part.header + ".fatbin")).string(), source.string()});
  const fs::path log = folder / (part.header + ".log");
  EXPECT_EQ(run_command(command, log.string()), 0) << fmt::format("{}", fmt::join(command, " "));
  EXPECT_EQ(read_file(log), "");
}

class UnderNvcc : public testing::Test {
 protected:
  void SetUp() override {
    nvcc_ = find_nvcc();
    if (nvcc_.empty()) GTEST_SKIP() << "no nvcc on PATH or in /usr/local/cuda/bin";
    std::string pattern = (fs::temp_directory_path() / "einkorn_nvcc_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override {
    std::error_code ignored;  // leaving files behind in the temporary folder fails no test
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }

  std::string nvcc_;
  fs::path folder_;
};

// One architecture will do: what differs between them is in the next test.
TEST_F(UnderNvcc, EachHeaderIsEnoughAlone) {
  for (const Part& part : parts()) {
    expect_clean_under_nvcc(nvcc_, part, folder_, std::span(kArches).subspan(1, 1));
  }
}

TEST_F(UnderNvcc, AllTogether) { expect_clean_under_nvcc(nvcc_, whole_part(), folder_, kArches); }

}  // namespace
}  // namespace einkorn::device_common
