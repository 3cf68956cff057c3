// qk_norm/smxx/rows_v1: a head in the registers of 1 to 32 lanes of a warp, heads of both tensors
// in one grid.
//
// Idea: a head is 128 to 512 bytes in most models, a vector of 16 bytes for each of a few lanes, so
// several heads share a warp and nothing needs shared memory or a barrier: the sum of squares goes
// around by shuffles among the head's lanes. A launch for both tensors saves one launch a layer,
// which in decoding takes longer than the kernel. Heads are numbered token by token, q's before
// k's, with no regard to where blocks begin: every block but the last is full, whatever the number
// of heads. The number of heads is a constant of the kernel, so that finding token and head is a
// multiplication in place of a division of 64 bits.
//
// Lanes of a warp may be at q and at k at once. They differ in the pointers they read from alone,
// which are selected, not branched on.
//
// As in rms_norm/smxx/rows_v1 the first blocks bring their heads into the L2 while the previous
// kernel, most likely the projection that writes q and k, still runs.

#include "ops/norm/qk_norm/params.h"
#include "ops/norm/rms_norm/device.cuh"

namespace einkorn::qk_norm::smxx {

using rms_norm::normalize_vec;
using rms_norm::scale_of;
using rms_norm::to_floats;

/// Grid: one block for kThreads / kLanes heads, kLanes a power of two up to 32. kVec elements a
/// piece, kItems pieces a thread; kAlign bytes divide every address. kHeads: of a token, in both
/// tensors. kExact: kLanes * kItems * kVec == cols.
template <class Tr, int kVec, int kAlign, int kLanes, int kItems, int kThreads, int kHeads,
          bool kExact>
__global__ void __launch_bounds__(kThreads) rows_v1(const __grid_constant__ Params p) {
  using T = typename Tr::T;
  using W = typename Tr::W;
  static_assert(kLanes <= 32 && kThreads % 32 == 0);

  const u64 index = u64{blockIdx.x} * (kThreads / kLanes) + threadIdx.x / kLanes;
  const i64 token = static_cast<i64>(index / kHeads);
  const int head = static_cast<int>(index % kHeads);
  const bool is_q = head < p.q_heads;
  const bool active = token < p.rows;
  const int lane = static_cast<int>(threadIdx.x % kLanes);
  // Lanes' pieces are neighbours in each of the kItems steps.
  constexpr int kStep = kLanes * kVec;
  const int first = lane * kVec;
  const auto inside = [&](int i) { return active && (kExact || first + i * kStep < p.cols); };
  const i64 in_token = i64{is_q ? head : head - p.q_heads} * p.cols + first;
  const T* x_from =
      static_cast<const T*>(is_q ? p.q : p.k) + token * (is_q ? p.q_stride : p.k_stride) + in_token;

  // First of all: the next kernel's blocks then come as soon as the last of this one's have come.
  // They wait for the end of this kernel, which waits for the end of the previous one.
  allow_next_kernel();
  if (blockIdx.x < p.early_blocks) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if (inside(i)) prefetch_to_l2(x_from + i * kStep);
    }
  }
  wait_for_previous_kernel();

  Vec<T, kVec> x[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (inside(i)) x[i] = Vec<T, kVec>::template load<kAlign>(x_from + i * kStep);
  }
  Vec<W, kVec> weight[kItems];
  const auto load_weights = [&] {
    const W* from = static_cast<const W*>(is_q ? p.q_weight : p.k_weight) + first;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if (!inside(i)) continue;
      weight[i] = Vec<W, kVec>::template load<kAlign, Cache::kReadOnly>(from + i * kStep);
    }
  };
  // With one vector a thread the weight is asked for before the sum, which hides its latency; with
  // more, the compiler decides how many registers it can spare for that.
  constexpr bool kEarlyWeight = kItems == 1;
  if constexpr (kEarlyWeight) load_weights();

  float sum = 0;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (!inside(i)) continue;
    float h[kVec];
    to_floats(x[i], h);
#pragma unroll
    for (int j = 0; j < kVec; ++j) sum += h[j] * h[j];
  }
  // All lanes of the warp arrive, those without a head, too.
  sum = warp_sum<kLanes>(sum);
  const float r = scale_of<Tr>(rsqrtf(sum * p.inverse_cols + p.eps));
  if (!active) return;

  if constexpr (!kEarlyWeight) load_weights();
  T* y_to = static_cast<T*>(is_q ? p.q_out : p.k_out) +
            token * (is_q ? p.q_out_stride : p.k_out_stride) + in_token;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (!inside(i)) continue;
    float h[kVec];
    to_floats(x[i], h);
    normalize_vec<Tr, kVec>(h, weight[i], r, p.offset).template store<kAlign>(y_to + i * kStep);
  }
}

}  // namespace einkorn::qk_norm::smxx
