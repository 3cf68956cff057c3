#include "ops/linear_attention/step_plan.h"

#include <fmt/format.h>

#include "ops/launch.h"
#include "ops/linear_attention/strides.h"

namespace einkorn::linear_attention {

std::optional<Refusal> refuse_blocks(std::int64_t blocks) {
  if (blocks <= cuda::kMaxBlocks) return std::nullopt;
  return Refusal{fmt::format("{} blocks > {}, the widest grid", blocks, cuda::kMaxBlocks)};
}

void bind_step(const CallArguments& call, Update update, StepParams& params) {
  params.q = call.q.data();
  params.k = call.k.data();
  params.v = call.v.data();
  params.o = call.o.data();
  params.g = update == Update::kDecay ? call.decay.data() : call.g.data();
  params.beta = call.beta.data();
  params.a_log = call.a_log.data_as<const float>();
  params.dt_bias = call.dt_bias.data_as<const float>();
  bind_strides(call.q, params.q_token, params.q_head);
  bind_strides(call.k, params.k_token, params.k_head);
  bind_strides(call.v, params.v_token, params.v_head);
  bind_strides(call.o, params.o_token, params.o_head);
  // Numbers a head lie side by side.
  params.g_token = 0;
  params.g_head = 1;
  if (update == Update::kChannelDelta) bind_strides(call.g, params.g_token, params.g_head);
  if (update == Update::kHeadDelta) params.g_token = cuda::row_stride(call.g);
  params.beta_token = cuda::row_stride(call.beta);
  params.scale = static_cast<float>(call.used_scale());
  params.lower_bound = static_cast<float>(call.lower_bound);
}

}  // namespace einkorn::linear_attention
