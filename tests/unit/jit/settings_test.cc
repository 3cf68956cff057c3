#include "src/jit/settings.h"

#include <unistd.h>

#include <optional>

#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/file_tree.h"
#include "tests/unit/golden.h"

namespace einkorn::jit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Settings, Defaults) {
  const test::Variable jit("EINKORN_JIT", std::nullopt);
  const test::Variable pack("EINKORN_PACK", std::nullopt);
  const test::Variable cache_max("EINKORN_CACHE_MAX", std::nullopt);
  const test::Variable cache_trust("EINKORN_CACHE_TRUST", std::nullopt);
  const test::Variable cache_dir("EINKORN_CACHE_DIR", std::nullopt);
  const Settings settings = Settings::from_environment();
  EXPECT_EQ(settings.mode, Mode::kOn);
  EXPECT_TRUE(settings.packs.empty());
  EXPECT_FALSE(settings.trust);
  EXPECT_EQ(settings.max_bytes, 10ULL << 30);
  EXPECT_EQ(settings.cache_dir, "");
}

TEST(Settings, FromTheEnvironment) {
  const test::Variable jit("EINKORN_JIT", "cache-only");
  const test::Variable pack("EINKORN_PACK", "/a:/b::/c");
  const test::Variable cache_max("EINKORN_CACHE_MAX", "512M");
  const test::Variable cache_trust("EINKORN_CACHE_TRUST", "1");
  const test::Variable cache_dir("EINKORN_CACHE_DIR", "/d");
  const Settings settings = Settings::from_environment();
  EXPECT_EQ(settings.mode, Mode::kCacheOnly);
  EXPECT_THAT(settings.packs, ElementsAre("/a", "/b", "/c"));
  EXPECT_TRUE(settings.trust);
  EXPECT_EQ(settings.max_bytes, 512ULL << 20);
  EXPECT_THAT(cache_candidates(settings), ElementsAre("/d"));
}

TEST(Settings, ValuesThatMeanNothing) {
  for (const auto& [name, value, text] :
       {std::tuple("EINKORN_JIT", "yes", "expected on, cache-only or off, got \"yes\""),
        std::tuple("EINKORN_CACHE_TRUST", "true", "expected 0 or 1, got \"true\""),
        std::tuple("EINKORN_CACHE_MAX", "10 GB",
                   "expected bytes such as 512M or 10G (units: K, M, G, T)"),
        std::tuple("EINKORN_CACHE_MAX", "99999999999T",
                   "expected bytes such as 512M or 10G (units: K, M, G, T)")}) {
    const test::Variable set(name, value);
    EXPECT_THAT(test::error_text([] { Settings::from_environment(); }),
                HasSubstr(std::string("ValueError: ") + name + ": " + text));
  }
}

TEST(Settings, Candidates) {
  const test::Variable xdg_cache_home("XDG_CACHE_HOME", "/x");
  const test::Variable home("HOME", "/h");
  const test::Variable tmpdir("TMPDIR", "/t");
  EXPECT_THAT(cache_candidates({}),
              ElementsAre("/x/einkorn", "/h/.cache/einkorn",
                          "/t/einkorn-" + std::to_string(geteuid()) + "/cache"));
}

TEST(ParseBytes, Units) {
  EXPECT_EQ(parse_bytes("v", "0"), 0u);
  EXPECT_EQ(parse_bytes("v", "3K"), 3072u);
  EXPECT_EQ(parse_bytes("v", "2T"), 2ULL << 40);
  for (const char* bad : {"", "K", "-1", "1.5G", "1GG", "1g"}) {
    EXPECT_THROW(parse_bytes("v", bad), Error) << bad;
  }
}

}  // namespace
}  // namespace einkorn::jit
