// nvcc as a process, for sources that NVRTC rejects: those that need the standard library or the
// runtime's headers.

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "src/jit/compile_run.h"
#include "src/jit/compiler.h"
#include "src/jit/compiler_flags.h"
#include "src/jit/depfile.h"
#include "src/jit/diagnostics.h"
#include "src/jit/failure.h"
#include "src/jit/nvcc.h"
#include "src/jit/ptx_entries.h"
#include "src/jit/source_folder.h"
#include "src/jit/time_limit.h"

namespace einkorn::jit {
namespace {

constexpr double kTimeLimit = 1800;  // seconds

/// nvcc's own files of one compilation, beside the folder of sources where it starts.
constexpr const char* kPtx = "unit.ptx";
constexpr const char* kAssembled = "kernels.ptx";
constexpr const char* kCubin = "unit.cubin";
constexpr const char* kDepfile = "unit.d";

std::string beside(std::string_view name) { return fmt::format("../{}", name); }

/// One compilation: source to PTX, names out of it, PTX to cubin.
class NvccJob {
 public:
  NvccJob(const CompileInputs& inputs, std::string nvcc)
      : inputs_(inputs),
        nvcc_(std::move(nvcc)),
        label_("nvcc " + nvcc_version(nvcc_)),
        sources_(scratch_, inputs.sources, entry_table(inputs.entries), toolkit_real_folders()),
        run_(inputs, label_, time_limit_of(inputs, kTimeLimit)) {}

  Outcome compile() {
    std::vector<std::string> argv = command();
    for (const char* flag : {"-x", "cu", "-ptx", "-MD", "-MF"}) argv.emplace_back(flag);
    argv.push_back(beside(kDepfile));
    add_include_flags(argv, sources_, inputs_.include_folders);
    argv.insert(argv.end(), {sources_.main(), "-o", beside(kPtx)});
    if (!run(argv)) return failure(run_.log());

    PtxEntries entries =
        take_entry_table(without_place(scratch_.read(kPtx), sources_.path()), inputs_.entries);
    if (entries.error) return failure(run_.log() + *entries.error);
    scratch_.write(kAssembled, entries.ptx);
    argv = command();
    argv.insert(argv.end(), {"-Xptxas=-v", "-cubin", beside(kAssembled), "-o", beside(kCubin)});
    if (!run(argv)) return failure(run_.log());
    return {.artifact = artifact(entries.lowered),
            .dependencies =
                dependencies_outside(scratch_.read(kDepfile), sources_.path(), scratch_.path())};
  }

 private:
  /// What both steps have in common; the options of the request hold for each.
  std::vector<std::string> command() const {
    std::vector<std::string> argv = {nvcc_, "-arch=" + inputs_.arch};
    if (!names_standard(inputs_.options)) argv.emplace_back("-std=c++20");
    argv.insert(argv.end(), inputs_.options.begin(), inputs_.options.end());
    return argv;
  }

  bool run(const std::vector<std::string>& argv) {
    // nvcc's own temporary files go with ours when it is killed.
    return run_.run(argv, sources_.path(), {"TMPDIR=.."});
  }

  Outcome failure(const std::string& log) const {
    Outcome outcome;
    outcome.failure = compile_failure(inputs_, label_, sources_.with_names(log));
    return outcome;
  }

  std::shared_ptr<const Artifact> artifact(const std::vector<std::string>& lowered) const {
    auto out = std::make_shared<Artifact>();
    out->target = Target::kCuda;
    out->image = scratch_.read_bytes(kCubin);
    out->log = sources_.with_names(run_.log());
    out->compiler = label_;
    const std::vector<KernelResources> reported = parse_resources(out->log);
    for (std::size_t i = 0; i < lowered.size(); ++i) {
      EntryPoint entry{inputs_.entries[i], lowered[i], {}};
      for (const KernelResources& kernel : reported) {
        if (kernel.lowered == entry.lowered) entry.resources = kernel.resources;
      }
      out->entries.push_back(std::move(entry));
    }
    out->compile_ms = run_.elapsed_ms();
    return out;
  }

  const CompileInputs& inputs_;
  std::string nvcc_;
  std::string label_;  // for people
  ScratchFolder scratch_;
  SourceFolder sources_;
  CompileRun run_;
};

class NvccCompiler : public Compiler {
 public:
  std::string_view name() const override { return "nvcc"; }

  std::optional<std::string> refusal(const CompileInputs& inputs) override {
    if (inputs.target != Target::kCuda) return "here it compiles CUDA to cubins, nothing else";
    return nvcc_refusal(inputs);
  }

  std::string identity() override { return nvcc_identity(nvcc_path()); }

  Outcome compile(const CompileInputs& inputs) override {
    return NvccJob(inputs, nvcc_path()).compile();
  }

  bool reads_disk() const override { return true; }
};

}  // namespace

Compiler& nvcc_compiler() {
  static NvccCompiler& instance = *new NvccCompiler;  // threads may outlive main
  return instance;
}

}  // namespace einkorn::jit
