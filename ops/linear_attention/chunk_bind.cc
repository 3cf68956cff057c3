// What a call adds to the parameters of the variants on chunks.

#include <span>

#include "ops/linear_attention/chunk_plan.h"
#include "ops/linear_attention/strides.h"
#include "src/cuda/tensor_map.h"

namespace einkorn::linear_attention {
namespace {

/// From how far a part is from the workspace's begin to where it is.
template <class T>
T* at(std::byte* workspace, std::size_t offset) {
  return reinterpret_cast<T*>(workspace + offset);
}

/// For boxes of 64 tokens and half of a head's channels of a tensor [batch, tokens, heads, 128].
bool map_heads(const TensorView& tensor, bool swizzled, TensorMap& to) {
  long long token = 0;
  long long head = 0;
  bind_strides(tensor, token, head);
  const cuda::TensorMapShape shape{
      .dtype = tensor.dtype(),
      .sizes = {kChunkDim, tensor.size(2), tensor.size(0) * tensor.size(1)},
      .strides = {head, token},
      .box = {kChunkDim / 2, 1, kChunkTokens},
      .swizzled = swizzled};
  return cuda::make_tensor_map(tensor.device().index, tensor.data(), shape,
                               std::as_writable_bytes(std::span<TensorMap, 1>(&to, 1)));
}

}  // namespace

const SequenceStart* bound_starts(const PrefillCall& call, const std::byte* workspace) {
  return call.cu_seqlens.defined() ? reinterpret_cast<const SequenceStart*>(workspace) : nullptr;
}

void bind_starts(const PrefillCall& call, std::byte* workspace, StartsParams& params) {
  params.bounds = call.cu_seqlens.data();
  params.wide = call.cu_seqlens.dtype() == kI64 ? 1 : 0;
  params.starts = at<SequenceStart>(workspace, 0);
}

void bind_prepare(const PrefillCall& call, std::byte* workspace, PrepareParams& params) {
  params.q = call.q.data();
  params.k = call.k.data();
  params.g = call.g.data();
  params.beta = call.beta.data();
  params.a_log = call.a_log.data_as<const float>();
  params.dt_bias = call.dt_bias.data_as<const float>();
  params.records = at<unsigned char>(workspace, params.records_at);
  params.progress = at<unsigned>(workspace, params.progress_at);
  params.sequences.starts = bound_starts(call, workspace);
  bind_strides(call.q, params.q_token, params.q_head);
  bind_strides(call.k, params.k_token, params.k_head);
  // A gate of numbers a head has its heads side by side, as beta has.
  if (call.channel_gate) {
    bind_strides(call.g, params.g_token, params.g_head);
  } else {
    params.g_token = cuda::row_stride(call.g);
    params.g_head = 1;
  }
  params.beta_token = cuda::row_stride(call.beta);
  params.beta_head = 1;
  params.scale = static_cast<float>(call.used_scale());
  params.lower_bound = static_cast<float>(call.lower_bound);
}

void bind_mapped_prepare(const PrefillCall& call, std::byte* workspace,
                         MappedPrepareParams& params) {
  bind_prepare(call, workspace, params);
  const bool mapped = map_heads(call.q, true, params.q_map) &&
                      map_heads(call.k, true, params.k_map) &&
                      map_heads(call.g, false, params.g_map);
  params.mapped = mapped ? 1 : 0;
}

void bind_recurrence(const PrefillCall& call, std::byte* workspace, RecurrenceParams& params) {
  params.records = at<const unsigned char>(workspace, params.records_at);
  params.q = call.q.data();
  params.k = call.k.data();
  params.v = call.v.data();
  params.o = call.o.data();
  params.initial = call.initial_state.data();
  params.final = call.final_state.data();
  params.checkpoints = call.checkpoints.data();
  params.carried = at<float>(workspace, params.carried_at);
  params.partial = at<float>(workspace, params.partial_at);
  params.progress = at<unsigned>(workspace, params.progress_at);
  params.sequences.starts = bound_starts(call, workspace);
  bind_strides(call.q, params.q_token, params.q_head);
  bind_strides(call.k, params.k_token, params.k_head);
  bind_strides(call.v, params.v_token, params.v_head);
  bind_strides(call.o, params.o_token, params.o_head);
}

}  // namespace einkorn::linear_attention
