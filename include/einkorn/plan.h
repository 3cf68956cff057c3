#pragma once

// What runs for one problem: stages with everything decided but the pointers.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include <einkorn/cuda.h>
#include <einkorn/device.h>
#include <einkorn/jit.h>

namespace einkorn {

/// What a problem costs whatever computes it, and what a variant really does.
struct Work {
  double useful_flops = 0;
  double executed_flops = 0;  ///< padding and recomputation counted
  double min_bytes = 0;       ///< every input read once, every output written once
  double est_bytes = 0;       ///< with re-reads, partial results and workspace
  int launches = 1;
};

/// Largest block of kernel parameters that a stage may have, bytes.
inline constexpr std::size_t kMaxParamBytes = 512;

/// One kernel launch. The kernel takes one struct by value; `params` is that struct with all that
/// depends on the problem filled in, and `bind` writes what depends on the call: pointers, strides,
/// scalars.
struct LaunchStage {
  std::string name;
  std::string file;   ///< embedded source, e.g. "ops/norm/rms_norm/sm90/bulk_v1.cu"
  std::string entry;  ///< name expression of the kernel
  std::vector<std::string> options;
  cuda::Launch launch;
  std::vector<std::byte> params;
  void (*bind)(const void* args, std::byte* params) = nullptr;
};

/// One task on the CPU, done on return.
struct HostStage {
  std::string name;
  std::vector<std::byte> state;
  void (*run)(const void* args, const std::byte* state) = nullptr;
};

using Stage = std::variant<LaunchStage, HostStage>;

/// Stages in order, each after the one before. No stages: nothing to do, as for an empty tensor.
struct Plan {
  std::vector<Stage> stages;
  std::string tiling;  ///< printed parameters it was built from
};

/// A stage from typed pieces, so that a variant writes no casts.
template <class Args, class Params>
LaunchStage launch_stage(std::string name, std::string file, std::string entry,
                         const cuda::Launch& launch, const Params& params,
                         void (*bind)(const Args&, Params&)) {
  static_assert(std::is_trivially_copyable_v<Params> && sizeof(Params) <= kMaxParamBytes);
  LaunchStage stage{std::move(name), std::move(file), std::move(entry), {}, launch, {}, nullptr};
  // The typed function travels behind the parameters: a captureless thunk finds it there.
  using Bind = void (*)(const Args&, Params&);
  stage.params.resize(sizeof(Params) + sizeof(Bind));
  std::memcpy(stage.params.data(), &params, sizeof(Params));
  std::memcpy(stage.params.data() + sizeof(Params), static_cast<const void*>(&bind), sizeof(Bind));
  static_assert(sizeof(Params) + sizeof(Bind) <= kMaxParamBytes);
  stage.bind = [](const void* args, std::byte* bytes) {
    Bind typed;
    std::memcpy(static_cast<void*>(&typed), bytes + sizeof(Params), sizeof(Bind));
    typed(*static_cast<const Args*>(args), *reinterpret_cast<Params*>(bytes));
  };
  return stage;
}

template <class Args, class State>
HostStage host_stage(std::string name, const State& state, void (*run)(const Args&, const State&)) {
  static_assert(std::is_trivially_copyable_v<State>);
  using Run = void (*)(const Args&, const State&);
  HostStage stage{std::move(name), {}, nullptr};
  stage.state.resize(sizeof(State) + sizeof(Run));
  std::memcpy(stage.state.data(), &state, sizeof(State));
  std::memcpy(stage.state.data() + sizeof(State), static_cast<const void*>(&run), sizeof(Run));
  stage.run = [](const void* args, const std::byte* bytes) {
    Run typed;
    std::memcpy(static_cast<void*>(&typed), bytes + sizeof(State), sizeof(Run));
    typed(*static_cast<const Args*>(args), *reinterpret_cast<const State*>(bytes));
  };
  return stage;
}

/// A plan with its kernels compiled and loaded; immutable, so threads share it.
class Executable {
 public:
  /// Compiles and loads what the plan launches on `device` (a CPU plan needs nothing).
  Executable(Plan plan, const DeviceInfo& device);

  /// Runs all stages with these arguments. CUDA work is queued on `stream`.
  void run(const void* args, Stream stream) const;

  const Plan& plan() const { return plan_; }

 private:
  Plan plan_;
  std::vector<cuda::Kernel> kernels_;  // one for each LaunchStage, in order
};

/// The compile requests of a plan's launches for one architecture: what a pack or CI compiles when
/// no device is there.
std::vector<jit::Request> compile_requests(const Plan& plan, std::string_view arch);

}  // namespace einkorn
