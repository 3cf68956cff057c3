#include "src/jit/compile.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/jit/diagnostics.h"
#include "src/jit/log_file.h"

namespace einkorn::jit {
namespace {

std::atomic<std::uint64_t> compilations{0};

// Static shared memory that every architecture refuses to exceed, bytes.
constexpr std::int64_t kMaxStaticSmem = 48 * 1024;

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
  explicit HeaderSet(std::span<const EmbeddedSource> sources) {
    for (const EmbeddedSource& source : sources) {
      if (source.path.ends_with(".cu")) continue;
      paths.emplace_back(source.path);
      texts.push_back(source.text.data());  // a NUL follows each text: src/jit/embedded.h
    }
    names.reserve(paths.size());
    for (const std::string& path : paths) names.push_back(path.c_str());
  }
  std::vector<std::string> paths;
  std::vector<const char*> names;
  std::vector<const char*> texts;
};

class Program {
 public:
  Program(const Nvrtc& compiler, const CompileInputs& inputs) : compiler_(compiler) {
    const HeaderSet headers(inputs.headers);
    check_nvrtc(compiler,
                compiler.nvrtcCreateProgram(&program_, inputs.source.c_str(), inputs.file.c_str(),
                                            static_cast<int>(headers.names.size()),
                                            headers.texts.data(), headers.names.data()),
                "taking in " + inputs.file);
  }
  // Fails only for a handle that is not a program.
  ~Program() { compiler_.nvrtcDestroyProgram(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

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

/// Some failures leave no error in the log; the one that is known is told from what else it holds.
FirstError error_in(std::string_view log) {
  if (auto error = first_error(log)) return *std::move(error);
  for (const KernelResources& kernel : parse_resources(log)) {
    if (kernel.resources.static_smem <= kMaxStaticSmem) continue;
    return {"", 0,
            fmt::format("too much shared data: {} takes {} bytes, expected at most {}",
                        kernel.lowered, kernel.resources.static_smem, kMaxStaticSmem)};
  }
  return {"", 0, "the compiler gave no reason"};
}

std::string place_of(const FirstError& error, const CompileInputs& inputs) {
  if (error.file.empty() || error.file == kEntryFile) return inputs.file;
  if (error.file == kAssemblerFile) {
    return error.line > 0 ? fmt::format("{}: ptxas, line {} of the PTX", inputs.file, error.line)
                          : inputs.file + ": ptxas";
  }
  return error.line > 0 ? fmt::format("{}({})", error.file, error.line) : error.file;
}

Error failure_of(const CompileInputs& inputs, const std::string& log) {
  const FirstError error = error_in(log);
  std::string message = fmt::format("jit: {}: error: {}\n  entry: {}  arch: {}  compiler: {}",
                                    place_of(error, inputs), error.message,
                                    fmt::join(inputs.entries, ", "), inputs.arch, inputs.compiler);
  if (const std::string hint = hint_for(error, inputs.headers); !hint.empty()) {
    message += fmt::format("\n  hint: {}", hint);
  }
  const LogFile file = write_log(inputs.file, log);
  message += file.path.empty() ? fmt::format("\n  full log, which could not be written ({}):\n{}",
                                             file.reason, log)
                               : fmt::format("\n  full log: {}", file.path);
  return Error(ErrorKind::kRuntime, std::move(message));
}

const EmbeddedSource& find_embedded(const std::string& file) {
  const auto all = embedded_sources();
  const auto at = std::lower_bound(
      all.begin(), all.end(), file,
      [](const EmbeddedSource& source, const std::string& path) { return source.path < path; });
  if (at != all.end() && at->path == file) return *at;
  std::string known;
  const std::string folder = file.substr(0, file.rfind('/') + 1);
  for (const EmbeddedSource& source : all) {
    if (source.path.ends_with(".cu") && source.path.starts_with(folder)) {
      known += fmt::format("\n    {}", source.path);
    }
  }
  throw_error(ErrorKind::kValue,
              fmt::format("jit: file: expected an embedded source, got \"{}\"\n"
                          "  hint: {}{}",
                          file,
                          known.empty() ? "no kernel of that folder is part of this build"
                                        : "embedded in that folder are:",
                          known));
}

}  // namespace

CompileInputs resolve_inputs(const Request& request, const Nvrtc& compiler) {
  check_arch(compiler, request.arch);
  CompileInputs inputs;
  inputs.compiler = compiler.id();
  inputs.arch = request.arch;
  inputs.file = request.file.empty() ? "source.cu" : request.file;
  inputs.source =
      request.source.empty() ? std::string(find_embedded(request.file).text) : request.source;
  inputs.entries = request.entries;
  inputs.headers = embedded_sources();
  inputs.options = {"--gpu-architecture=" + request.arch, "--std=c++20", "--ptxas-options=-v"};
  // NVRTC's own disk cache, where it has one, could answer without the assembler's report.
  if (compiler.at_least(12, 9)) inputs.options.emplace_back("--no-cache");
  inputs.options.insert(inputs.options.end(), request.options.begin(), request.options.end());
  return inputs;
}

Outcome compile_now(const CompileInputs& inputs, const Nvrtc& compiler) {
  const auto start = std::chrono::steady_clock::now();
  compilations.fetch_add(1, std::memory_order_relaxed);
  Program program(compiler, inputs);
  for (const std::string& entry : inputs.entries) program.add_entry(entry);
  const nvrtcResult result = program.compile(inputs.options);
  // Other results are of the moment (memory, a broken installation), not of the source.
  if (result != NVRTC_SUCCESS && result != NVRTC_ERROR_COMPILATION &&
      result != NVRTC_ERROR_INVALID_OPTION) {
    check_nvrtc(compiler, result, "compiling " + inputs.file);
  }
  auto artifact = std::make_shared<Artifact>();
  artifact->log = program.log();
  if (result != NVRTC_SUCCESS) return {nullptr, failure_of(inputs, artifact->log)};

  artifact->cubin = program.cubin();
  artifact->compiler = inputs.compiler;
  const std::vector<KernelResources> reported = parse_resources(artifact->log);
  for (const std::string& expression : inputs.entries) {
    EntryPoint entry{expression, program.lowered(expression), {}};
    for (const KernelResources& kernel : reported) {
      if (kernel.lowered == entry.lowered) entry.resources = kernel.resources;
    }
    artifact->entries.push_back(std::move(entry));
  }
  artifact->compile_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return {std::move(artifact), std::nullopt};
}

std::uint64_t compile_count() { return compilations.load(std::memory_order_relaxed); }

}  // namespace einkorn::jit
