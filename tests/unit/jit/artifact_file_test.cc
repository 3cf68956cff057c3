#include "src/jit/artifact_file.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace einkorn::jit {
namespace {

Artifact example() {
  Artifact artifact;
  artifact.image.resize(5000, std::byte{7});
  artifact.entries = {{"k<float>", "_Z1kIfEvv", {32, 128, 8, 4, 12}}, {"j", "j", {}}};
  artifact.log = "ptxas info";
  artifact.compiler = "nvrtc 13.0";
  artifact.compile_ms = 41.5;
  return artifact;
}

Digest key() { return Hasher().add("key").finish(); }

TEST(ArtifactFile, RoundTrip) {
  const Artifact artifact = example();
  const Unpacked back = unpack_artifact(key(), pack_artifact(key(), artifact));
  ASSERT_NE(back.artifact, nullptr) << back.reason;
  EXPECT_EQ(back.artifact->image, artifact.image);
  ASSERT_EQ(back.artifact->entries.size(), 2u);
  EXPECT_EQ(back.artifact->entries[0].lowered, "_Z1kIfEvv");
  EXPECT_EQ(back.artifact->entries[0].resources.spill_loads, 12);
  EXPECT_EQ(back.artifact->log, "ptxas info");
  EXPECT_EQ(back.artifact->compile_ms, 41.5);
  EXPECT_EQ(back.artifact->key, key().hex());
}

TEST(ArtifactFile, EveryLengthButTheWholeIsRefused) {
  const std::vector<std::byte> whole = pack_artifact(key(), example());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_EQ(unpack_artifact(key(), std::span(whole).first(length)).artifact, nullptr) << length;
  }
  std::vector<std::byte> longer = whole;
  longer.push_back(std::byte{0});
  EXPECT_EQ(unpack_artifact(key(), longer).artifact, nullptr);
}

TEST(ArtifactFile, EveryFlippedBitIsSeen) {
  const std::vector<std::byte> whole = pack_artifact(key(), example());
  std::mt19937 random(1);  // NOLINT(bugprone-random-generator-seed): repeatable
  for (std::size_t at = 0; at < whole.size(); at += 1 + at / 64) {
    std::vector<std::byte> damaged = whole;
    damaged[at] ^= static_cast<std::byte>(1U << (random() % 8));
    const Unpacked back = unpack_artifact(key(), damaged);
    EXPECT_EQ(back.artifact, nullptr) << at;
    EXPECT_FALSE(back.reason.empty());
  }
}

TEST(ArtifactFile, OfAnotherKey) {
  const Unpacked back =
      unpack_artifact(Hasher().add("other").finish(), pack_artifact(key(), example()));
  EXPECT_EQ(back.artifact, nullptr);
  EXPECT_EQ(back.reason, "the artifact of another key");
}

}  // namespace
}  // namespace einkorn::jit
