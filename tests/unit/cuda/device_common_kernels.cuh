#pragma once

// Kernels of the tests of src/cuda/device/common, as text: a test puts `#define EK_PART_<header>`
// and the include of that header in front, or EK_PART_all and all.cuh. So a part shows that its
// header is enough, and between them the parts call every function (device_common_test.cc).

#if defined(EK_PART_vec)
#include "src/cuda/device/common/cache.cuh"  // hints
#endif

namespace device_test {

using namespace einkorn;

__device__ inline int thread_of_grid() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

#if defined(EK_PART_address) || defined(EK_PART_all)
/// One block: each thread the address of its word, after the first one's.
__global__ void shared_addresses(u32* out) {
  __shared__ u32 words[256];
  words[threadIdx.x] = 0;
  out[threadIdx.x] = shared_address(words + threadIdx.x) - shared_address(words);
}
#endif

#if defined(EK_PART_types) || defined(EK_PART_fp8) || defined(EK_PART_all)
/// Codes of two inputs a thread, one by one and as a pair.
template <class T>
__global__ void encode(const float* in, u32* single, u32* paired, int pairs) {
  const int i = thread_of_grid();
  if (i >= pairs) return;
  single[2 * i] = from_float<T>(in[2 * i]).bits;
  single[2 * i + 1] = from_float<T>(in[2 * i + 1]).bits;
  paired[i] = pack2<T>(in[2 * i], in[2 * i + 1]);
}

/// Values of every code below `codes`, alone and as the lower and the upper one of a pair; the
/// other one is the code's complement.
template <class T>
__global__ void decode(float* single, float* low, float* high, int codes) {
  const int i = thread_of_grid();
  if (i >= codes) return;
  const u32 code = static_cast<u32>(i);
  const u32 other = static_cast<u32>(codes - 1) ^ code;
  constexpr int kBits = 8 * sizeof(T);
  T x{};
  x.bits = static_cast<decltype(x.bits)>(code);
  single[i] = to_float(x);
  low[i] = unpack2<T>(code | other << kBits).x;
  high[i] = unpack2<T>(other | code << kBits).y;
}
#endif

#if defined(EK_PART_types) || defined(EK_PART_all)
template <class T>
__global__ void round_floats(const float* in, float* out, int count) {
  const int i = thread_of_grid();
  if (i < count) out[i] = round_to<T>(in[i]);
}

template <class T>
__global__ void to_integers(const float* in, int* out, int count) {
  const int i = thread_of_grid();
  if (i < count) out[i] = from_float<T>(in[i]);
}

static_assert(is_none<none> && !is_none<f16>);
static_assert(infinity() > 0x1.fffffep127f);
#endif

#if defined(EK_PART_fp8_bits) || defined(EK_PART_all)
template <int kMantissa>
__global__ void encode_bits(const float* in, unsigned* out, int count) {
  const int i = thread_of_grid();
  if (i < count) out[i] = encode_fp8<kMantissa>(in[i]);
}

template <int kMantissa>
__global__ void decode_bits(float* out) {
  out[threadIdx.x] = decode_fp8<kMantissa>(static_cast<unsigned char>(threadIdx.x));
}
#endif

#if defined(EK_PART_fp8) || defined(EK_PART_all)
template <class T>
__global__ void encode_fours(const float* in, u32* out, int fours) {
  const int i = thread_of_grid();
  if (i < fours) out[i] = pack4<T>(in[4 * i], in[4 * i + 1], in[4 * i + 2], in[4 * i + 3]);
}
#endif

#if defined(EK_PART_traits) || defined(EK_PART_all)
template <class T>
__global__ void clamp_to_finite(const float* in, float* out, int count) {
  using Traits = TypeTraits<T>;
  static_assert(sizeof(T) == Traits::kBytes && sizeof(typename Traits::Pair) == 2 * sizeof(T));
  const int i = thread_of_grid();
  if (i >= count) return;
  const float low = static_cast<float>(Traits::kLowest);
  const float high = static_cast<float>(Traits::kMax);
  out[i] = in[i] < low ? low : in[i] > high ? high : in[i];
  if (Traits::kIsFloat) out[i] *= 1.0f + static_cast<float>(Traits::kEpsilon);
}
#endif

#if defined(EK_PART_warp) || defined(EK_PART_all)
template <int kLanes>
__global__ void sum_warps(const float* in, float* out) {
  const int i = thread_of_grid();
  out[i] = warp_sum<kLanes>(in[i]);
}

/// Groups of 64 threads reverse their inputs, each behind its own barrier.
__global__ void reverse_groups(const int* in, int* out) {
  __shared__ int words[256];
  const int i = static_cast<int>(threadIdx.x);
  const int group = i / 64;
  words[i] = in[i];
  named_barrier(1 + group, 64);
  out[i] = words[group * 64 + 63 - i % 64];
}
#endif

#if defined(EK_PART_reduce) || defined(EK_PART_all)
template <class Op, class T, int kLanes>
__global__ void reduce_warps(const T* in, WideType<T>* out) {
  const int i = thread_of_grid();
  out[i] = warp_reduce<Op, kLanes>(in[i]);
}

/// Two reductions in a row with one scratch. Every block has its own kThreads inputs for each, the
/// first ones before all the second ones, and results likewise.
template <class Op, class T, int kThreads>
__global__ void reduce_blocks(const T* in, WideType<T>* out) {
  __shared__ WideType<T> scratch[kReduceScratch<kThreads>];
  const int i = thread_of_grid();
  const int second = static_cast<int>(gridDim.x) * kThreads + i;
  out[i] = block_reduce<Op, kThreads>(in[i], scratch);
  out[second] = block_reduce<Op, kThreads>(in[second], scratch);
}

template <class Op, class T>
__global__ void identity_of(T* out) {
  *out = Op::template identity<T>();
}

static_assert(Max::identity<int>() == -2147483647 - 1 && Min::identity<int>() == 2147483647);
static_assert(Max::identity<u32>() == 0 && Min::identity<u32>() == 0xffffffffu);
static_assert(Max::identity<i64>() == -0x7fffffffffffffff - 1);
static_assert(Min::identity<i64>() == 0x7fffffffffffffff);
static_assert(Max::identity<u64>() == 0 && Min::identity<u64>() == ~u64{0});
static_assert(Max::identity<float>() == -infinity() && Min::identity<float>() == infinity());
static_assert(MaxNan::identity<float>() == -infinity() && MinNan::identity<float>() == infinity());
static_assert(Max::identity<double>() < -1.7e308 && Min::identity<double>() > 1.7e308);
static_assert(Sum::identity<float>() == 0 && Sum::identity<int>() == 0);
static_assert(highest_of<int>() == 2147483647 && lowest_of<u32>() == 0);
#endif

#if defined(EK_PART_piece) || defined(EK_PART_cache) || defined(EK_PART_all)
template <int kBytes, Cache kLoad, Cache kStore>
__global__ void copy_pieces(const void* in, void* out, int count) {
  using P = typename Piece<kBytes>::Type;
  const int i = thread_of_grid();
  if (i < count) {
    store_piece<kStore>(static_cast<P*>(out) + i, load_piece<kLoad>(static_cast<const P*>(in) + i));
  }
}
#endif

#if defined(EK_PART_memory) || defined(EK_PART_all)
/// Every kind of load and store, a word each; one thread.
template <class T, Scope kScope>
__global__ void move_words(const T* in, T* out) {
  store_relaxed<kScope>(out + 0, load_relaxed<kScope>(in + 0));
  store_release<kScope>(out + 1, load_acquire<kScope>(in + 1));
  store_volatile(out + 2, load_volatile(in + 2));
}

template <Scope kScope, bool kFence>
__device__ inline void announce(u32* flag, u32 value) {
  if constexpr (kFence) {
    fence_acq_rel<kScope>();
    store_relaxed<kScope>(flag, value);
  } else {
    store_release<kScope>(flag, value);
  }
}

/// Waits for the value; false after some seconds without it.
template <Scope kScope, bool kFence>
__device__ inline bool arrives(const u32* flag, u32 value) {
  for (int tries = 0; tries < 1 << 22; ++tries) {
    const u32 got = kFence ? load_relaxed<kScope>(flag) : load_acquire<kScope>(flag);
    if (got == value) {
      if constexpr (kFence) fence_acq_rel<kScope>();
      return true;
    }
  }
  return false;
}

/// Two blocks: the first fills `data`, a word a thread, with the round's number and raises
/// flags[0]; the second checks the words and raises flags[1]. `errors` counts words that were
/// stale, and a million for a flag that did not come.
template <Scope kScope, bool kFence>
__global__ void pass_messages(u32* data, u32* flags, u32* errors, int rounds) {
  const bool writes = blockIdx.x == 0;
  for (u32 round = 1; round <= static_cast<u32>(rounds); ++round) {
    if (writes) {
      data[threadIdx.x] = round;
      __syncthreads();
      if (threadIdx.x == 0) announce<kScope, kFence>(flags, round);
    }
    const bool lost =
        threadIdx.x == 0 && !arrives<kScope, kFence>(writes ? flags + 1 : flags, round);
    if (__syncthreads_or(lost)) {
      if (threadIdx.x == 0) atomicAdd(errors, 1000000u);
      return;
    }
    if (!writes) {
      if (data[threadIdx.x] != round) atomicAdd(errors, 1u);
      __syncthreads();
      if (threadIdx.x == 0) announce<kScope, kFence>(flags + 1, round);
    }
  }
}

/// Blocks but the first write a word a thread and count themselves; the first waits for all of them
/// and counts, in `errors`, words that are stale, and a million for a count that was not reached.
__global__ void count_messages(u32* data, u32* count, u32* errors) {
  const u32 others = gridDim.x - 1;
  if (blockIdx.x > 0) {
    data[(blockIdx.x - 1) * blockDim.x + threadIdx.x] = blockIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) add_release(count, 1);
    return;
  }
  if (!arrives<Scope::kDevice, false>(count, others)) {
    atomicAdd(errors, 1000000u);
    return;
  }
  for (u32 block = 0; block < others; ++block) {
    if (data[block * blockDim.x + threadIdx.x] != block + 1) atomicAdd(errors, 1u);
  }
}

/// Every thread adds 1, first in its block's shared memory, then in global memory, and marks the
/// value it got back: each once.
template <Scope kScope>
__global__ void count_threads(float* total, u32* in_block, u32* in_grid) {
  __shared__ float block_total;
  if (threadIdx.x == 0) block_total = 0;
  __syncthreads();
  const float before = atomic_add<kScope>(&block_total, 1.0f);
  in_block[blockIdx.x * blockDim.x + static_cast<u32>(before)] = 1;
  in_grid[static_cast<u32>(atomic_add<kScope>(total, 1.0f))] = 1;
}

/// Store buffering: each of two blocks stores and then reads the other's word. With a sequentially
/// consistent fence in between, at least one sees the other's store.
__global__ void store_then_look(u32* words, u32* seen, u32* arrived, int rounds) {
  const u32 me = blockIdx.x;
  for (int round = 0; round < rounds; ++round) {
    atomicAdd(arrived + round, 1u);
    for (int tries = 0; tries < 1 << 22 && load_relaxed(arrived + round) != 2; ++tries) {
    }
    store_relaxed(words + 2 * round + me, 1u);
    fence_sc();
    seen[2 * round + me] = load_relaxed(words + 2 * round + 1 - me);
  }
}
#endif

#if defined(EK_PART_cp_async) || defined(EK_PART_all)
/// One block of 128 threads, a piece each, in three copies behind each other in `out`: whole; cut
/// off after `valid` bytes; whole again. Each thread passes on another one's piece.
template <int kBytes>
__global__ void copy_async(const u8* in, u8* out, int valid) {
  constexpr int kTile = 128 * kBytes;
  __shared__ __align__(16) u8 tiles[3][kTile];
  const int at = static_cast<int>(threadIdx.x) * kBytes;
  cp_async<kBytes>(tiles[0] + at, in + at);
  cp_async_commit_group();
  const int rest = valid - at;
  cp_async_fill<kBytes>(tiles[1] + at, in + at, rest < 0 ? 0 : rest > kBytes ? kBytes : rest);
  cp_async_commit_group();

  const int other = kTile - kBytes - at;
  const auto pass_on = [&](int tile) {
    __syncthreads();
    for (int i = other; i < other + kBytes; ++i) out[tile * kTile + i] = tiles[tile][i];
  };
  cp_async_wait_group<1>();
  pass_on(0);
  cp_async_wait_group<0>();
  pass_on(1);
  cp_async<kBytes>(tiles[2] + at, in + at);
  cp_async_wait_all();
  pass_on(2);
}
#endif

#if defined(EK_PART_mma) || defined(EK_PART_all)
/// How the operands get into registers.
enum class From { kLayout, kRows, kColumns, kPieces };

/// One warp: d[16][8] += a[16][16] * b[16][8], all stored by rows, but b by columns for kColumns.
template <class T, From kFrom>
__global__ void multiply(const T* a, const T* b, float* d) {
  __shared__ __align__(16) T a_tile[16 * 16];
  __shared__ __align__(16) T b_tile[16 * 8];
  const int lane = static_cast<int>(threadIdx.x);
  const int g = lane / 4;
  const int t = lane % 4;
  for (int i = lane; i < 256; i += 32) a_tile[i] = a[i];
  for (int i = lane; i < 128; i += 32) b_tile[i] = b[i];
  __syncwarp();

  u32 a_regs[4];
  u32 b_regs[2];
  if constexpr (kFrom == From::kLayout) {
    const auto pair = [](T low, T high) { return u32{low.bits} | u32{high.bits} << 16; };
    const auto a_pair = [&](int row, int col) {
      return pair(a_tile[row * 16 + col], a_tile[row * 16 + col + 1]);
    };
    const auto b_pair = [&](int row, int col) {
      return pair(b_tile[row * 8 + col], b_tile[(row + 1) * 8 + col]);
    };
    a_regs[0] = a_pair(g, 2 * t);
    a_regs[1] = a_pair(g + 8, 2 * t);
    a_regs[2] = a_pair(g, 2 * t + 8);
    a_regs[3] = a_pair(g + 8, 2 * t + 8);
    b_regs[0] = b_pair(2 * t, g);
    b_regs[1] = b_pair(2 * t + 8, g);
  } else if constexpr (kFrom == From::kPieces) {
    for (int i = 0; i < 4; ++i) {
      u32 one[1];
      ldmatrix(one, a_tile + (lane % 8 + i % 2 * 8) * 16 + i / 2 * 8);
      a_regs[i] = one[0];
    }
    for (int i = 0; i < 2; ++i) {
      u32 one[1];
      ldmatrix_transposed(one, b_tile + (lane % 8 + i * 8) * 8);
      b_regs[i] = one[0];
    }
  } else {
    ldmatrix(a_regs, a_tile + lane % 16 * 16 + lane / 16 * 8);
    if constexpr (kFrom == From::kRows) {
      ldmatrix_transposed(b_regs, b_tile + lane % 16 * 8);
    } else {
      ldmatrix(b_regs, b_tile + lane % 8 * 16 + lane / 8 % 2 * 8);
    }
  }

  float* place[4] = {d + g * 8 + 2 * t, d + g * 8 + 2 * t + 1, d + (g + 8) * 8 + 2 * t,
                     d + (g + 8) * 8 + 2 * t + 1};
  float acc[4];
  for (int i = 0; i < 4; ++i) acc[i] = *place[i];
  mma_m16n8k16<T>(acc, a_regs, b_regs);
  for (int i = 0; i < 4; ++i) *place[i] = acc[i];
}

/// One warp, 32 rows of 8 elements; lane l names row l. out[i][lane] of register i.
template <int kCount, bool kTransposed>
__global__ void load_matrices(const u16* rows, u32* out) {
  __shared__ __align__(16) u16 tile[32 * 8];
  for (int i = static_cast<int>(threadIdx.x); i < 256; i += 32) tile[i] = rows[i];
  __syncwarp();
  u32 regs[kCount];
  if constexpr (kTransposed) {
    ldmatrix_transposed(regs, tile + threadIdx.x * 8);
  } else {
    ldmatrix(regs, tile + threadIdx.x * 8);
  }
  for (int i = 0; i < kCount; ++i) out[i * 32 + threadIdx.x] = regs[i];
}
#endif

#if defined(EK_PART_pdl) || defined(EK_PART_all)
__global__ void dependent_step(int* out, int count) {
  prefetch_to_l2(out);
  wait_for_previous_kernel();
  const int i = thread_of_grid();
  if (i < count) out[i] = 2 * out[i] + 1;
  allow_next_kernel();
}
#endif

#if defined(EK_PART_vec) || defined(EK_PART_all)
template <class T, int kN, int kAlign, Cache kLoad, Cache kStore>
__global__ void copy_vectors(const T* in, T* out, int vectors) {
  const int i = thread_of_grid();
  if (i >= vectors) return;
  Vec<T, kN>::template load<kAlign, kLoad>(in + i * kN)
      .template store<kAlign, kStore>(out + i * kN);
}

/// Values one by one and all at once or in pairs, and the vector made of them again.
template <class T, int kN, bool kPairs = false>
__global__ void convert_vectors(const T* in, float* single, float* all, T* back, int vectors) {
  const int i = thread_of_grid();
  if (i >= vectors) return;
  constexpr int kAlign = Vec<T, kN>::kBytes < 16 ? Vec<T, kN>::kBytes : 16;
  Vec<T, kN> vec;
  vec.template fill<kAlign>(in + i * kN);
  float values[kN];
  Vec<T, kN> again;
  if constexpr (kPairs) {
#pragma unroll
    for (int j = 0; j < kN; j += 2) {
      const float2 pair = vec.pair(j / 2);
      values[j] = pair.x;
      if constexpr (kN > 1) values[j + 1] = pair.y;
      again.set_pair(j / 2, pair);
    }
  } else {
    vec.get_all(values);
    again = Vec<T, kN>::from(values);
  }
#pragma unroll
  for (int j = 0; j < kN; ++j) {
    single[i * kN + j] = vec.get(j);
    all[i * kN + j] = values[j];
  }
  again.template store<kAlign>(back + i * kN);
}

__global__ void load_nothing(int* out) {
  static_cast<void>(Vec<none, 4>::load<16>(nullptr));
  *out = 1;
}
#endif

#if defined(EK_PART_math) || defined(EK_PART_all)
enum class Function {
  kExp2,
  kExp,
  kLog2,
  kLog,
  kRsqrt,
  kReciprocal,
  kTanh,
  kSigmoid,
  kSilu,
};

template <Function kFunction>
__device__ inline float value_of(float x) {
  switch (kFunction) {
    case Function::kExp2:
      return exp2_approx(x);
    case Function::kExp:
      return exp_approx(x);
    case Function::kLog2:
      return log2_approx(x);
    case Function::kLog:
      return log_approx(x);
    case Function::kRsqrt:
      return rsqrt_approx(x);
    case Function::kReciprocal:
      return reciprocal_approx(x);
    case Function::kTanh:
      return tanh_approx(x);
    case Function::kSigmoid:
      return sigmoid_approx(x);
    default:
      return silu_approx(x);
  }
}

template <Function kFunction>
__global__ void apply(const float* in, float* out, int count) {
  const int i = thread_of_grid();
  if (i < count) out[i] = value_of<kFunction>(in[i]);
}
#endif

}  // namespace device_test
