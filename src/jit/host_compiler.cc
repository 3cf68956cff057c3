// The machine's own C++ compiler as a process: C and C++ with C entry points to a shared object.

#include <algorithm>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/jit/compiler_flags.h"
#include "src/jit/elf_exports.h"
#include "src/jit/file_job.h"
#include "src/jit/host_cxx.h"
#include "src/jit/include_options.h"
#include "src/jit/program_version.h"

namespace einkorn::jit {
namespace {

constexpr double kTimeLimit = 600;  // seconds

constexpr const char* kObject = "unit.so";
constexpr const char* kDepfile = "unit.d";

/// Names of the request that the object does not export, in the form of a compiler's message.
std::string missing_entries(const CompileInputs& inputs, std::span<const std::byte> object) {
  if (inputs.entries.empty()) return {};
  const std::vector<std::string> exported = exported_symbols(object);
  for (const std::string& entry : inputs.entries) {
    if (std::binary_search(exported.begin(), exported.end(), entry)) continue;
    return fmt::format("c++: error: \"{}\" is not exported; exported are: {}", entry,
                       fmt::join(exported, ", "));
  }
  return {};
}

class HostJob : FileJob {
 public:
  HostJob(const CompileInputs& inputs, std::vector<std::string> command)
      : FileJob(inputs, host_compiler_version(command), {}, {}, kTimeLimit),
        command_(std::move(command)) {}

  Outcome compile() {
    if (!run(arguments())) return failure(run_.log());
    const auto object = artifact(kObject, inputs_.entries);
    const std::string missing = missing_entries(inputs_, object->image);
    if (!missing.empty()) return failure(run_.log() + missing);
    return {.artifact = object, .dependencies = dependencies(kDepfile)};
  }

 private:
  std::vector<std::string> arguments() {
    const bool is_c = inputs_.main().name.ends_with(".c");
    std::vector<std::string> argv = command_;
    argv.insert(argv.end(), {"-O3", "-shared", "-fPIC"});
    if (inputs_.arch != "generic") argv.push_back("-march=" + inputs_.arch);
    if (!is_c && !names_standard(inputs_.options)) argv.emplace_back("-std=c++20");
    // What names files in the result is to name none of this folder.
    argv.push_back(fmt::format("-ffile-prefix-map={}=/einkorn", sources_.path()));
    argv.insert(argv.end(), {"-MD", "-MF", beside(kDepfile)});
    add_include_flags(argv, sources_, inputs_);
    argv.insert(argv.end(), {"-x", is_c ? "c" : "c++", sources_.main(), "-x", "none"});
    // Behind the source, where a linker looks for what the source needs.
    argv.insert(argv.end(), inputs_.options.begin(), inputs_.options.end());
    argv.insert(argv.end(), {"-o", beside(kObject)});
    return argv;
  }

  std::vector<std::string> command_;
};

class HostCompiler : public Compiler {
 public:
  std::string_view name() const override { return "c++"; }
  Target target() const override { return Target::kCpu; }

  std::optional<std::string> refusal(const CompileInputs& inputs) override {
    if (inputs.target != Target::kCpu) return "it compiles for the CPU only";
    if (inputs.arch == "native") {
      return R"(arch "native" says nothing exact; "x86-64-v3", say, does)";
    }
    const HostCxxSearch search = find_host_cxx(HostCxxRoots::of_process());
    if (!search.command.empty()) return std::nullopt;
    return fmt::format(
        "no C++ compiler was found; tried:\n      {}\n    hint: install g++ or "
        "clang, or set EINKORN_HOST_CXX",
        fmt::join(search.tried, "\n      "));
  }

  std::string identity() override {
    return fmt::format("c++ {}{}", host_compiler_version(command()), search_variables());
  }

  Outcome compile(const CompileInputs& inputs) override {
    return HostJob(inputs, command()).compile();
  }

  bool reads_disk() const override { return true; }

 private:
  static std::vector<std::string> command() {
    HostCxxSearch search = find_host_cxx(HostCxxRoots::of_process());
    EK_CHECK(!search.command.empty(), ErrorKind::kRuntime,
             fmt::format("jit: c++: expected a C++ compiler, found none of: {}",
                         fmt::join(search.tried, ", ")));
    return std::move(search.command);
  }
};

}  // namespace

Compiler& host_compiler() {
  static HostCompiler& instance = *new HostCompiler;  // threads may outlive main
  return instance;
}

}  // namespace einkorn::jit
