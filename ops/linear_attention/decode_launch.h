#pragma once

// What the CUDA variants of the decode ops share on the host.

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <einkorn/device.h>
#include <einkorn/expression.h>
#include <einkorn/op.h>

#include "ops/linear_attention/decode.h"
#include "ops/linear_attention/params.h"
#include "ops/linear_attention/step_plan.h"

namespace einkorn::linear_attention {

/// A launch of either kernel, but for its name.
struct DecodeLaunch {
  cuda::Launch launch;
  DecodeParams params;
  Needs needs;
  std::vector<jit::TemplateArgument> arguments;

  std::string instantiate(std::string_view kernel) const {
    return jit::instantiate(kernel, arguments);
  }
};

/// Writes what depends on the call: pointers, strides, scalars.
void bind_decode(const DecodeCall& call, DecodeParams& params);

/// The variants for states [V, K].
struct DecodeRows {
  using Tiling = RowTiling;

  static std::optional<Refusal> supports(const DecodeProblem& problem, const DeviceInfo& device);
  static std::optional<Refusal> validate(const DecodeProblem& problem, const Tiling& tiling);
  /// The heuristic's first: all lanes that whole pieces of a row allow, and 64 bytes of state a
  /// thread.
  static std::vector<Tiling> tilings(const DecodeProblem& problem, const DeviceInfo& device);
  static DecodeLaunch launch_of(Update update, const DecodeProblem& problem, const Tiling& tiling,
                                const DeviceInfo& device);
};

/// The variants for states [K, V].
struct DecodeColumns {
  struct Tiling {
    int lanes = 8;      ///< threads a row of a block's columns
    int threads = 256;  ///< a block

    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{field("lanes", &Tiling::lanes, "pieces of 16 bytes of columns a block"),
                        field("threads", &Tiling::threads, "threads a block")};
    }
  };

  static std::optional<Refusal> supports(const DecodeProblem& problem, const DeviceInfo& device);
  static std::optional<Refusal> validate(const DecodeProblem& problem, const Tiling& tiling);
  /// The heuristic's first: 128 bytes of columns a block, 64 bytes of state a thread.
  static std::vector<Tiling> tilings(const DecodeProblem& problem, const DeviceInfo& device);
  static DecodeLaunch launch_of(Update update, const DecodeProblem& problem, const Tiling& tiling,
                                const DeviceInfo& device);
};

}  // namespace einkorn::linear_attention
