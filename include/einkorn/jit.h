#pragma once

// From a source file to a running kernel: looked up in memory, in packs, in the store on disk, and
// compiled when none has it. docs/guide/jit.md shows each way to use it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <einkorn/argument.h>
#include <einkorn/cuda.h>

namespace einkorn::jit {

enum class Target {
  kCuda,  ///< CUDA C++ to a cubin
  kCpu,   ///< C or C++ with C entry points to a shared object
  kFfi,   ///< CUDA C++ whose host code exports tvm-ffi functions to a shared object
};
std::string_view to_string(Target target);

/// Name expressions, from one text or several: `.instantiate = "add<int, 4>"`.
class Expressions {
 public:
  using value_type = std::string;
  using const_iterator = std::vector<std::string>::const_iterator;

  Expressions() = default;
  Expressions(const char* one) : list_{one} {}             // NOLINT: converts
  Expressions(std::string one) : list_{std::move(one)} {}  // NOLINT: converts
  Expressions(std::initializer_list<std::string> several) : list_(several) {}
  Expressions(std::vector<std::string> several) : list_(std::move(several)) {}  // NOLINT: converts

  operator const std::vector<std::string>&() const { return list_; }  // NOLINT: converts
  bool empty() const { return list_.empty(); }
  std::size_t size() const { return list_.size(); }
  const_iterator begin() const { return list_.begin(); }
  const_iterator end() const { return list_.end(); }
  bool operator==(const Expressions&) const = default;

 private:
  std::vector<std::string> list_;
};

/// One translation unit to compile for one architecture.
struct Request {
  std::string file = {};         ///< a path, or the name of an embedded source; shown in messages
  std::string source = {};       ///< the text itself; empty: that of `file`
  Expressions instantiate = {};  ///< kernels wanted, e.g. "k<float, 4>"; none for the CPU
  std::string arch = {};  ///< "sm_80", "sm_90a", "sm_100a"; empty: that of device 0, or this CPU
  std::vector<std::string> options = {};       ///< further compiler options, in order
  std::vector<std::string> include_dirs = {};  ///< searched before einkorn's own device headers
  Target target = Target::kCuda;
  std::string compiler =
      {};                 ///< "nvrtc", "nvrtc-worker", "nvcc", "c++"; empty: the first that serves
  double time_limit = 0;  ///< seconds; needs a compiler in a process of its own; 0: the default

  bool operator==(const Request&) const = default;
};

/// What one kernel takes of a multiprocessor, as the assembler reported it.
struct Resources {
  int registers = 0;              ///< per thread
  std::int64_t static_smem = 0;   ///< bytes per block
  std::int64_t stack_bytes = 0;   ///< local memory frame per thread
  std::int64_t spill_stores = 0;  ///< bytes per thread
  std::int64_t spill_loads = 0;   ///< bytes per thread
};

struct EntryPoint {
  std::string expression;  ///< as asked for
  std::string lowered;     ///< mangled name in the cubin
  Resources resources;
};

struct Artifact {
  Target target = Target::kCuda;
  std::vector<std::byte> image;  ///< a cubin, or a shared object
  std::vector<EntryPoint> entries;
  std::string log;       ///< the compiler's whole output, warnings included
  std::string compiler;  ///< "nvrtc 13.0"
  double compile_ms = 0;
  std::string key;  ///< in the store: 64 hexadecimal digits
};

/// How a request was answered: each place asked, in order, with what it said.
struct Trace {
  struct Step {
    std::string place;    ///< "memory", "pack <dir>", "store", "nvrtc", "nvcc", ...
    std::string outcome;  ///< "hit", "miss", "skipped: <reason>", "compiled", "failed: <reason>"
    double ms = 0;
  };
  std::vector<Step> steps;
};

struct KernelFacts;

/// A kernel that takes C++ values: tensors for pointers, numbers for numbers, each checked against
/// the kernel's own parameters before anything is launched. Copies share the module.
///
///     kernel.launch({.grid = {n / 256}, .block = {256}}, stream, dst, src, n);
class Kernel {
 public:
  Kernel() = default;
  Kernel(cuda::Kernel raw, std::shared_ptr<const KernelFacts> facts)
      : raw_(std::move(raw)), facts_(std::move(facts)) {}

  /// Queues one launch. Errors of the arguments as in argument.h: TypeError for their number, kind,
  /// size and dtype, ValueError for a value that the parameter cannot hold or a tensor on another
  /// device; of the launch as cuda::Kernel::launch. Nothing is launched then.
  template <class... Arguments>
  void launch(const cuda::Launch& launch, Stream stream, const Arguments&... arguments) const {
    const std::array<Argument, sizeof...(Arguments)> list{Argument(arguments)...};
    launch_with(launch, stream, list);
  }
  void launch_with(const cuda::Launch& launch, Stream stream,
                   std::span<const Argument> arguments) const;

  /// Before a capture: see cuda::Kernel::prepare.
  void prepare(const cuda::Launch& launch, int device) const { raw_.prepare(launch, device); }

  const std::string& name() const { return raw_.name(); }
  /// The kernel as the driver takes it, without checks of arguments.
  const cuda::Kernel& raw() const { return raw_; }
  explicit operator bool() const { return static_cast<bool>(raw_); }

 private:
  cuda::Kernel raw_;
  std::shared_ptr<const KernelFacts> facts_;
};

/// A compiled source; copies share it.
class Program {
 public:
  Program() = default;
  Program(std::shared_ptr<const Artifact> artifact, std::string name, std::string arch = {})
      : artifact_(std::move(artifact)), name_(std::move(name)), arch_(std::move(arch)) {}

  const Artifact& artifact() const { return *artifact_; }
  const Artifact* operator->() const { return artifact_.get(); }
  const std::string& name() const { return name_; }

  /// The kernel of that expression, or the only one; loaded on first use, kept for the process.
  /// ValueError: unknown expression (lists those there are), several and none named, a CPU program.
  Kernel kernel(std::string_view expression = {}) const;

  /// A C function of a CPU program: `function<void(const float*, float*, long)>("scale")`. Good
  /// for the life of the process. ValueError: no such symbol, a CUDA program.
  /// RuntimeError: it was compiled for instructions that this CPU lacks.
  template <class Signature>
  std::add_pointer_t<Signature> function(const char* symbol) const {
    return reinterpret_cast<std::add_pointer_t<Signature>>(find_symbol(symbol));
  }

 private:
  void* find_symbol(const char* symbol) const;

  std::shared_ptr<const Artifact> artifact_;
  std::string name_;
  std::string arch_;
};

/// Compiles, or answers from memory, a pack or the store; concurrent calls for one request compile
/// once, and a source that failed fails again without compiling. A file is read once in a process;
/// forget() reads it again.
///
/// RuntimeError: no compiler that serves (with every place searched), a source that does not
/// compile (first error with file and line, hint, path of the full log), compiling switched off.
/// ValueError: an arch that the compiler does not know (lists those it does), an unknown file.
Program compile(const Request& request, Trace* trace = nullptr);

/// Compiles and loads one kernel; kept for the process, so later calls cost a look-up.
cuda::Kernel load(const Request& request);

/// Answers kept in memory are dropped, so that edited files are read again; kernels stay loaded
/// for those who hold them.
void forget();

/// The architecture that code for this compute capability is compiled for when it uses the
/// architecture's own instructions: 90 gives "sm_90a", 80 "sm_80".
std::string native_arch(int cc);

/// Number of compilations that this process ran or had run, for tests and `doctor`.
std::uint64_t compile_count();

}  // namespace einkorn::jit
