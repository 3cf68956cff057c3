#pragma once

// How tensors of a call match that the ops of whole sequences and those of few tokens have alike.

#include <array>
#include <string_view>

#include <einkorn/dims.h>
#include <einkorn/match.h>
#include <einkorn/op.h>

#include "ops/linear_attention/call.h"
#include "ops/rows.h"

namespace einkorn::linear_attention {

inline constexpr DTypeSet kFloats{kF32, kF16, kBF16};

/// The names that the tensors of one call share; a row is one of the batch, or a sequence.
struct CallNames {
  CallNames(std::string_view row, Range rows_allowed, Range tokens_allowed)
      : rows(row, rows_allowed), tokens("tokens", tokens_allowed) {}

  Dim rows;
  Dim tokens;
  Dim heads{"heads", Range{1, kMaxHeads}};
  Dim value_heads{"value_heads", Range{1, kMaxHeads}};
  Dim key_dim{"key_dim", Range{1, kMaxHeadDim}};
  Dim value_dim{"value_dim", Range{1, kMaxHeadDim}};
  DTypeVar dtype{"dtype", kFloats};
  DTypeVar gate{"gate dtype", kFloats};
  DTypeVar beta{"beta dtype", kFloats};
  DeviceVar device;
};

/// A tensor [rows, tokens, heads, width], whose rows and tokens one stride walks. Errors here and
/// below as TensorMatcher::verify().
void match_tokens(std::string_view op, Role role, std::string_view argument,
                  const TensorView& tensor, CallNames& names, Dim& heads, Dim& width,
                  DTypeVar& dtype);
/// A tensor [rows, tokens, value_heads], a number for each value head of each token.
void match_numbers(std::string_view op, std::string_view argument, const TensorView& tensor,
                   CallNames& names, DTypeVar& dtype);
/// A tensor [value_heads] of f32.
void match_vector(std::string_view op, std::string_view argument, const TensorView& tensor,
                  CallNames& names);

/// q, k and v.
void match_inputs(const CallArguments& call, CallNames& names);
/// g, by channels or by heads.
void match_g(const CallArguments& call, bool channels, CallNames& names);
/// a_log and dt_bias, each of which may be left out.
void match_raw_terms(const CallArguments& call, bool channels, CallNames& names);

/// g, beta, a_log and dt_bias, to be held against outputs.
std::array<cpu::Memory, 4> delta_memory(const CallArguments& call);

}  // namespace einkorn::linear_attention
