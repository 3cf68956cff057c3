#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/jit/compiler.h"
#include "src/jit/cpu_arch.h"
#include "src/jit/elf_exports.h"
#include "src/jit/host_cxx.h"
#include "src/jit/loaded_object.h"
#include "src/jit/service.h"
#include "tests/unit/jit/compiler_tests.h"

namespace einkorn::jit {
namespace {

using test::failure_text;
using test::FileTree;
using test::thrown_text;
using test::Variable;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* kScale = R"(
#include <vector>
#include <cmath>
namespace { template <class T> T twice(T x) { return x + x; } }
extern "C" void scale(const float* x, float* y, long n) {
  for (long i = 0; i < n; ++i) y[i] = twice(std::sqrt(x[i]));
}
extern "C" int version = 7;
static int hidden() { return 1; }
void mangled(int) { (void)hidden(); }
)";

class HostCompiler : public testing::Test {
 protected:
  void SetUp() override {
    const HostCxxSearch search = find_host_cxx(HostCxxRoots::of_process());
    if (search.command.empty()) GTEST_SKIP() << testing::PrintToString(search.tried);
  }

  static CompileInputs inputs_of(std::string name, std::string source, Expressions entries = {},
                                 std::vector<std::string> options = {}) {
    return resolve_inputs({.file = std::move(name),
                           .source = std::move(source),
                           .instantiate = std::move(entries),
                           .arch = std::string(cpu_arch()),
                           .options = std::move(options),
                           .target = Target::kCpu});
  }
  static Outcome compile(std::string name, std::string source, Expressions entries = {},
                         std::vector<std::string> options = {}) {
    return host_compiler().compile(
        inputs_of(std::move(name), std::move(source), std::move(entries), std::move(options)));
  }
};

TEST_F(HostCompiler, CompilesLoadsAndCalls) {
  const Outcome outcome = compile("scale.cc", kScale, {"scale", "version"});
  ASSERT_EQ(failure_text(outcome), "");
  const Artifact& artifact = *outcome.artifact;
  EXPECT_EQ(artifact.target, Target::kCpu);
  EXPECT_THAT(artifact.compiler, HasSubstr(" for "));
  ASSERT_EQ(artifact.entries.size(), 2u);
  EXPECT_EQ(artifact.entries[0].lowered, "scale");
  EXPECT_THAT(exported_symbols(artifact.image), ElementsAre("_Z7mangledi", "scale", "version"));
  EXPECT_THAT(outcome.dependencies, Contains(EndsWith("/vector")));

  const LoadedObject object = LoadedObject::load("", artifact.image, "scale.cc");
  auto* scale = reinterpret_cast<void (*)(const float*, float*, long)>(object.symbol("scale"));
  const float x[3] = {1, 4, 9};
  float y[3] = {};
  scale(x, y, 3);
  EXPECT_THAT(y, ElementsAre(2, 4, 6));
}

TEST_F(HostCompiler, CFilesAreC) {
  const std::string source = "int class(int template) { return template + 1; }\n";
  EXPECT_EQ(failure_text(compile("k.c", source, {"class"})), "");
  EXPECT_THAT(failure_text(compile("k.cc", source)), StartsWith("jit: k.cc(1): error: "));
}

// Clang's depfile of such a file names nothing.
TEST_F(HostCompiler, ASourceThatIncludesNothingIsFoundAgain) {
  const Outcome outcome = compile("k.c", "int f(void) { return 1; }\n");
  ASSERT_EQ(failure_text(outcome), "");
  EXPECT_THAT(outcome.dependencies, testing::Each(StartsWith("/")));

  const FileTree cache;
  Settings settings;
  settings.cache_dir = cache.path("cache");
  const CompileInputs inputs = resolve_inputs(
      {.file = "k.c", .source = "int f(void) { return 2; }\n", .target = Target::kCpu});
  Service(settings, {&host_compiler()}).answer(inputs, "", nullptr);
  const std::uint64_t before = compile_count();
  Service(settings, {&host_compiler()}).answer(inputs, "", nullptr);
  EXPECT_EQ(compile_count(), before);
}

TEST_F(HostCompiler, FilesOnDisk) {
  const FileTree files;
  files.write("lib/base.h", "#include \"deep/more.h\"\n");
  files.write("lib/deep/more.h", "inline int value() { return 41; }\n");
  const std::string main = files.write(
      "a/k.cc", "#include \"../lib/base.h\"\nextern \"C\" int get() { return value() + 1; }\n");
  const auto inputs = [&] {
    return resolve_inputs({.file = main, .arch = std::string(cpu_arch()), .target = Target::kCpu});
  };
  const Outcome outcome = host_compiler().compile(inputs());
  ASSERT_EQ(failure_text(outcome), "");
  const LoadedObject object = LoadedObject::load("", outcome.artifact->image, "k.cc");
  EXPECT_EQ(reinterpret_cast<int (*)()>(object.symbol("get"))(), 42);

  files.write("lib/deep/more.h", "inline int value() { return nothing; }\n");
  EXPECT_THAT(failure_text(host_compiler().compile(inputs())),
              StartsWith("jit: " + files.path("lib/deep/more.h") + "(1): error: "));
}

TEST_F(HostCompiler, ErrorsOfTheSource) {
  const std::string missing = failure_text(
      compile("k.cc", "static int f() { return 1; }\nint g() { return f(); }\n", {"g"}));
  EXPECT_THAT(missing, StartsWith("jit: k.cc: error: \"g\" is not exported; exported are: _Z1gv\n"
                                  "  entry: g  arch: "));
  EXPECT_THAT(missing, HasSubstr("hint: declare it extern \"C\""));
  EXPECT_THAT(failure_text(compile("k.cc", "#include <no/such.h>\n")),
              StartsWith("jit: k.cc(1): error: "));
  EXPECT_THAT(failure_text(compile("k.cc", "\n", {}, {"-lnosuch"})), HasSubstr("-lnosuch"));
  const std::string undefined = failure_text(compile(
      "k.cc", "extern \"C\" int g(); int f() { return g(); }\n", {}, {"-Wl,--no-undefined"}));
  EXPECT_THAT(undefined, HasSubstr("undefined reference to"));
}

TEST_F(HostCompiler, OptionsOfTheRequest) {
  const std::string source =
      "#include <math.h>\nextern \"C\" double f(double x) { return cos(x) + N; }\n";
  const Outcome outcome = compile("k.cc", source, {"f"}, {"-DN=2", "-std=c++17", "-lm", "-Wall"});
  ASSERT_EQ(failure_text(outcome), "");
  const LoadedObject object = LoadedObject::load("", outcome.artifact->image, "k.cc");
  EXPECT_EQ(reinterpret_cast<double (*)(double)>(object.symbol("f"))(0.0), 3.0);
}

TEST_F(HostCompiler, EqualInputsGiveEqualImages) {
  const auto image = [] {
    const Outcome outcome = compile("k.cc", kScale, {"scale"}, {"-g"});
    EXPECT_EQ(failure_text(outcome), "");
    return outcome.artifact->image;
  };
  EXPECT_EQ(image(), image());
}

TEST_F(HostCompiler, NothingIsLeftBehind) {
  const FileTree temporary;
  const Variable tmpdir("TMPDIR", temporary.root().string());
  EXPECT_EQ(failure_text(compile("k.cc", "int f() { return 1; }")), "");
  EXPECT_THAT(temporary.entries(), IsEmpty());
  const Variable slow(
      "EINKORN_HOST_CXX",
      temporary.write_script(
          "c++", "case $1 in --version | -dumpmachine) echo x ;; *) sleep 100 ;; esac\n"));
  CompileInputs inputs = inputs_of("k.cc", "int f() { return 1; }");
  inputs.time_limit = 0.3;
  EXPECT_THAT(thrown_text([&] { host_compiler().compile(inputs); }),
              StartsWith("jit: k.cc: still compiling after 0.3 s, ended\n  arch: "));
  EXPECT_THAT(temporary.entries(), ElementsAre("c++"));
}

TEST_F(HostCompiler, Refusals) {
  CompileInputs inputs = inputs_of("k.cc", "\n");
  EXPECT_EQ(host_compiler().refusal(inputs), std::nullopt);
  inputs.arch = "native";
  EXPECT_THAT(host_compiler().refusal(inputs).value_or(""), HasSubstr("nothing exact"));
  inputs.arch = "x86-64";
  const Variable named("EINKORN_HOST_CXX", "/nowhere/g++");
  EXPECT_THAT(host_compiler().refusal(inputs).value_or(""),
              HasSubstr("/nowhere/g++ (EINKORN_HOST_CXX; nothing else is tried)"));
  EXPECT_THAT(thrown_text([&] { host_compiler().compile(inputs); }), HasSubstr("/nowhere/g++"));
  inputs.target = Target::kCuda;
  EXPECT_NE(host_compiler().refusal(inputs), std::nullopt);
}

TEST(HostCxx, IsLookedForInOrder) {
  const FileTree files;
  HostCxxRoots roots;
  roots.path = files.path("bin");
  EXPECT_THAT(find_host_cxx(roots).tried,
              ElementsAre(StartsWith("c++ in PATH: "), StartsWith("g++ in PATH: "),
                          StartsWith("clang++ in PATH: ")));
  files.write_script("bin/clang++", "");
  EXPECT_THAT(find_host_cxx(roots).command, ElementsAre(files.path("bin/clang++")));
  files.write_script("bin/c++", "");
  EXPECT_THAT(find_host_cxx(roots).command, ElementsAre(files.path("bin/c++")));
  files.write_script("bin/ccache", "");
  roots.cxx = "ccache g++  -m64";
  EXPECT_THAT(find_host_cxx(roots).command, ElementsAre(files.path("bin/ccache"), "g++", "-m64"));
  roots.cxx = files.write_script("with blank/c++", "");
  EXPECT_THAT(find_host_cxx(roots).command, ElementsAre(roots.cxx));
  roots.cxx = "gone";
  EXPECT_THAT(find_host_cxx(roots).command, ElementsAre(files.path("bin/c++")));
  EXPECT_THAT(find_host_cxx(roots).tried, ElementsAre("gone (CXX)"));
  roots.override_command = "clang++";
  EXPECT_THAT(find_host_cxx(roots).command, ElementsAre(files.path("bin/clang++")));
}

TEST(HostCxx, IdentityChangesWithTheCompiler) {
  const FileTree files;
  const Variable named("EINKORN_HOST_CXX", files.write_script("c++", "echo 'c++ 12.2'\n"));
  EXPECT_EQ(host_compiler().identity(), "c++ c++ 12.2 for c++ 12.2");
  files.write_script("c++", "echo 'c++ 12.2.1'\n");
  EXPECT_EQ(host_compiler().identity(), "c++ c++ 12.2.1 for c++ 12.2.1");
  files.write_script("c++", "echo oops >&2; exit 3\n");
  EXPECT_THAT(thrown_text([] { host_compiler().identity(); }), HasSubstr("exit status 3: oops"));
}

}  // namespace
}  // namespace einkorn::jit
