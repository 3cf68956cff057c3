#include "src/jit/loaded_object.h"

#include <cstring>
#include <thread>

#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/jit/compiler.h"
#include "src/jit/cpu_arch.h"
#include "src/jit/elf_exports.h"
#include "src/jit/host_cxx.h"
#include "tests/unit/jit/compiler_tests.h"

namespace einkorn::jit {
namespace {

using test::thrown_text;
using testing::HasSubstr;
using testing::StartsWith;

class LoadedObjectTest : public testing::Test {
 protected:
  void SetUp() override {
    if (find_host_cxx(HostCxxRoots::of_process()).command.empty()) {
      GTEST_SKIP() << "no C++ compiler";
    }
  }

  static std::vector<std::byte> object_of(const std::string& source) {
    const Outcome outcome = host_compiler().compile(resolve_inputs({.file = "k.c",
                                                                    .source = source,
                                                                    .arch = std::string(cpu_arch()),
                                                                    .target = Target::kCpu}));
    EXPECT_EQ(test::failure_text(outcome), "");
    return outcome.artifact ? outcome.artifact->image : std::vector<std::byte>();
  }
  static int call(const LoadedObject& object, const char* name) {
    return reinterpret_cast<int (*)()>(object.symbol(name))();
  }
};

TEST_F(LoadedObjectTest, OneObjectForEachKey) {
  const auto one = object_of("static int n; int get(void) { return ++n; }\n");
  const auto two = object_of("int get(void) { return 100; }\n");
  const LoadedObject first = LoadedObject::load("key of one", one, "one.c");
  const LoadedObject again = LoadedObject::load("key of one", one, "one.c");
  EXPECT_EQ(first.handle(), again.handle());
  EXPECT_EQ(call(first, "get"), 1);
  EXPECT_EQ(call(again, "get"), 2);

  // The loader must not take the second file for the first.
  const LoadedObject other = LoadedObject::load("key of two", two, "two.c");
  EXPECT_NE(first.handle(), other.handle());
  EXPECT_EQ(call(other, "get"), 100);

  const LoadedObject by_content = LoadedObject::load("", two, "two.c");
  EXPECT_EQ(by_content.handle(), LoadedObject::load("", two, "two.c").handle());
}

TEST_F(LoadedObjectTest, SymbolsThatAreNotThere) {
  const LoadedObject object =
      LoadedObject::load("", object_of("int here(void) { return 1; }\n"), "k.c");
  EXPECT_EQ(object.find("gone"), nullptr);
  EXPECT_EQ(object.find("malloc"), nullptr);  // libc's, not its own
  EXPECT_NE(object.find("here"), nullptr);
  EXPECT_THAT(thrown_text([&] { object.symbol("gone"); }),
              StartsWith("jit: k.c: expected a function \"gone\", got none of that name\n"
                         "  exported: here\n  hint: "));
}

TEST_F(LoadedObjectTest, ObjectsThatCannotBeLoaded) {
  EXPECT_THAT(thrown_text([] {
                LoadedObject::load("",
                                   object_of("int missing(void); int f(void) { return "
                                             "missing(); }\n"),
                                   "k.c");
              }),
              testing::AllOf(StartsWith("jit: k.c: cannot load the shared object: "),
                             HasSubstr("missing")));
  const std::vector<std::byte> rubbish(100, std::byte{1});
  EXPECT_THAT(thrown_text([&] { LoadedObject::load("", rubbish, "k.c"); }),
              HasSubstr("cannot load the shared object"));
  EXPECT_THAT(thrown_text([] { LoadedObject::load("", {}, "k.c"); }),
              HasSubstr("cannot load the shared object"));
}

TEST_F(LoadedObjectTest, ThreadsGetTheSameObject) {
  const auto image = object_of("int three(void) { return 3; }\n");
  std::vector<void*> handles(8);
  std::vector<std::thread> threads;
  threads.reserve(handles.size());
  for (void*& handle : handles) {
    threads.emplace_back([&] { handle = LoadedObject::load("", image, "k.c").handle(); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(handles, testing::Each(handles.front()));
}

TEST_F(LoadedObjectTest, ExportsOfDamagedFilesAreAnErrorOrFewer) {
  const auto image = object_of("int a(void) { return 1; } int b(void) { return 2; }\n");
  EXPECT_THAT(exported_symbols(image), testing::ElementsAre("a", "b"));
  for (std::size_t i = 0; i < image.size(); i += 3) {
    auto damaged = image;
    damaged[i] ^= std::byte{0xff};
    thrown_text([&] { exported_symbols(damaged); });
  }
  for (std::size_t size = 0; size < image.size(); size += 97) {
    thrown_text([&] { exported_symbols(std::span(image).first(size)); });
  }
}

}  // namespace
}  // namespace einkorn::jit
