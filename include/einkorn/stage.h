#pragma once

// The nodes of a plan: launches and CPU tasks, and what puts them in order, side by side, or into
// another op's plan. Everything is decided but the pointers.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <einkorn/cuda.h>
#include <einkorn/device.h>

namespace einkorn {

/// Why something cannot be had here: a variant for a problem, a tiling, stages side by side. A
/// value, not an exception: losing is normal.
struct Refusal {
  std::string reason;  ///< "page size 16 < 64": what was met, then what is needed
};

/// What does a stage's arithmetic; each has a peak of its own (peaks.h).
enum class Unit : std::uint8_t { kF32, kF64, kTensorTf32, kTensor16, kTensorFp8, kTensorInt8 };

/// What one stage really does: padding, recomputation, re-reads and partial results counted.
struct Cost {
  double flops = 0;
  double bytes = 0;  ///< to and from memory
  Unit unit = Unit::kF32;
};

/// Upper bounds of what a kernel takes, known before it is compiled and held against the compiled
/// one. Dynamic shared memory and threads are the launch's.
struct Needs {
  int registers = 0;              ///< a thread; 0: not told
  std::int64_t static_smem = -1;  ///< bytes a block; -1: not told
};

/// The registers a thread may have under __launch_bounds__(threads, min_blocks), at most 255: a
/// multiprocessor has 65536, given to threads by eights (programming guide, compute capabilities).
constexpr int registers_under_bounds(int threads, int min_blocks = 1) {
  const int fit = 65536 / (threads * min_blocks) / 8 * 8;
  return fit < 255 ? fit : 255;
}

/// Largest block of kernel parameters that a stage may have, bytes.
inline constexpr std::size_t kMaxParamBytes = 1024;
/// Largest arguments of an op that a plan may embed, bytes.
inline constexpr std::size_t kMaxArgsBytes = 4096;
/// What a workspace, and each part of one, is aligned to, bytes.
inline constexpr std::size_t kWorkspaceAlign = 256;

/// `bytes` rounded up so that the next part of a workspace is aligned.
constexpr std::size_t workspace_part(std::size_t bytes) {
  return (bytes + kWorkspaceAlign - 1) / kWorkspaceAlign * kWorkspaceAlign;
}

/// One kernel launch. The kernel takes one struct by value; `params` is that struct with all that
/// depends on the problem filled in, and `bind` writes what depends on the call: pointers, strides,
/// scalars.
struct LaunchStage {
  std::string name;
  std::string file;   ///< embedded source, e.g. "ops/norm/rms_norm/sm90/bulk_v1.cu"
  std::string entry;  ///< name expression of the kernel
  std::vector<std::string> options = {};
  cuda::Launch launch = {};
  std::vector<std::byte> params = {};
  void (*bind)(const void* args, std::byte* workspace, std::byte* params) = nullptr;
  Cost cost = {};  ///< zeros: not told; the op's work then stands for a plan of one stage
  Needs needs = {};
};

/// One task on the CPU, done on return. Only in plans for the CPU.
struct HostStage {
  std::string name = {};
  std::vector<std::byte> state = {};
  void (*run)(const void* args, std::byte* workspace, const std::byte* state) = nullptr;
  Cost cost = {};
};

/// Code from outside the library that queues its work on the stream it is given, or, for a CPU, is
/// done on return: an operator of another library, a callable of another language.
struct CallStage {
  std::string name = {};
  std::function<void(const void* args, Stream stream)> run = {};
  Cost cost = {};
};

struct Stage;

/// Stages in order, each after the one before.
struct Sequence {
  std::string name;
  std::vector<Stage> stages;
};

/// Branches that do not depend on each other. On CUDA the first runs on the caller's stream and
/// each other one on a stream of its own, between two events, so that what comes before and after
/// sees them as one. On a CPU, where a stage takes all threads, they run in order.
struct Concurrent {
  std::string name;
  std::vector<Stage> branches;
  /// What the branches' tilings have to satisfy together, besides what joint_refusal() asks of
  /// their resources. Null: nothing more.
  std::optional<Refusal> (*joint)(std::span<const Stage> branches,
                                  const DeviceInfo& device) = nullptr;
};

/// Another op's plan inside this one.
struct SubPlan {
  std::string name;
  std::string variant = {};  ///< id of what the stages are from
  std::string tiling = {};
  std::vector<Stage> stages;
  std::size_t workspace_bytes = 0;   ///< of the inner plan
  std::size_t workspace_offset = 0;  ///< where in this plan's workspace the inner one begins
  /// Makes the inner op's arguments, at `inner`, from this op's and this plan's workspace.
  std::function<void(const void* args, std::byte* workspace, std::byte* inner)> project = {};
  Cost cost = {};  ///< the inner op's work, for stages that do not tell theirs
};

/// A node of the tree.
struct Stage {
  std::variant<LaunchStage, HostStage, CallStage, Sequence, Concurrent, SubPlan> node;

  template <class Node>
    requires(!std::is_same_v<std::remove_cvref_t<Node>, Stage>)
  Stage(Node&& one) : node(std::forward<Node>(one)) {}  // NOLINT: a node is a stage
};

namespace detail {

/// `value`, and behind it a typed function, which a captureless thunk finds again there.
template <class Value, class Function>
std::vector<std::byte> packed(const Value& value, Function function) {
  static_assert(std::is_trivially_copyable_v<Value>);
  std::vector<std::byte> bytes(sizeof(Value) + sizeof(Function));
  std::memcpy(bytes.data(), &value, sizeof(Value));
  std::memcpy(bytes.data() + sizeof(Value), static_cast<const void*>(&function), sizeof(Function));
  return bytes;
}

template <class Value, class Function>
Function unpacked(const std::byte* bytes) {
  Function function;
  std::memcpy(static_cast<void*>(&function), bytes + sizeof(Value), sizeof(Function));
  return function;
}

}  // namespace detail

/// A launch from typed pieces, so that a variant writes no casts. `bind(args, params)`, or
/// `bind(args, workspace, params)` where the plan has a workspace.
template <class Args, class Params>
LaunchStage launch_stage(std::string name, std::string file, std::string entry,
                         const cuda::Launch& launch, const Params& params,
                         void (*bind)(const Args&, std::byte* workspace, Params&)) {
  using Bind = decltype(bind);
  static_assert(sizeof(Params) + sizeof(Bind) <= kMaxParamBytes);
  LaunchStage stage{.name = std::move(name), .file = std::move(file), .entry = std::move(entry)};
  stage.launch = launch;
  stage.params = detail::packed(params, bind);
  stage.bind = [](const void* args, std::byte* workspace, std::byte* bytes) {
    detail::unpacked<Params, Bind>(bytes)(*static_cast<const Args*>(args), workspace,
                                          *reinterpret_cast<Params*>(bytes));
  };
  return stage;
}
template <class Args, class Params>
LaunchStage launch_stage(std::string name, std::string file, std::string entry,
                         const cuda::Launch& launch, const Params& params,
                         void (*bind)(const Args&, Params&)) {
  using Bind = decltype(bind);
  static_assert(sizeof(Params) + sizeof(Bind) <= kMaxParamBytes);
  LaunchStage stage{.name = std::move(name), .file = std::move(file), .entry = std::move(entry)};
  stage.launch = launch;
  stage.params = detail::packed(params, bind);
  stage.bind = [](const void* args, std::byte*, std::byte* bytes) {
    detail::unpacked<Params, Bind>(bytes)(*static_cast<const Args*>(args),
                                          *reinterpret_cast<Params*>(bytes));
  };
  return stage;
}

/// A CPU task from typed pieces: `run(args, state)`, or `run(args, workspace, state)`.
template <class Args, class State>
HostStage host_stage(std::string name, const State& state,
                     void (*run)(const Args&, std::byte* workspace, const State&)) {
  using Run = decltype(run);
  HostStage stage;
  stage.name = std::move(name);
  stage.state = detail::packed(state, run);
  stage.run = [](const void* args, std::byte* workspace, const std::byte* bytes) {
    detail::unpacked<State, Run>(bytes)(*static_cast<const Args*>(args), workspace,
                                        *reinterpret_cast<const State*>(bytes));
  };
  return stage;
}
template <class Args, class State>
HostStage host_stage(std::string name, const State& state, void (*run)(const Args&, const State&)) {
  using Run = decltype(run);
  HostStage stage;
  stage.name = std::move(name);
  stage.state = detail::packed(state, run);
  stage.run = [](const void* args, std::byte*, const std::byte* bytes) {
    detail::unpacked<State, Run>(bytes)(*static_cast<const Args*>(args),
                                        *reinterpret_cast<const State*>(bytes));
  };
  return stage;
}

}  // namespace einkorn
