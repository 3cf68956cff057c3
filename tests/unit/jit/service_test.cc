// The order of places asked, with compilers made up for the purpose.

#include "src/jit/service.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/core/warning.h"
#include "src/jit/pack.h"
#include "tests/unit/golden.h"
#include "tests/unit/jit/service_fixture.h"

namespace einkorn::jit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(ServiceTest, MemoryThenStoreThenCompiler) {
  auto service = make();
  Trace trace;
  const auto artifact = service->answer(inputs(), "", &trace);
  EXPECT_THAT(steps(trace),
              ElementsAre("memory: miss", "store, by one: miss", "store, by two: miss",
                          "one: compiled", "store: published"));
  trace = {};
  EXPECT_EQ(service->answer(inputs(), "", &trace), artifact);
  EXPECT_THAT(steps(trace), ElementsAre("memory: hit"));
  // Another process.
  service = make();
  trace = {};
  const auto again = service->answer(inputs(), "", &trace);
  EXPECT_THAT(steps(trace), ElementsAre("memory: miss", "store, by one: hit"));
  EXPECT_EQ(again->image, artifact->image);
  EXPECT_EQ(again->key, artifact->key);
  EXPECT_EQ(first_.compiles, 1);
}

TEST_F(ServiceTest, AnUpgradedCompilerIsAnotherKey) {
  make()->answer(inputs(), "", nullptr);
  first_.version = "2";
  make()->answer(inputs(), "", nullptr);
  EXPECT_EQ(first_.compiles, 2);
  first_.version = "1";
  make()->answer(inputs(), "", nullptr);
  EXPECT_EQ(first_.compiles, 2);
}

TEST_F(ServiceTest, ARefusalIsSkippedWithItsReason) {
  first_.refuses = "not installed";
  Trace trace;
  make()->answer(inputs(), "", &trace);
  EXPECT_THAT(steps(trace), testing::Contains("one: skipped: not installed"));
  EXPECT_EQ(first_.compiles, 0);
  EXPECT_EQ(second_.compiles, 1);
}

TEST_F(ServiceTest, WhenNoneServesTheErrorSaysWhyOfEach) {
  first_.refuses = "not installed";
  second_.refuses = "no license";
  EXPECT_EQ(test::error_text([&] { make()->answer(inputs(), "", nullptr); }),
            "RuntimeError: jit: k.cu: no compiler serves\n    one: not installed\n    two: no "
            "license\n  entry: k  arch: sm_90a\n  hint: einkorn doctor shows what was found");
}

TEST_F(ServiceTest, BesideOthersOneThatSerialisesGivesWayToTheSameCompiler) {
  first_.one_at_a_time = true;
  const auto service = make();
  service->answer(inputs("// another compiler"), "", nullptr, Beside::kOthers);
  EXPECT_EQ(first_.compiles, 1);
  second_.same_as = "one";
  service->answer(inputs("// alone"), "", nullptr);
  EXPECT_EQ(first_.compiles, 2);
  service->answer(inputs("// beside"), "", nullptr, Beside::kOthers);
  EXPECT_EQ(first_.compiles, 2);
  EXPECT_EQ(second_.compiles, 1);
  service->answer(inputs("// beside"), "", nullptr);  // one answer, however it was come by
  service->answer(inputs("// named"), "one", nullptr, Beside::kOthers);
  EXPECT_EQ(first_.compiles, 3);
  EXPECT_EQ(second_.compiles, 1);
}

TEST_F(ServiceTest, ANamedCompilerAlone) {
  auto service = make();
  EXPECT_EQ(service->answer(inputs(), "two", nullptr)->compiler, "two");
  EXPECT_EQ(first_.compiles, 0);
  EXPECT_EQ(test::error_text([&] { service->answer(inputs(), "three", nullptr); }),
            "ValueError: jit: compiler: expected one of one two, got \"three\"");
}

TEST_F(ServiceTest, TheNextCompilerIsTriedOnlyWhenItMayAccept) {
  first_.fails = true;
  EXPECT_EQ(test::error_text([&] { make()->answer(inputs(), "", nullptr); }),
            "RuntimeError: one rejects it");
  EXPECT_EQ(second_.compiles, 0);
  first_.other_may = true;
  EXPECT_EQ(make()->answer(inputs(), "", nullptr)->compiler, "two");
  // Later processes find what the second one made without asking the first to fail again.
  const int before = first_.compiles;
  EXPECT_EQ(make()->answer(inputs(), "", nullptr)->compiler, "two");
  EXPECT_EQ(first_.compiles, before);
}

TEST_F(ServiceTest, WhenAllRejectItTheFirstOnesErrorIsTold) {
  first_.fails = first_.other_may = second_.fails = true;
  EXPECT_EQ(test::error_text([&] { make()->answer(inputs(), "", nullptr); }),
            "RuntimeError: one rejects it");
  EXPECT_EQ(second_.compiles, 1);
}

TEST_F(ServiceTest, AFailureIsRememberedTroubleIsNot) {
  auto service = make();
  first_.fails = true;
  for (int i = 0; i < 3; ++i) EXPECT_THROW(service->answer(inputs(), "", nullptr), Error);
  EXPECT_EQ(first_.compiles, 1);
  first_.fails = false;
  first_.throws = true;
  for (int i = 0; i < 3; ++i) EXPECT_THROW(service->answer(inputs("x"), "", nullptr), Error);
  EXPECT_EQ(first_.compiles, 4);
  service->forget();
  first_.throws = false;
  EXPECT_NE(service->answer(inputs(), "", nullptr), nullptr);
}

TEST_F(ServiceTest, Threads64OfOneKeyCompileOnce) {
  auto service = make();
  first_.takes = std::chrono::milliseconds(20);
  std::atomic<int> answered{0};
  {
    std::vector<std::jthread> threads;
    threads.reserve(64);
    for (int i = 0; i < 64; ++i) {
      threads.emplace_back([&] {
        if (service->answer(inputs(), "", nullptr) != nullptr) ++answered;
      });
    }
  }
  EXPECT_EQ(answered, 64);
  EXPECT_EQ(first_.compiles, 1);
}

TEST_F(ServiceTest, EightProcessesOfOneKeyCompileOnce) {
  first_.takes = std::chrono::milliseconds(100);
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      int compiled = 99;
      try {
        make()->answer(inputs(), "", nullptr);
        compiled = first_.compiles;
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
      }
      _exit(compiled);
    }
    children.push_back(child);
  }
  int compiled = 0;
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    compiled += WEXITSTATUS(status);
  }
  EXPECT_EQ(compiled, 1);
}

TEST_F(ServiceTest, Modes) {
  Settings forbidden = settings();
  forbidden.mode = Mode::kCacheOnly;
  EXPECT_THAT(test::error_text([&] { make(forbidden)->answer(inputs(), "", nullptr); }),
              HasSubstr("jit: k.cu: not compiled ahead, and EINKORN_JIT=cache-only forbids "
                        "compiling\n  entry: k  arch: sm_90a\n  hint: einkorn pack"));
  make()->answer(inputs(), "", nullptr);
  EXPECT_NE(make(forbidden)->answer(inputs(), "", nullptr), nullptr);
  forbidden.mode = Mode::kOff;
  EXPECT_THAT(test::error_text([&] { make(forbidden)->answer(inputs(), "", nullptr); }),
              HasSubstr("EINKORN_JIT=off forbids compiling"));
  EXPECT_EQ(first_.compiles, 1);
}

TEST_F(ServiceTest, APackServesWithoutCompilerAndStore) {
  const Request request{
      .file = "k.cu", .source = "__global__ void k() {}", .instantiate = "k", .arch = "sm_90a"};
  const std::string folder = scratch_.path("shipped.pack");
  {
    PackWriter writer(folder, false);
    writer.add(request, Program(std::make_shared<Artifact>(numbered_artifact(3)), "k.cu"));
    EXPECT_FALSE(std::filesystem::exists(folder)) << "nothing half done is in place";
    writer.finish();
  }
  Settings packed = settings();
  packed.packs = {scratch_.path("other.pack"), folder};
  PackWriter(packed.packs[0], false).finish();
  packed.mode = Mode::kOff;
  first_.refuses = second_.refuses = "not installed";
  Trace trace;
  EXPECT_EQ(make(packed)->answer(inputs(), "", &trace)->image, numbered_artifact(3).image);
  EXPECT_THAT(steps(trace), ElementsAre("memory: miss", "pack " + packed.packs[0] + ": miss",
                                        "pack " + folder + ": hit"));
  EXPECT_FALSE(std::filesystem::exists(scratch_.path("cache")));
  EXPECT_THAT(test::error_text([&] { PackWriter(folder, false); }),
              HasSubstr("pack: --output: expected a new or empty folder"));
  PackWriter(folder, true).finish();
  EXPECT_THROW(make(packed)->answer(inputs(), "", nullptr), Error) << "replaced by an empty one";
}

TEST_F(ServiceTest, WhatNoPackHasIsToldWithWhatTheyHave) {
  const auto pack = [&](const std::string& name, const std::vector<Request>& requests) {
    PackWriter writer(scratch_.path(name), false);
    for (const Request& one : requests) {
      writer.add(one, Program(std::make_shared<Artifact>(numbered_artifact(3)), one.file));
    }
    writer.finish();
    return scratch_.path(name);
  };
  const Request request{
      .file = "k.cu", .source = "__global__ void k() {}", .instantiate = "k", .arch = "sm_90a"};
  Request other = request, edited = request, elsewhere = request;
  other.instantiate = "k<float,4>";
  other.arch = "sm_80";
  edited.source += "  // edited";
  elsewhere.file = "other.cu";
  Settings packed = settings();
  packed.packs = {pack("other", {other}), pack("edited", {edited}), pack("file", {elsewhere}),
                  scratch_.path("none")};
  packed.mode = Mode::kOff;
  const std::string text = test::error_text([&] { make(packed)->answer(inputs(), "", nullptr); });
  EXPECT_THAT(text, HasSubstr(packed.packs[0] + ": of k.cu it has k<float, 4> for sm_80\n"));
  EXPECT_THAT(text, HasSubstr(packed.packs[1] + ": has this kernel of other sources or options\n"));
  EXPECT_THAT(text, HasSubstr(packed.packs[2] + ": has nothing of k.cu\n"));
  EXPECT_THAT(text, HasSubstr(packed.packs[3] + ": expected a folder that einkorn pack made"));
  EXPECT_THAT(text, HasSubstr("hint: einkorn pack compiles ahead; EINKORN_JIT=cache-only"));
}

TEST_F(ServiceTest, APackThatOthersMayWriteToIsNotLoaded) {
  const std::string folder = scratch_.path("open.pack");
  {
    PackWriter writer(folder, false);
    writer.add(
        {.file = "k.cu", .source = "__global__ void k() {}", .instantiate = "k", .arch = "sm_90a"},
        Program(std::make_shared<Artifact>(numbered_artifact(3)), "k.cu"));
    writer.finish();
  }
  std::filesystem::permissions(folder, std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  Settings packed = settings();
  packed.packs = {folder};
  packed.mode = Mode::kOff;
  EXPECT_THAT(test::error_text([&] { make(packed)->answer(inputs(), "", nullptr); }),
              HasSubstr("others may write to it"));
  packed.trust = true;
  EXPECT_NE(make(packed)->answer(inputs(), "", nullptr), nullptr);
}

TEST_F(ServiceTest, AFilledStoreServesWithoutItsCompiler) {
  first_.reads = {scratch_.write("seen.h", "1")};
  first_.on_disk = true;
  for (const char* version : {"1", "2", "3"}) {
    first_.version = version;
    make()->answer(inputs(std::string("// of ") + version), "", nullptr);
  }
  first_.refuses = "not installed";
  first_.version = "unknown";
  Settings forbidden = settings();
  forbidden.mode = Mode::kCacheOnly;
  for (const char* version : {"1", "2", "3"}) {
    Trace trace;
    EXPECT_NE(make(forbidden)->answer(inputs(std::string("// of ") + version), "", &trace),
              nullptr);
    EXPECT_EQ(steps(trace).back(), "store, by one, which is not here: hit");
  }
  EXPECT_THROW(make(forbidden)->answer(inputs("// of 4"), "", nullptr), Error);
  scratch_.write("seen.h", "2");
  EXPECT_THROW(make(forbidden)->answer(inputs("// of 1"), "", nullptr), Error);
  EXPECT_EQ(first_.compiles, 3);
  EXPECT_EQ(second_.compiles, 0);
}

TEST_F(ServiceTest, FilesThatTheCompilerReadAreInTheKey) {
  const std::string header = scratch_.write("seen.h", "1");
  first_.reads = {header};
  first_.on_disk = true;
  make()->answer(inputs(), "", nullptr);
  make()->answer(inputs(), "", nullptr);
  EXPECT_EQ(first_.compiles, 1);
  std::filesystem::last_write_time(
      header, std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  make()->answer(inputs(), "", nullptr);
  EXPECT_EQ(first_.compiles, 1) << "touched only";
  scratch_.write("seen.h", "2");
  first_.number = 2;
  EXPECT_EQ(make()->answer(inputs(), "", nullptr)->image, numbered_artifact(2).image);
  EXPECT_EQ(first_.compiles, 2);
  scratch_.write("seen.h", "1");
  EXPECT_EQ(make()->answer(inputs(), "", nullptr)->image, numbered_artifact(1).image);
  EXPECT_EQ(first_.compiles, 2) << "both are kept";
  std::filesystem::remove(header);
  EXPECT_NE(make()->answer(inputs(), "", nullptr), nullptr);
  EXPECT_EQ(first_.compiles, 3);
}

TEST_F(ServiceTest, ACompilerThatReadNothingMoreIsFoundAgain) {
  first_.on_disk = true;
  make()->answer(inputs(), "", nullptr);
  make()->answer(inputs(), "", nullptr);
  EXPECT_EQ(first_.compiles, 1);
}

TEST_F(ServiceTest, AnIdentityIsAskedOnlyWhereItCanHelp) {
  second_.on_disk = true;
  make()->answer(inputs(), "", nullptr);
  EXPECT_EQ(second_.identities, 0) << "nothing of it was ever published";
}

TEST_F(ServiceTest, WithoutAUsableFolderMemoryServesAndOneWarningTellsWhy) {
  std::vector<std::string> warnings;
  set_warning_handler([&](const std::string& text) { warnings.push_back(text); });
  Settings nowhere = settings();
  nowhere.cache_dir = scratch_.write("file", "") + "/cache";
  auto service = make(nowhere);
  const auto artifact = service->answer(inputs(), "", nullptr);
  EXPECT_EQ(service->answer(inputs(), "", nullptr), artifact);
  EXPECT_NE(service->answer(inputs("x"), "", nullptr), nullptr);
  set_warning_handler({});
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], HasSubstr("no cache folder can be used"));
  EXPECT_THAT(warnings[0], HasSubstr(nowhere.cache_dir));
}

TEST_F(ServiceTest, ADamagedArtifactIsBuiltAgain) {
  const auto artifact = make()->answer(inputs(), "", nullptr);
  const Digest key = Digest::parse(artifact->key).value_or(Digest{});
  const std::string path = entry_folder(settings().cache_dir, "sm_90a", key) + "/artifact.bin";
  std::filesystem::resize_file(path, 40);
  Trace trace;
  EXPECT_EQ(make()->answer(inputs(), "", &trace)->image, artifact->image);
  EXPECT_THAT(steps(trace)[1], HasSubstr("damaged"));
  EXPECT_EQ(first_.compiles, 2);
  EXPECT_NE(make()->answer(inputs(), "", nullptr), nullptr);
  EXPECT_EQ(first_.compiles, 2);
}

TEST_F(ServiceTest, ASoundArtifactOfAnotherArchIsNotServed) {
  const CompileInputs other = resolve_inputs(
      {.file = "k.cu", .source = "__global__ void k() {}", .instantiate = "k", .arch = "sm_80"});
  first_.number = 80;
  const auto wrong = make()->answer(other, "", nullptr);
  first_.number = 90;
  const auto right = make()->answer(inputs(), "", nullptr);
  ASSERT_EQ(first_.compiles, 2);
  const auto folder_of = [&](const Artifact& artifact, std::string_view arch) {
    return entry_folder(settings().cache_dir, arch, Digest::parse(artifact.key).value_or(Digest{}));
  };
  const std::string place = folder_of(*right, "sm_90a");
  std::filesystem::remove_all(place);
  std::filesystem::copy(folder_of(*wrong, "sm_80"), place);

  Trace trace;
  EXPECT_EQ(make()->answer(inputs(), "", &trace)->image, right->image);
  EXPECT_EQ(steps(trace)[1],
            "store, by one: damaged: the artifact of another key; moved to quarantine");
  EXPECT_EQ(first_.compiles, 3) << "built again";
  EXPECT_EQ(make()->answer(inputs(), "", nullptr)->image, right->image);
  EXPECT_EQ(make()->answer(other, "", nullptr)->image, wrong->image);
  EXPECT_EQ(first_.compiles, 3);
}

}  // namespace
}  // namespace einkorn::jit
