#pragma once

// The forms in which models and libraries hand over the same quantities of linear attention. They
// differ silently elsewhere (a state transposed, a beta before its sigmoid, a decay given as a
// factor); here each is named, and nothing is converted unasked.

#include <array>
#include <cstdint>
#include <string_view>

#include <einkorn/fields.h>

namespace einkorn {
namespace linear_attention {

/// What the gate's tensor holds; log_decay() is the formula of each.
enum class Gate : std::uint8_t {
  kLog,         ///< the log of the decay, natural, at most 0
  kSoftplus,    ///< raw: log decay -exp(A_log) * softplus(g + dt_bias)
  kLowerBound,  ///< raw: log decay lower_bound * sigmoid(exp(A_log) * (g + dt_bias))
  kFactor,      ///< the decay itself, from 0 to 1
};

/// What beta's tensor holds.
enum class Beta : std::uint8_t {
  kProbability,  ///< beta itself
  kLogit,        ///< raw: beta = sigmoid(raw)
};

/// The order of a state's last two dimensions.
enum class StateLayout : std::uint8_t {
  kKv,  ///< [..., K, V]: fla's
  kVk,  ///< [..., V, K]: FlashKDA's and most decoding kernels'
};

/// How a token changes the state S [K, V] of a value head; d is the decay, u a row [V].
enum class Update : std::uint8_t {
  kChannelDelta,  ///< S <- diag(d) S, then S <- S + k u, u = beta (v - k^T S): KDA
  kHeadDelta,     ///< the same with one d a head: gated delta rule
  kDecay,         ///< S <- d S + k v: lightning attention
};

}  // namespace linear_attention

template <>
struct EnumNames<linear_attention::Gate> {
  static constexpr std::array<std::string_view, 4> kNames{"log", "softplus", "lower_bound",
                                                          "factor"};
};
template <>
struct EnumNames<linear_attention::Beta> {
  static constexpr std::array<std::string_view, 2> kNames{"probability", "logit"};
};
template <>
struct EnumNames<linear_attention::StateLayout> {
  static constexpr std::array<std::string_view, 2> kNames{"kv", "vk"};
};

}  // namespace einkorn
