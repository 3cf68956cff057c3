// Every unit test process gets a cache of its own, so that no test finds what an earlier run left.

#include <cstdlib>
#include <optional>

#include <gtest/gtest.h>

#include "tests/unit/file_tree.h"

namespace einkorn::jit {
namespace {

class PrivateCache : public testing::Environment {
 public:
  void SetUp() override {
    folder_.emplace("einkorn-test-cache");
    setenv("EINKORN_CACHE_DIR", folder_->root().c_str(), 1);
  }
  void TearDown() override { folder_.reset(); }

 private:
  std::optional<test::FileTree> folder_;
};

// gtest owns it. NOLINTNEXTLINE(bugprone-throwing-static-initialization): out of memory ends it all
testing::Environment* const kRegistered = testing::AddGlobalTestEnvironment(new PrivateCache);

}  // namespace
}  // namespace einkorn::jit
