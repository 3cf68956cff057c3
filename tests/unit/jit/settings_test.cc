#include "src/jit/settings.h"

#include <unistd.h>

#include <cstdlib>
#include <map>

#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/golden.h"

namespace einkorn::jit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Sets variables for one scope; an empty value unsets.
class Environment {
 public:
  explicit Environment(const std::map<std::string, std::string>& wanted) {
    for (const auto& [name, value] : wanted) {
      const char* before = std::getenv(name.c_str());
      before_[name] = before == nullptr ? "" : before;
      set(name, value);
    }
  }
  ~Environment() {
    for (const auto& [name, value] : before_) set(name, value);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  static void set(const std::string& name, const std::string& value) {
    value.empty() ? unsetenv(name.c_str()) : setenv(name.c_str(), value.c_str(), 1);
  }
  std::map<std::string, std::string> before_;
};

TEST(Settings, Defaults) {
  const Environment none({{"EINKORN_JIT", ""},
                          {"EINKORN_PACK", ""},
                          {"EINKORN_CACHE_MAX", ""},
                          {"EINKORN_CACHE_TRUST", ""},
                          {"EINKORN_CACHE_DIR", ""}});
  const Settings settings = Settings::from_environment();
  EXPECT_EQ(settings.mode, Mode::kOn);
  EXPECT_TRUE(settings.packs.empty());
  EXPECT_FALSE(settings.trust);
  EXPECT_EQ(settings.max_bytes, 10ULL << 30);
  EXPECT_EQ(settings.cache_dir, "");
}

TEST(Settings, FromTheEnvironment) {
  const Environment set({{"EINKORN_JIT", "cache-only"},
                         {"EINKORN_PACK", "/a:/b::/c"},
                         {"EINKORN_CACHE_MAX", "512M"},
                         {"EINKORN_CACHE_TRUST", "1"},
                         {"EINKORN_CACHE_DIR", "/d"}});
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
        std::tuple("EINKORN_CACHE_MAX", "10 GB", "expected bytes such as 512M or 10G"),
        std::tuple("EINKORN_CACHE_MAX", "99999999999T", "expected bytes such as 512M or 10G")}) {
    const Environment set(std::map<std::string, std::string>{{name, value}});
    EXPECT_THAT(test::error_text([] { Settings::from_environment(); }),
                HasSubstr(std::string("ValueError: ") + name + ": " + text));
  }
}

TEST(Settings, Candidates) {
  const Environment set({{"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}, {"TMPDIR", "/t"}});
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
