#pragma once

// Parameters of the kernels that work on chunks of 64 tokens, shared by host and device code, and
// the record that says of a chunk and value head what the recurrence needs.

#include "src/cuda/device/sm90/tensor_map.h"

namespace einkorn::linear_attention {

inline constexpr int kChunkTokens = 64;
inline constexpr int kChunkDim = 128;  ///< K and V

inline constexpr int kStartsThreads = 256;
inline constexpr int kPrepareThreads = 256;
inline constexpr int kPrepareSmem = 54320;      ///< bytes, asked for at launch
inline constexpr int kPrepareWideSmem = 70704;  ///< likewise, with f32 gates
inline constexpr int kPrepareHeadSmem = 33792;  ///< likewise, for HeadRecord
/// Of the recurrence by wgmma from whole records, over half of V and over all of it.
inline constexpr int kRecurrenceThreads = 192;
inline constexpr int kWholeRecurrenceThreads = 384;
inline constexpr int kRecurrenceSmem = 232448;  ///< bytes, asked for at launch
inline constexpr int kHeadRecurrenceThreads = 256;
inline constexpr int kHeadRecurrenceSmem = 186496;  ///< likewise
inline constexpr int kMergeRows = 4;                ///< rows of V of a merging block

/// Bytes of a lower triangle [64][64] of bf16 without the quarter of it that is 0: a tile of 64
/// rows of the first 32 columns, then one of the last 32 rows of the others. In these rows of 64
/// bytes piece p of row r is at p ^ r / 2 % 4, as the copy engine's 64-byte swizzle has it.
inline constexpr int kTriangleBytes = 6144;

/// The record, in bytes. Matrices of bf16 but the triangles lie as tiles of rows of 64 elements;
/// the 16-byte pieces of a row are exchanged as the copy engine's 128-byte swizzle has it, piece p
/// of row r at p ^ r % 8. G_i is the sum of log2 decays up to token i of the chunk, G of the last
/// token is that of all. Rows and columns of tokens past the sequence's end are 0, but for the
/// inverse's diagonal.
struct Record {
  static constexpr int kKeys = 0;           ///< beta_i k_i 2^{G_i}, [64 tokens][128]
  static constexpr int kQueries = 16384;    ///< scale q_i 2^{G_i}, [64 tokens][128]
  static constexpr int kUpdates = 32768;    ///< (k_i 2^{G - G_i})^T, [128][64 tokens]
  static constexpr int kInverse = 49152;    ///< (I + beta k k^T below the diagonal)^-1, triangle
  static constexpr int kAttention = 55296;  ///< scale q k^T up to the diagonal, decayed, triangle
  static constexpr int kDecay = 61440;      ///< 2^G, [128] f32
  static constexpr int kBetas = 61952;      ///< [64] f32
  static constexpr int kBytes = 62208;
};

/// The record where a token's decay is one number a head and the recurrence takes q and k as they
/// came: what is special of a token is a factor of a row or column of the products.
struct HeadRecord {
  static constexpr int kInverse = 0;       ///< as above
  static constexpr int kAttention = 6144;  ///< as above
  static constexpr int kKeys = 12288;      ///< beta_i, norm of k_i 2^{G_i}, [64] f32
  static constexpr int kQueries = 12544;   ///< scale, norm of q_i 2^{G_i}, [64] f32
  static constexpr int kUpdates = 12800;   ///< norm of k_i 2^{G - G_i}, [64] f32
  static constexpr int kBetas = 13056;     ///< [64] f32
  static constexpr int kDecay = 13312;     ///< 2^G, f32
  static constexpr int kBytes = 13440;
};

/// Where a sequence begins among all: its first token, chunk, segment and row of checkpoints. One
/// more stands behind the last.
struct SequenceStart {
  int token;
  int chunk;
  int segment;
  int checkpoint;
};

/// Which tokens belong to which sequence. Without `starts` all are of the same length.
struct SequenceTable {
  const SequenceStart* starts;
  int count;
  int tokens;             ///< of each, without starts
  int segment_chunks;     ///< chunks of a segment; a sequence that is not cut has one segment
  int checkpoint_chunks;  ///< chunks from a checkpoint to the next, or 0
};

/// Which chunks of each sequence a launch is about, where parts of a sequence follow each other so
/// that preparing one goes on beside the recurrence over the one before. Sequences are then of the
/// same length, and the launches of a stream in this order: prepare 0, recurrence 0, prepare 1,
/// recurrence 1, ... How far a recurrence is, the next one reads in words of its own
/// (progress.cuh).
struct Slice {
  int first;
  int chunks;  ///< 0: a launch is about all
};

/// Words of a sequence and value head about its progress through slices: chunks that the recurrence
/// has done, of each 16 rows of V; the first sequence's have one more, of chunks prepared.
inline constexpr int kProgressWords = 16;
inline constexpr int kProgressPrepared = 8;

struct StartsParams {
  const void* bounds;  ///< [count + 1], i32 or, wide, i64
  int wide;
  SequenceStart* starts;
  int count;
  int segment_chunks;
  int checkpoint_chunks;
};

struct PrepareParams {
  static constexpr bool kMapped = false;
  const void* q;
  const void* k;
  const void* g;
  const void* beta;
  const float* a_log;             ///< [value heads], or null: factor 1
  const float* dt_bias;           ///< [value heads][128], or null: 0
  unsigned char* records;         ///< [chunks][value heads]
  unsigned* progress;             ///< of slices: [sequences][value heads][kProgressWords]
  unsigned long long records_at;  ///< bytes from the workspace's begin; so every `_at`
  unsigned long long progress_at;
  SequenceTable sequences;
  long long q_token, k_token, g_token, beta_token;  ///< elements from token to token
  long long q_head, k_head, g_head, beta_head;      ///< and from head to head
  int value_heads;
  int group;  ///< value heads that share a head of q and k
  Slice slice;
  float scale;
  float lower_bound;
};

/// For prepare where the copy engine brings q, k and the gates.
struct MappedPrepareParams : PrepareParams {
  static constexpr bool kMapped = true;
  TensorMap q_map;  ///< of all tokens, boxes of 64 tokens and half of a head's channels
  TensorMap k_map;
  TensorMap g_map;
  int mapped;  ///< 0: the driver could not make the maps
};

struct RecurrenceParams {
  const unsigned char* records;
  const void* q;  ///< and k: where the recurrence takes them as they came
  const void* k;
  const void* v;
  void* o;
  const void* initial;  ///< [sequences][value heads], states, or null: zeros
  void* final;          ///< likewise, or null
  void* checkpoints;    ///< [rows][value heads], states, or null
  /// States as [V][K] in f32: what each segment begins with, or, of slices, what the last one left;
  /// and, of cut sequences, what a segment makes of nothing and of the identity.
  float* carried;      ///< [segments][value heads]
  float* partial;      ///< [segments][value heads][2]
  unsigned* progress;  ///< of slices: [sequences][value heads][kProgressWords]
  unsigned long long records_at, carried_at, partial_at, progress_at;
  SequenceTable sequences;
  long long q_token, k_token, v_token, o_token;
  long long q_head, k_head, v_head, o_head;
  int value_heads;
  int group;  ///< value heads that share a head of q and k
  Slice slice;
};

}  // namespace einkorn::linear_attention
