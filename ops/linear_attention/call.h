#pragma once

// What a call of any op of the family is given, the ops of whole sequences and those of few tokens
// alike. Made of an op's arguments in every match and every launch, so it refers to their tensors.

#include <cmath>
#include <cstdint>
#include <string_view>

#include <einkorn/tensor.h>

#include "ops/linear_attention/forms.h"

namespace einkorn::linear_attention {

inline constexpr std::int64_t kMaxHeads = 65536;
inline constexpr std::int64_t kMaxHeadDim = 256;  ///< K and V

/// "No tensor", of an argument that an op does not have.
inline constexpr TensorView kNoTensor;

/// How the state fades and what corrects it: g and what goes with it, or a decay alone.
struct GateArguments {
  const TensorView& g = kNoTensor;
  const TensorView& beta = kNoTensor;
  const TensorView& a_log = kNoTensor;
  const TensorView& dt_bias = kNoTensor;
  const TensorView& decay = kNoTensor;
  Gate gate = Gate::kLog;
  double lower_bound = -5;
  Beta beta_form = Beta::kProbability;
  bool negative_eigenvalues = false;
};

/// Those of an op's arguments, which have to outlive them.
template <class Args>
GateArguments gate_arguments(const Args& args) {
  if constexpr (requires { args.beta; }) {
    return {.g = args.g,
            .beta = args.beta,
            .a_log = args.a_log,
            .dt_bias = args.dt_bias,
            .gate = args.gate,
            .lower_bound = args.lower_bound,
            .beta_form = args.beta_form,
            .negative_eigenvalues = args.negative_eigenvalues};
  } else {
    return {.decay = args.decay, .gate = args.gate};
  }
}

/// An op's arguments, which have to outlive it.
struct CallArguments : GateArguments {
  template <class Args>
  CallArguments(std::string_view name, const Args& args)
      : GateArguments(gate_arguments(args)),
        op(name),
        q(args.q),
        k(args.k),
        v(args.v),
        o(args.o),
        scale(args.scale),
        l2norm(args.l2norm),
        state_layout(args.state_layout) {}

  std::string_view op;
  const TensorView& q;
  const TensorView& k;
  const TensorView& v;
  const TensorView& o;
  double scale;
  bool l2norm;
  StateLayout state_layout;

  // Of matched arguments.
  std::int64_t heads() const { return q.size(2); }
  std::int64_t value_heads() const { return v.size(2); }
  std::int64_t key_dim() const { return q.size(3); }
  std::int64_t value_dim() const { return v.size(3); }
  /// The scale in use: K^-0.5 where none was given.
  double used_scale() const {
    return scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(key_dim()));
  }
};

}  // namespace einkorn::linear_attention
