#include "src/trials/store.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/core/file.h"
#include "src/core/warning.h"
#include "tests/unit/file_tree.h"
#include "tests/unit/trials/trials.h"

namespace einkorn::trials {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kDevice = "Toy GPU 80GB";

void append(const std::string& file, const std::string& text) {
  std::ofstream(file, std::ios::app) << text;
}

TEST(TrialStore, ReadsWhatWasAdded) {
  const test::FileTree tree;
  TrialStore store(tree.path("trials"));
  EXPECT_THAT(store.read("twice", kDevice).trials, SizeIs(0));
  store.add(toy_trial("a=1", 3));
  store.add(toy_trial("a=2", 2));
  const Reading reading = TrialStore(tree.path("trials")).read("twice", kDevice);
  ASSERT_THAT(reading.trials, SizeIs(2));
  EXPECT_EQ(reading.trials[1].tiling, "a=2");
  EXPECT_EQ(reading.lines, (std::vector<int>{1, 2}));
  EXPECT_EQ(store.files(), std::vector{tree.path("trials/v1/toy_gpu_80gb/twice.jsonl")});
  EXPECT_THAT(store.read("other", kDevice).trials, SizeIs(0));
  EXPECT_THAT(store.read("twice", "Another GPU").trials, SizeIs(0));
  EXPECT_THAT(store.read_all("twice").trials, SizeIs(2));
}

TEST(TrialStore, SeesWhatOthersAppend) {
  const test::FileTree tree;
  TrialStore ours(tree.path("trials"));
  TrialStore theirs(tree.path("trials"));
  ours.add(toy_trial("a=1", 3));
  EXPECT_THAT(theirs.read("twice", kDevice).trials, SizeIs(1));
  ours.add(toy_trial("a=2", 3));
  EXPECT_THAT(theirs.read("twice", kDevice).trials, SizeIs(2));
  // A file that was replaced is read anew.
  tree.write("trials/v1/toy_gpu_80gb/twice.jsonl", to_line(toy_trial("b=1", 1)) + '\n');
  const Reading reading = theirs.read("twice", kDevice);
  ASSERT_THAT(reading.trials, SizeIs(1));
  EXPECT_EQ(reading.trials[0].tiling, "b=1");
}

TEST(TrialStore, BadLinesAreCountedWithTheirPlace) {
  const test::FileTree tree;
  TrialStore store(tree.path("trials"));
  store.add(toy_trial("a=1", 3));
  const std::string file = store.file_of("twice", kDevice);
  append(file, "{\"schema\":1}\n\n{\"schema\":7,\"op\":\"twice\"}\n");
  store.add(toy_trial("a=2", 3));
  const Reading reading = store.read("twice", kDevice);
  EXPECT_THAT(reading.trials, SizeIs(2));
  EXPECT_EQ(reading.lines, (std::vector<int>{1, 5}));
  ASSERT_THAT(reading.bad, SizeIs(2));
  EXPECT_EQ(reading.bad[0].line, 2);
  EXPECT_EQ(reading.bad[1].text(), file + ":4: schema: expected 1, got 7");
}

TEST(TrialStore, ATornLineCostsOnlyItself) {
  const test::FileTree tree;
  TrialStore store(tree.path("trials"));
  store.add(toy_trial("a=1", 3));
  const std::string file = store.file_of("twice", kDevice);
  append(file, to_line(toy_trial("a=2", 3)).substr(0, 40));
  // Perhaps it is still being written: no line yet, and none that is bad.
  EXPECT_THAT(store.read("twice", kDevice).bad, SizeIs(0));
  store.add(toy_trial("a=3", 3));
  const Reading reading = store.read("twice", kDevice);
  ASSERT_THAT(reading.trials, SizeIs(2));
  EXPECT_EQ(reading.trials[1].tiling, "a=3");
  ASSERT_THAT(reading.bad, SizeIs(1));
  EXPECT_EQ(reading.bad[0].line, 2);
  EXPECT_THAT(reading.bad[0].why, HasSubstr("cut or damaged"));
}

TEST(TrialStore, WritersOfManyProcessesDoNotMix) {
  const test::FileTree tree;
  constexpr int kWriters = 6;
  constexpr int kEach = 100;
  std::vector<pid_t> children;
  for (int writer = 0; writer < kWriters; ++writer) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      TrialStore store(tree.path("trials"));
      for (int i = 0; i < kEach; ++i) {
        Trial trial = toy_trial(fmt::format("writer={} i={}", writer, i), 1);
        trial.status = Status::kError;
        // Longer than a page, so that a write in parts would show.
        trial.reason = std::string(5000 + static_cast<std::size_t>(i), 'x');
        store.add(trial);
      }
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const Reading reading = TrialStore(tree.path("trials")).read("twice", kDevice);
  EXPECT_THAT(reading.bad, SizeIs(0));
  std::set<std::string> tilings;
  for (const Trial& trial : reading.trials) tilings.insert(trial.tiling);
  EXPECT_EQ(tilings.size(), std::size_t{kWriters * kEach});
}

TEST(TrialStore, WithoutAFolderItKeepsThemInMemoryAndSaysSoOnce) {
  const test::FileTree tree;
  tree.write("trials", "a file, no folder");
  std::vector<std::string> warnings;
  set_warning_handler([&](const std::string& text) { warnings.push_back(text); });
  TrialStore store(tree.path("trials"));
  store.add(toy_trial("a=1", 3));
  store.add(toy_trial("a=2", 3));
  set_warning_handler({});
  EXPECT_THAT(store.read("twice", kDevice).trials, SizeIs(2));
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_THAT(warnings[0], HasSubstr("kept in memory"));
}

TEST(TrialStore, AnEmptyRootIsMemory) {
  TrialStore store("");
  store.add(toy_trial("a=1", 3));
  EXPECT_THAT(store.read("twice", kDevice).trials, SizeIs(1));
  EXPECT_THAT(store.read_all("twice").trials, SizeIs(1));
  EXPECT_THAT(store.files(), SizeIs(0));
}

TEST(TrialStore, AFileIsReadToItsEnd) {
  const test::FileTree tree;
  const std::string file = tree.write("some.jsonl", to_line(toy_trial("a=1", 3)));
  EXPECT_THAT(read_trials(file).trials, SizeIs(1));
  EXPECT_THROW(read_trials(tree.path("none.jsonl")), Error);
}

TEST(UserStore, FollowsTheEnvironment) {
  const test::FileTree tree;
  const test::Variable cache("EINKORN_CACHE_DIR", tree.path("cache"));
  {
    const test::Variable unset("EINKORN_TRIALS", std::nullopt);
    // Reading makes no folder.
    EXPECT_EQ(user_store(false).root(), "");
    EXPECT_THAT(tree.entries(), SizeIs(0));
    EXPECT_EQ(user_store(true).root(), tree.path("cache") + "/trials");
    EXPECT_EQ(user_store(false).root(), tree.path("cache") + "/trials");
  }
  const test::Variable named("EINKORN_TRIALS", tree.path("mine"));
  EXPECT_EQ(user_store(false).root(), tree.path("mine"));
  const test::Variable off("EINKORN_TRIALS", "off");
  EXPECT_EQ(user_store(true).root(), "");
}

}  // namespace
}  // namespace einkorn::trials
