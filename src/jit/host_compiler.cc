// The machine's own C++ compiler as a process: C and C++ with C entry points to a shared object.

#include <algorithm>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/jit/compile_run.h"
#include "src/jit/compiler.h"
#include "src/jit/compiler_flags.h"
#include "src/jit/depfile.h"
#include "src/jit/elf_exports.h"
#include "src/jit/failure.h"
#include "src/jit/host_cxx.h"
#include "src/jit/program_version.h"
#include "src/jit/source_folder.h"
#include "src/jit/time_limit.h"

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

class HostJob {
 public:
  HostJob(const CompileInputs& inputs, std::vector<std::string> command)
      : inputs_(inputs),
        command_(std::move(command)),
        label_(host_compiler_version(command_)),
        sources_(scratch_, inputs.sources, {}),
        run_(inputs, label_, time_limit_of(inputs, kTimeLimit)) {}

  Outcome compile() {
    if (!run_.run(arguments(), sources_.path(), {"TMPDIR=" + scratch_.path()})) {
      return failure(run_.log());
    }
    auto artifact = std::make_shared<Artifact>();
    artifact->image = scratch_.read_bytes(kObject);
    const std::string missing = missing_entries(inputs_, artifact->image);
    if (!missing.empty()) return failure(run_.log() + missing);
    artifact->target = Target::kCpu;
    for (const std::string& entry : inputs_.entries) {
      artifact->entries.push_back({entry, entry, {}});
    }
    artifact->log = sources_.with_names(run_.log());
    artifact->compiler = label_;
    artifact->compile_ms = run_.elapsed_ms();
    std::vector<std::string> dependencies =
        dependencies_outside(scratch_.read(kDepfile), sources_.path(), scratch_.path());
    // A C file may include nothing at all. The store takes an empty list for one that it does not
    // know, so the list names what else the result hangs on.
    if (dependencies.empty()) dependencies.push_back(command_.front());
    return {.artifact = std::move(artifact), .dependencies = std::move(dependencies)};
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
    argv.insert(argv.end(), {"-MD", "-MF", std::string("../") + kDepfile});
    add_include_flags(argv, sources_, inputs_.include_folders);
    argv.insert(argv.end(), {"-x", is_c ? "c" : "c++", sources_.main(), "-x", "none"});
    // Behind the source, where a linker looks for what the source needs.
    argv.insert(argv.end(), inputs_.options.begin(), inputs_.options.end());
    argv.insert(argv.end(), {"-o", std::string("../") + kObject});
    return argv;
  }

  Outcome failure(const std::string& log) const {
    Outcome outcome;
    outcome.failure = compile_failure(inputs_, label_, sources_.with_names(log));
    return outcome;
  }

  const CompileInputs& inputs_;
  std::vector<std::string> command_;
  std::string label_;  // for people
  ScratchFolder scratch_;
  SourceFolder sources_;
  CompileRun run_;
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

  std::string identity() override { return "c++ " + host_compiler_version(command()); }

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
