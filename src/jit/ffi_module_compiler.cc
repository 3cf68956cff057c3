// nvcc with its host half, for sources whose host code launches the kernels and is called through
// tvm-ffi: TVM_FFI_DLL_EXPORT_TYPED_FUNC in a .cu file.

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/jit/compiler_flags.h"
#include "src/jit/elf_exports.h"
#include "src/jit/elf_identity.h"
#include "src/jit/ffi_module.h"
#include "src/jit/file_job.h"
#include "src/jit/nvcc.h"
#include "src/jit/tvm_ffi.h"

namespace einkorn::jit {
namespace {

namespace fs = std::filesystem;

constexpr double kTimeLimit = 1800;  // seconds

constexpr const char* kObject = "unit.so";
constexpr const char* kDepfile = "unit.d";

/// The wheel: library and headers.
struct FfiWheel {
  std::string library;
  std::string folder;                 // of the library
  std::vector<std::string> includes;  // of tvm-ffi and of the DLPack that comes with it
};

/// Nothing, or in `reason` what is missing.
std::optional<FfiWheel> find_wheel(std::string& reason) {
  const cuda::LibrarySpec& spec = tvm_ffi_spec();
  const cuda::SearchRoots roots = cuda::SearchRoots::of_process(spec);
  const auto file = cuda::locate(spec, roots);
  std::error_code error;
  const fs::path real = file ? fs::canonical(*file, error) : fs::path();
  if (!file || error) {
    reason = fmt::format("libtvm_ffi.so was not found\n    hint: {}, or set {} to its full path",
                         spec.hint, spec.variable);
    return std::nullopt;
  }
  const fs::path root = real.parent_path().parent_path();  // <root>/lib/libtvm_ffi.so
  FfiWheel wheel{real.string(), real.parent_path().string(), {}};
  for (const fs::path& include : {root / "include", root / "3rdparty" / "dlpack" / "include"}) {
    if (fs::is_directory(include, error)) wheel.includes.push_back(include.string());
  }
  if (wheel.includes.empty() ||
      !fs::exists(fs::path(wheel.includes.front()) / "tvm" / "ffi" / "function.h", error)) {
    reason = fmt::format("{} has no headers beside it, in {}\n    hint: {}", wheel.library,
                         (root / "include").string(), spec.hint);
    return std::nullopt;
  }
  return wheel;
}

FfiWheel wheel_or_throw() {
  std::string reason;
  std::optional<FfiWheel> wheel = find_wheel(reason);
  EK_CHECK(wheel.has_value(), ErrorKind::kRuntime, "jit: tvm-ffi: " + reason);
  return *std::move(wheel);
}

/// Names of the request that the object does not export, in the form of a compiler's message.
std::string missing_entries(const CompileInputs& inputs, std::span<const std::byte> object) {
  const std::vector<std::string> exported = ffi_functions(exported_symbols(object));
  for (const std::string& entry : inputs.entries) {
    if (std::ranges::find(exported, entry) != exported.end()) continue;
    return fmt::format("nvcc: error: no tvm-ffi function \"{}\"; exported are: {}", entry,
                       exported.empty() ? "none (TVM_FFI_DLL_EXPORT_TYPED_FUNC exports one)"
                                        : fmt::format("{}", fmt::join(exported, ", ")));
  }
  return {};
}

class FfiJob : FileJob {
 public:
  FfiJob(const CompileInputs& inputs, std::string nvcc)
      : FileJob(inputs, fmt::format("nvcc {} for tvm-ffi", nvcc_version(nvcc)), {},
                toolkit_real_folders(), kTimeLimit),
        nvcc_(std::move(nvcc)) {}

  Outcome compile() {
    if (!run(arguments())) return failure(run_.log());
    std::vector<std::string> lowered;
    lowered.reserve(inputs_.entries.size());
    for (const std::string& entry : inputs_.entries) lowered.push_back(kFfiPrefix + entry);
    const auto object = artifact(kObject, lowered);
    const std::string missing = missing_entries(inputs_, object->image);
    if (!missing.empty()) return failure(run_.log() + missing);
    return {.artifact = object, .dependencies = dependencies(kDepfile)};
  }

 private:
  std::vector<std::string> arguments() {
    const FfiWheel wheel = wheel_or_throw();
    std::vector<std::string> argv = {nvcc_, "-shared", "-arch=" + inputs_.arch};
    if (!names_standard(inputs_.options)) argv.emplace_back("-std=c++20");
    argv.insert(argv.end(),
                {"-O3", "-Xcompiler", "-fPIC", "-Xptxas=-v", "-MD", "-MF", beside(kDepfile)});
    add_include_flags(argv, sources_, inputs_);
    for (const std::string& folder : wheel.includes) {
      argv.push_back("-I" + sources_.include_folder(folder));
    }
    argv.insert(argv.end(), {"-x", "cu", sources_.main()});
    argv.insert(argv.end(), inputs_.options.begin(), inputs_.options.end());
    // Named in the object by its soname, without a path: whoever loads it brings the library.
    argv.insert(argv.end(),
                {"-L" + sources_.include_folder(wheel.folder), "-ltvm_ffi", "-o", beside(kObject)});
    return argv;
  }

  std::string nvcc_;
};

class FfiModuleCompiler : public Compiler {
 public:
  std::string_view name() const override { return "nvcc-ffi"; }
  Target target() const override { return Target::kFfi; }

  std::optional<std::string> refusal(const CompileInputs& inputs) override {
    if (inputs.target != Target::kFfi) return "it compiles modules of tvm-ffi functions only";
    if (auto reason = nvcc_refusal(inputs)) return reason;
    std::string reason;
    if (find_wheel(reason)) return std::nullopt;
    return reason;
  }

  std::string identity() override {
    return fmt::format("{}, tvm-ffi {}", nvcc_identity(nvcc_path()),
                       library_identity(wheel_or_throw().library).value_or("unknown"));
  }

  Outcome compile(const CompileInputs& inputs) override {
    return FfiJob(inputs, nvcc_path()).compile();
  }

  bool reads_disk() const override { return true; }
};

}  // namespace

Compiler& ffi_module_compiler() {
  static FfiModuleCompiler& instance = *new FfiModuleCompiler;  // threads may outlive main
  return instance;
}

}  // namespace einkorn::jit
