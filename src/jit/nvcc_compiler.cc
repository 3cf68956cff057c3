// nvcc as a process, for sources that NVRTC rejects: those that need the standard library or the
// runtime's headers.

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "src/jit/compiler_flags.h"
#include "src/jit/file_job.h"
#include "src/jit/nvcc.h"
#include "src/jit/ptx_entries.h"

namespace einkorn::jit {
namespace {

constexpr double kTimeLimit = 1800;  // seconds

/// nvcc's own files of one compilation, beside the folder of sources where it starts.
constexpr const char* kPtx = "unit.ptx";
constexpr const char* kAssembled = "kernels.ptx";
constexpr const char* kCubin = "unit.cubin";
constexpr const char* kDepfile = "unit.d";

/// One compilation: source to PTX, names out of it, PTX to cubin.
class NvccJob : FileJob {
 public:
  NvccJob(const CompileInputs& inputs, std::string nvcc)
      : FileJob(inputs, "nvcc " + nvcc_version(nvcc), entry_table(inputs.entries),
                toolkit_real_folders(), kTimeLimit),
        nvcc_(std::move(nvcc)) {}

  Outcome compile() {
    std::vector<std::string> argv = command();
    for (const char* flag : {"-x", "cu", "-ptx", "-MD", "-MF"}) argv.emplace_back(flag);
    argv.push_back(beside(kDepfile));
    add_include_flags(argv, sources_, inputs_);
    argv.insert(argv.end(), {sources_.main(), "-o", beside(kPtx)});
    if (!run(argv)) return failure(run_.log());

    PtxEntries entries =
        take_entry_table(without_place(scratch_.read(kPtx), sources_.path()), inputs_.entries);
    if (entries.error) return failure(run_.log() + *entries.error);
    scratch_.write(kAssembled, entries.ptx);
    argv = command();
    argv.insert(argv.end(), {"-Xptxas=-v", "-cubin", beside(kAssembled), "-o", beside(kCubin)});
    if (!run(argv)) return failure(run_.log());
    return {.artifact = artifact(kCubin, entries.lowered), .dependencies = dependencies(kDepfile)};
  }

 private:
  /// What both steps have in common; the options of the request hold for each.
  std::vector<std::string> command() const {
    std::vector<std::string> argv = {nvcc_, "-arch=" + inputs_.arch};
    if (!names_standard(inputs_.options)) argv.emplace_back("-std=c++20");
    argv.insert(argv.end(), inputs_.options.begin(), inputs_.options.end());
    return argv;
  }

  std::string nvcc_;
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
