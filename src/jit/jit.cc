// The public functions. The hot path is a look-up of the request as it was written; everything
// behind it is Service's.

#include <einkorn/jit.h>

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/cuda/driver.h"
#include "src/jit/cpu_arch.h"
#include "src/jit/entry_names.h"
#include "src/jit/kernel_facts.h"
#include "src/jit/loaded_object.h"
#include "src/jit/program_answer.h"
#include "src/jit/service.h"

namespace einkorn::jit {
namespace {

std::atomic<std::uint64_t> compilations{0};

void mix(std::size_t& seed, std::string_view text) {
  // Golden-ratio constant of Boost's hash_combine, for 64 bits.
  seed ^= std::hash<std::string_view>()(text) + 0x9e3779b97f4a7c15U + (seed << 6) + (seed >> 2);
}

/// Of a source only both ends: equality decides, and this has to cost less than it.
struct RequestHash {
  std::size_t operator()(const Request& request) const {
    constexpr std::size_t kEnd = 64;
    const std::string_view source = request.source;
    std::size_t seed = source.size();
    mix(seed, request.file);
    mix(seed, source.substr(0, kEnd));
    mix(seed, source.substr(source.size() - std::min(source.size(), kEnd)));
    for (const std::string& entry : request.instantiate) mix(seed, entry);
    mix(seed, request.arch);
    for (const std::string& option : request.options) mix(seed, option);
    return seed;
  }
};

/// What a request came to, and its kernel once somebody loaded it.
struct Answer {
  Program program;
  cuda::Kernel kernel;
};

/// Answers of this process, by the request as it was written.
class Memo {
 public:
  /// Empty when there is none.
  std::shared_ptr<const Answer> find(const Request& request) {
    const std::shared_lock lock(mutex_);
    const auto found = answers_.find(request);
    return found == answers_.end() ? nullptr : found->second;
  }
  void keep(const Request& request, std::shared_ptr<const Answer> answer) {
    const std::unique_lock lock(mutex_);
    answers_[request] = std::move(answer);
  }
  void clear() {
    const std::unique_lock lock(mutex_);
    answers_.clear();
  }

 private:
  std::shared_mutex mutex_;
  std::unordered_map<Request, std::shared_ptr<const Answer>, RequestHash> answers_;
};

Memo& memo() {
  static Memo& instance = *new Memo;  // threads may outlive main
  return instance;
}

/// Modules by key of their artifact: equal artifacts are loaded once.
struct Modules {
  std::mutex mutex;
  std::map<std::string, cuda::Module> modules;
};

cuda::Module module_of(const Artifact& artifact, const std::string& name) {
  static Modules& all = *new Modules;  // never unloads behind the driver's back
  const std::lock_guard lock(all.mutex);
  if (const auto found = all.modules.find(artifact.key); found != all.modules.end()) {
    return found->second;
  }
  return all.modules.emplace(artifact.key, cuda::Module::load(artifact.image, name)).first->second;
}

cuda::Kernel raw_kernel(const Program& program, const EntryPoint& entry) {
  return module_of(program.artifact(), program.name()).kernel(entry.lowered, entry.expression);
}

void check_program(const Artifact* artifact, Target wanted, const std::string& name,
                   std::string_view hint) {
  EK_CHECK(artifact != nullptr, ErrorKind::kValue,
           "jit: program: expected a compiled one, got an empty one");
  EK_CHECK(artifact->target == wanted, ErrorKind::kValue,
           fmt::format("jit: program {}: expected target {}, got {}\n  hint: {}", name,
                       to_string(wanted), to_string(artifact->target), hint));
}

const EntryPoint& entry_of(const Artifact& artifact, std::string_view expression) {
  const std::vector<EntryPoint>& entries = artifact.entries;
  if (expression.empty() && entries.size() == 1) return entries.front();
  const std::string normal = normal_entry(expression);
  for (const EntryPoint& entry : entries) {
    if (entry.expression == expression || entry.expression == normal) return entry;
  }
  std::vector<std::string_view> known;
  known.reserve(entries.size());
  for (const EntryPoint& entry : entries) known.push_back(entry.expression);
  throw_error(ErrorKind::kValue,
              fmt::format("jit: kernel: expected one of the expressions that were compiled, got "
                          "\"{}\"\n  compiled: {}",
                          expression, fmt::join(known, ", ")));
}

}  // namespace

std::string_view to_string(Target target) {
  switch (target) {
    case Target::kCuda:
      return "cuda";
    case Target::kCpu:
      return "cpu";
    case Target::kFfi:
      return "ffi";
  }
  return "unknown";
}

std::vector<Compiler*> compilers() {
  return {&nvrtc_compiler(), &nvrtc_worker_compiler(), &nvcc_compiler(), &host_compiler(),
          &ffi_module_compiler()};
}

void count_compilation() { compilations.fetch_add(1, std::memory_order_relaxed); }
std::uint64_t compile_count() { return compilations.load(std::memory_order_relaxed); }

std::optional<Program> compiled_before(const Request& request) {
  const auto known = memo().find(request);
  return known ? std::optional(known->program) : std::nullopt;
}

Program compile_now(const Request& request, Beside beside, Trace* trace) {
  const CompileInputs inputs = resolve_inputs(request);
  Program program(service().answer(inputs, request.compiler, trace, beside), inputs.main().name,
                  inputs.arch);
  memo().keep(request, std::make_shared<Answer>(Answer{program, {}}));
  return program;
}

Program compile(const Request& request, Trace* trace) {
  // With a trace the places are asked again, so that it tells of them.
  if (trace == nullptr) {
    if (const auto known = memo().find(request)) return known->program;
  }
  return compile_now(request, Beside::kNothing, trace);
}

Kernel Program::kernel(std::string_view expression) const {
  check_program(
      artifact_.get(), Target::kCuda, name_,
      "kernel() takes CUDA code; function<...>(\"name\") gives C functions of a CPU program");
  const EntryPoint& entry = entry_of(*artifact_, expression);
  return {raw_kernel(*this, entry), kernel_facts(*artifact_, entry.lowered)};
}

void* Program::find_symbol(const char* symbol) const {
  check_program(artifact_.get(), Target::kCpu, name_,
                "function() takes code for the CPU; kernel() gives kernels of a CUDA program");
  if (const auto reason = cannot_run(arch_)) {
    throw_error(ErrorKind::kRuntime, fmt::format("jit: program {}: {}", name_, *reason));
  }
  return LoadedObject::load(artifact_->key, artifact_->image, name_).symbol(symbol);
}

cuda::Kernel load(const Request& request) {
  if (const auto known = memo().find(request); known != nullptr && known->kernel) {
    return known->kernel;
  }
  EK_CHECK(request.instantiate.size() == 1, ErrorKind::kValue,
           fmt::format("jit: instantiate of {}: expected 1 to load, got {}", request.file,
                       request.instantiate.size()));
  cuda::driver();  // without one there is no use in compiling
  const Program program = compile(request);
  const cuda::Kernel kernel = raw_kernel(program, program->entries.front());
  memo().keep(request, std::make_shared<Answer>(Answer{program, kernel}));
  return kernel;
}

void forget() {
  memo().clear();
  service().forget();
}

std::string native_arch(int cc) {
  EK_CHECK(cc >= 80, ErrorKind::kValue,
           fmt::format("jit: compute capability: expected 80 or more (Ampere), got {}", cc));
  // From 9.0 on the fastest instructions (wgmma, tcgen05) exist only in the suffixed target.
  return fmt::format("sm_{}{}", cc, cc >= 90 ? "a" : "");
}

}  // namespace einkorn::jit
