#include "ops/linear_attention/match_call.h"

namespace einkorn::linear_attention {

void match_tokens(std::string_view op, Role role, std::string_view argument,
                  const TensorView& tensor, CallNames& names, Dim& heads, Dim& width,
                  DTypeVar& dtype) {
  ArgumentMatcher matcher(op, argument, tensor);
  if (is_written(role)) static_cast<void>(matcher.writable());
  matcher.shape(names.rows, names.tokens, heads, width)
      .dtype(dtype)
      .on(names.device)
      .last_contiguous()
      .collapsible_rows(2)
      .verify();
}

void match_numbers(std::string_view op, std::string_view argument, const TensorView& tensor,
                   CallNames& names, DTypeVar& dtype) {
  match(op, argument, tensor)
      .shape(names.rows, names.tokens, names.value_heads)
      .dtype(dtype)
      .on(names.device)
      .last_contiguous()
      .collapsible_rows()
      .verify();
}

void match_vector(std::string_view op, std::string_view argument, const TensorView& tensor,
                  CallNames& names) {
  match(op, argument, tensor)
      .shape(names.value_heads)
      .dtype(kF32)
      .on(names.device)
      .contiguous()
      .verify();
}

void match_inputs(const CallArguments& call, CallNames& names) {
  match_tokens(call.op, Role::kInput, "q", call.q, names, names.heads, names.key_dim, names.dtype);
  match_tokens(call.op, Role::kInput, "k", call.k, names, names.heads, names.key_dim, names.dtype);
  match_tokens(call.op, Role::kInput, "v", call.v, names, names.value_heads, names.value_dim,
               names.dtype);
}

void match_g(const CallArguments& call, bool channels, CallNames& names) {
  if (channels) {
    match_tokens(call.op, Role::kInput, "g", call.g, names, names.value_heads, names.key_dim,
                 names.gate);
  } else {
    match_numbers(call.op, "g", call.g, names, names.gate);
  }
}

void match_raw_terms(const CallArguments& call, bool channels, CallNames& names) {
  if (call.a_log.defined()) match_vector(call.op, "a_log", call.a_log, names);
  if (!call.dt_bias.defined()) return;
  if (!channels) return match_vector(call.op, "dt_bias", call.dt_bias, names);
  match(call.op, "dt_bias", call.dt_bias)
      .shape(names.value_heads, names.key_dim)
      .dtype(kF32)
      .on(names.device)
      .contiguous()
      .verify();
}

std::array<cpu::Memory, 4> delta_memory(const CallArguments& call) {
  return {cpu::Memory("g", call.g), cpu::Memory("beta", call.beta),
          cpu::Memory("a_log", call.a_log), cpu::Memory("dt_bias", call.dt_bias)};
}

}  // namespace einkorn::linear_attention
