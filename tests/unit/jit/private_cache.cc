// Every unit test process gets a cache of its own, so that no test finds what an earlier run left.

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace einkorn::jit {
namespace {

class PrivateCache : public testing::Environment {
 public:
  void SetUp() override {
    std::string folder = testing::TempDir() + "einkorn-test-cache-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    setenv("EINKORN_CACHE_DIR", folder.c_str(), 1);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

 private:
  std::filesystem::path folder_;
};

// gtest owns it. NOLINTNEXTLINE(bugprone-throwing-static-initialization): out of memory ends it all
testing::Environment* const kRegistered = testing::AddGlobalTestEnvironment(new PrivateCache);

}  // namespace
}  // namespace einkorn::jit
