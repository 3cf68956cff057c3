// NVRTC in this process. Headers go in as texts, and it reads nothing from the disk: what it read
// there would be in no key.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/jit/compiler.h"
#include "src/jit/diagnostics.h"
#include "src/jit/elf_identity.h"
#include "src/jit/failure.h"
#include "src/jit/include_options.h"
#include "src/jit/nvrtc.h"
#include "src/jit/slow_notice.h"
#include "src/jit/time_limit.h"

namespace einkorn::jit {
namespace {

// More than any kernel of ours takes, on any machine.
constexpr std::chrono::seconds kSlow{60};

void check_nvrtc(const Nvrtc& compiler, nvrtcResult result, std::string_view what) {
  EK_CHECK(result == NVRTC_SUCCESS, ErrorKind::kRuntime,
           fmt::format("jit: {}: {} says {}{}", what, compiler.id(),
                       compiler.nvrtcGetErrorString(result),
                       result == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE
                           ? fmt::format("\n  hint: libnvrtc-builtins.so.{}.{} was not found: it "
                                         "belongs beside {}",
                                         compiler.major, compiler.minor, compiler.library.path())
                           : std::string()));
}

/// Names and texts of everything that an include may name, in the form NVRTC takes.
struct HeaderSet {
  explicit HeaderSet(const SourceSet& sources) {
    for (std::size_t i = 1; i < sources.files.size(); ++i) {
      names.push_back(sources.files[i].name.c_str());
      texts.push_back(sources.files[i].text.c_str());
    }
  }
  std::vector<const char*> names;
  std::vector<const char*> texts;
};

class NvrtcProgram {
 public:
  NvrtcProgram(const Nvrtc& compiler, const CompileInputs& inputs) : compiler_(compiler) {
    const HeaderSet headers(inputs.sources);
    check_nvrtc(compiler,
                compiler.nvrtcCreateProgram(&program_, inputs.main().text.c_str(),
                                            inputs.main().name.c_str(),
                                            static_cast<int>(headers.names.size()),
                                            headers.texts.data(), headers.names.data()),
                "taking in " + inputs.main().name);
  }
  // Fails only for a handle that is not a program.
  ~NvrtcProgram() { compiler_.nvrtcDestroyProgram(&program_); }
  NvrtcProgram(const NvrtcProgram&) = delete;
  NvrtcProgram& operator=(const NvrtcProgram&) = delete;

  void add_entry(const std::string& entry) {
    check_nvrtc(compiler_, compiler_.nvrtcAddNameExpression(program_, entry.c_str()),
                "asking for " + entry);
  }

  nvrtcResult compile(const std::vector<std::string>& options) {
    std::vector<const char*> texts;
    texts.reserve(options.size());
    for (const std::string& option : options) texts.push_back(option.c_str());
    return compiler_.nvrtcCompileProgram(program_, static_cast<int>(texts.size()), texts.data());
  }

  std::string log() const {
    std::size_t size = 0;
    check_nvrtc(compiler_, compiler_.nvrtcGetProgramLogSize(program_, &size), "reading the log");
    std::string text(size, '\0');
    check_nvrtc(compiler_, compiler_.nvrtcGetProgramLog(program_, text.data()), "reading the log");
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  }

  std::string lowered(const std::string& entry) const {
    const char* name = nullptr;
    check_nvrtc(compiler_, compiler_.nvrtcGetLoweredName(program_, entry.c_str(), &name),
                "looking up " + entry);
    return name;
  }

  std::vector<std::byte> cubin() const {
    std::size_t size = 0;
    check_nvrtc(compiler_, compiler_.nvrtcGetCUBINSize(program_, &size), "reading the cubin");
    std::vector<std::byte> bytes(size);
    check_nvrtc(compiler_, compiler_.nvrtcGetCUBIN(program_, reinterpret_cast<char*>(bytes.data())),
                "reading the cubin");
    return bytes;
  }

 private:
  const Nvrtc& compiler_;
  nvrtcProgram program_ = nullptr;
};

/// Errors that come of what NVRTC lacks beside nvcc: the standard library and the runtime's
/// functions. Of any other, nvcc would only say the same a second later.
bool only_nvrtc_rejects(const FirstError& error) {
  const std::string_view text = error.message;
  const auto says = [&](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  };
  return says("open source file") || (says("identifier \"cuda") && says("is undefined")) ||
         says("namespace \"std\" has no member") || says("without execution space annotations");
}

/// What NVRTC declares before the source: all that it can, or without textures, launches from
/// device code and the runtime's device functions, which takes 4 ms less of the 25 that an empty
/// source takes. A source that needs any of those does not compile then; one that compiles means
/// the same.
enum class Prelude { kMinimal, kWhole };

std::vector<std::string> full_options(const CompileInputs& inputs, const Nvrtc& compiler,
                                      Prelude prelude) {
  std::vector<std::string> out = {"--gpu-architecture=" + inputs.arch, "--std=c++20",
                                  "--ptxas-options=-v",
                                  // Or it looks beside the source and in the working folder for
                                  // what is not among the texts: the file that a macro names.
                                  "--no-source-include"};
  // NVRTC's own disk cache, where it has one, could answer without the assembler's report.
  if (compiler.at_least(12, 9)) out.emplace_back("--no-cache");
  if (prelude == Prelude::kMinimal) out.emplace_back("--minimal");
  out.insert(out.end(), inputs.options.begin(), inputs.options.end());
  return out;
}

std::shared_ptr<Artifact> artifact_of(const CompileInputs& inputs, const NvrtcProgram& program,
                                      const Nvrtc& compiler) {
  auto artifact = std::make_shared<Artifact>();
  artifact->log = program.log();
  artifact->image = program.cubin();
  artifact->compiler = compiler.id();
  std::vector<std::string> lowered;
  lowered.reserve(inputs.entries.size());
  for (const std::string& expression : inputs.entries) {
    lowered.push_back(program.lowered(expression));
  }
  artifact->entries = entry_points(inputs.entries, lowered, artifact->log);
  return artifact;
}

/// One attempt; its program holds the log or the cubin.
nvrtcResult attempt(const CompileInputs& inputs, const Nvrtc& compiler, Prelude prelude,
                    std::unique_ptr<NvrtcProgram>& program) {
  program = std::make_unique<NvrtcProgram>(compiler, inputs);
  for (const std::string& entry : inputs.entries) program->add_entry(entry);
  return program->compile(full_options(inputs, compiler, prelude));
}

Outcome compile_now(const CompileInputs& inputs, const Nvrtc& compiler) {
  const auto start = std::chrono::steady_clock::now();
  check_arch(compiler, inputs.arch);
  count_compilation();
  std::unique_ptr<NvrtcProgram> program;
  nvrtcResult result = NVRTC_ERROR_COMPILATION;
  if (compiler.at_least(12, 4)) result = attempt(inputs, compiler, Prelude::kMinimal, program);
  // Errors are told as the whole prelude gives them: they must not be of what we left out.
  if (result == NVRTC_ERROR_COMPILATION) {
    result = attempt(inputs, compiler, Prelude::kWhole, program);
  }
  // Other results are of the moment (memory, a broken installation), not of the source.
  if (result != NVRTC_SUCCESS && result != NVRTC_ERROR_COMPILATION &&
      result != NVRTC_ERROR_INVALID_OPTION) {
    check_nvrtc(compiler, result, "compiling " + inputs.main().name);
  }
  if (result != NVRTC_SUCCESS) {
    const std::string log = program->log();
    const auto error = first_error(log);
    Outcome outcome;
    outcome.failure = compile_failure(inputs, compiler.id(), log);
    outcome.other_compiler_may = error && only_nvrtc_rejects(*error);
    return outcome;
  }
  std::shared_ptr<Artifact> artifact = artifact_of(inputs, *program, compiler);
  artifact->compile_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return {.artifact = std::move(artifact)};
}

/// Looked for until it is found: it may be installed while we run.
class NvrtcFile {
 public:
  std::optional<std::string> find() {
    const std::lock_guard lock(mutex_);
    if (!path_) {
      const cuda::LibrarySpec& spec = cuda::nvrtc_spec();
      path_ = cuda::locate(spec, cuda::SearchRoots::of_process(spec));
    }
    return path_;
  }
  void set(const std::string& path) {
    const std::lock_guard lock(mutex_);
    path_ = path;
  }

 private:
  std::mutex mutex_;
  std::optional<std::string> path_;
};

NvrtcFile& nvrtc_file() {
  static NvrtcFile& instance = *new NvrtcFile;  // threads may outlive main
  return instance;
}

class NvrtcCompiler : public Compiler {
 public:
  std::string_view name() const override { return "nvrtc"; }
  bool serialises() const override { return true; }

  std::optional<std::string> refusal(const CompileInputs& inputs) override {
    if (time_limit_of(inputs, 0) > 0) {
      return fmt::format("a compilation within this process cannot be ended, and {} is set",
                         inputs.time_limit > 0 ? "time_limit" : "EINKORN_JIT_TIMEOUT");
    }
    return nvrtc_refusal(inputs);
  }

  std::string identity() override {
    const std::optional<std::string> path = nvrtc_file().find();
    const std::optional<std::string> build = path ? library_identity(*path) : std::nullopt;
    return fmt::format("nvrtc {}", build.value_or("unknown"));
  }

  Outcome compile(const CompileInputs& inputs) override {
    const SlowNotice notice(
        fmt::format("jit: {}: compiling for {} s now, and nothing can end it in this process\n"
                    "  hint: with EINKORN_JIT_TIMEOUT=<seconds>, or a time_limit, a worker "
                    "compiles and is ended",
                    shown_name(inputs), kSlow.count()),
        kSlow);
    return nvrtc_compile(inputs);
  }
};

}  // namespace

Outcome nvrtc_compile(const CompileInputs& inputs) {
  const Nvrtc& compiler = nvrtc();
  nvrtc_file().set(compiler.library.path());  // what was mapped, whatever the search had found
  return compile_now(inputs, compiler);
}

std::optional<std::string> nvrtc_refusal(const CompileInputs& inputs) {
  if (inputs.target != Target::kCuda) return "it compiles CUDA to cubins, nothing else";
  if (const std::string option = option_that_reads(inputs.options); !option.empty()) {
    return fmt::format(
        "option {}: it names a file that would be in no key\n    hint: include it from the source",
        option);
  }
  if (nvrtc_file().find()) return std::nullopt;
  const cuda::LibrarySpec& spec = cuda::nvrtc_spec();
  const auto attempt = cuda::try_open(spec, cuda::SearchRoots::of_process(spec));
  return fmt::format("NVRTC was not found; tried:\n      {}\n    hint: {}",
                     fmt::join(attempt.tried, "\n      "), spec.hint);
}

Compiler& nvrtc_compiler() {
  static NvrtcCompiler& instance = *new NvrtcCompiler;  // threads may outlive main
  return instance;
}

}  // namespace einkorn::jit
