#include "ops/linear_attention/prefill_match.h"

#include <cmath>

#include <einkorn/registry.h>

#include "ops/linear_attention/chunk_params.h"

namespace einkorn::linear_attention {
namespace {

void match_bounds(const PrefillCall& call, PrefillNames& names) {
  if (!call.cu_seqlens.defined()) {
    EK_CHECK(!call.cu_seqlens_cpu.defined(), ErrorKind::kType,
             fmt::format("{}: cu_seqlens_cpu: expected no tensor without cu_seqlens, got {}",
                         call.op, to_string(call.cu_seqlens_cpu)));
    return;
  }
  Dim bounds("sequences + 1", Range{2, kMaxPrefillSeqs + 1});
  match(call.op, "cu_seqlens", call.cu_seqlens)
      .shape(bounds)
      .dtype(kI32, kI64)
      .on(names.device)
      .contiguous()
      .verify();
  match(call.op, "cu_seqlens_cpu", call.cu_seqlens_cpu)
      .optional()
      .shape(bounds)
      .dtype(kI32, kI64)
      .on(kCpuDevice)
      .contiguous()
      .verify();
  EK_CHECK(names.rows.value() == 1, ErrorKind::kValue,
           fmt::format("{}: q batch: expected 1 with cu_seqlens, got {}\n"
                       "  hint: packed sequences lie one behind the other in one row",
                       call.op, names.rows.value()));
}

/// The sequences of a call whose tensors match, checked.
Sequences match_sequences(const PrefillCall& call) {
  if (!call.cu_seqlens.defined()) return {call.batch(), call.tokens()};
  std::vector<std::int64_t> bounds =
      read_bounds(call.op, call.cu_seqlens, call.cu_seqlens_cpu, call.stream);
  check_bounds(call.op, bounds, call.tokens());
  if (call.cu_seqlens_cpu.defined() && call.cu_seqlens.device().kind == DeviceKind::kCpu) {
    EK_CHECK(
        bounds == read_bounds(call.op, call.cu_seqlens, {}), ErrorKind::kValue,
        fmt::format("{}: cu_seqlens_cpu: expected the numbers of cu_seqlens, got others", call.op));
  }
  return Sequences(std::move(bounds));
}

void match_states(const PrefillCall& call, Role role, std::string_view argument,
                  const TensorView& tensor, PrefillNames& names, Dim& count) {
  const bool kv = call.state_layout == StateLayout::kKv;
  ArgumentMatcher matcher(call.op, argument, tensor);
  if (role == Role::kOutput) static_cast<void>(matcher.writable());
  matcher.optional()
      .shape(count, names.value_heads, kv ? names.key_dim : names.value_dim,
             kv ? names.value_dim : names.key_dim)
      .dtype(kF32, kBF16)
      .on(names.device)
      .contiguous()
      .verify();
}

void match_checkpoints(const PrefillCall& call, const Sequences& sequences, PrefillNames& names) {
  const std::int64_t every = call.checkpoint_every;
  EK_CHECK(every >= 0 && every % kChunk == 0, ErrorKind::kValue,
           fmt::format("{}: checkpoint_every: expected a multiple of {} tokens, or 0, got {}",
                       call.op, kChunk, every));
  EK_CHECK((every > 0) == call.checkpoints.defined(), ErrorKind::kType,
           fmt::format("{}: checkpoints: expected {}, got {}", call.op,
                       every > 0 ? "a tensor with checkpoint_every above 0"
                                 : "no tensor with checkpoint_every 0",
                       to_string(call.checkpoints)));
  if (every == 0) return;
  Dim rows("checkpoints");
  rows.bind(call.op, "checkpoint_every", sequences.blocks(every));
  match_states(call, Role::kOutput, "checkpoints", call.checkpoints, names, rows);
}

void check_overlaps(const PrefillCall& call) {
  const auto apart = [&](const cpu::Memory& output, const cpu::Memory& other,
                         Overlap allowed = Overlap::kNone) {
    cpu::check_apart(call.op, output, other, allowed);
  };
  const cpu::Memory o("o", call.o);
  const cpu::Memory final_state("final_state", call.final_state);
  const cpu::Memory checkpoints("checkpoints", call.checkpoints);
  const cpu::Memory initial_state("initial_state", call.initial_state);
  for (const cpu::Memory& input :
       {cpu::Memory("q", call.q), cpu::Memory("k", call.k), cpu::Memory("v", call.v),
        cpu::Memory("cu_seqlens", call.cu_seqlens),
        cpu::Memory("cu_seqlens_cpu", call.cu_seqlens_cpu)}) {
    check_outputs_apart(call, input);
  }
  apart(o, initial_state);
  apart(final_state, initial_state, Overlap::kExactOrNone);
  apart(checkpoints, initial_state);
  apart(final_state, o);
  apart(checkpoints, o);
  apart(checkpoints, final_state);
}

/// Whether whole sequences are gone through in slices: only kda's preparation is worth hiding, and
/// only kda_prefill/sm90/chunk_v1 does it, for what it serves.
bool hides_preparation(const PrefillCall& call, const DeviceInfo& device) {
  return call.channel_gate && !call.cu_seqlens.defined() && device.cc == 90 &&
         call.q.dtype() == kBF16 && call.q.size(3) == kChunkDim && call.v.size(3) == kChunkDim;
}

/// Tokens of a segment; 0: sequences run whole.
std::int64_t match_segment(const PrefillCall& call, const Sequences& sequences) {
  check_choice(call.op, "split", call.split);
  EK_CHECK(call.segment >= 0 && call.segment % kChunk == 0, ErrorKind::kValue,
           fmt::format("{}: segment: expected a multiple of {} tokens, or 0, got {}", call.op,
                       kChunk, call.segment));
  EK_CHECK(call.segment == 0 || call.split != Split::kOff, ErrorKind::kValue,
           fmt::format("{}: segment: expected 0 with split off, got {}", call.op, call.segment));
  if (call.segment > 0) {
    if (sequences.longest() > call.segment) return call.segment;
    if (call.split == Split::kAuto) return 0;
    throw NotSplittable(
        fmt::format("{}: segment: expected fewer tokens than the longest sequence has, {}, got {}",
                    call.op, sequences.longest(), call.segment));
  }
  if (call.split == Split::kOff) return 0;
  const Device device = call.q.device();
  if (call.split == Split::kAuto && device.kind == DeviceKind::kCpu) return 0;
  const DeviceInfo& info = device_info(device);
  return split_segment(sequences, call.value_heads(), info, call.split, call.op,
                       hides_preparation(call, info) ? kHiddenPreparation : 0);
}

/// The largest power of two up to 16 that divides addresses and strides, bytes.
class AlignFacts {
 public:
  void add_rows(const TensorView& tensor) {
    add_address(tensor);
    for (int i = 0; i + 1 < tensor.rank() && tensor.numel() > 0; ++i) {
      if (tensor.size(i) > 1) add_stride(tensor, tensor.stride(i));
    }
  }
  void add_states(const TensorView& tensor) {
    if (!tensor.defined()) return;
    add_address(tensor);
    std::int64_t stride = 1;
    for (int i = 3; i > 0; --i) {
      stride *= tensor.size(i);
      // As of two states, though there be one or none.
      if (tensor.size(i - 1) > 1 || i == 1) add_stride(tensor, stride);
    }
  }
  int align() const { return static_cast<int>(bits_ & (~bits_ + 1)); }

 private:
  void add_address(const TensorView& tensor) {
    bits_ |= reinterpret_cast<std::uintptr_t>(tensor.data());
  }
  void add_stride(const TensorView& tensor, std::int64_t stride) {
    bits_ |= static_cast<std::uint64_t>(stride * bits(tensor.dtype())) / 8;
  }

  std::uint64_t bits_ = cpu::kMaxAlign;
};

int align_of(const PrefillCall& call) {
  AlignFacts facts;
  for (const TensorView* tensor : {&call.q, &call.k, &call.v, &call.o}) facts.add_rows(*tensor);
  if (call.channel_gate && call.delta) facts.add_rows(call.g);
  for (const TensorView* tensor : {&call.initial_state, &call.final_state, &call.checkpoints}) {
    facts.add_states(*tensor);
  }
  return facts.align();
}

std::optional<DType> dtype_of(const TensorView& tensor) {
  return tensor.defined() ? std::optional(tensor.dtype()) : std::nullopt;
}

PrefillProblem problem_of(const PrefillCall& call, const Sequences& sequences) {
  PrefillProblem problem;
  problem.batch = call.batch();
  problem.tokens = call.tokens();
  problem.heads = call.heads();
  problem.value_heads = call.value_heads();
  problem.key_dim = call.key_dim();
  problem.value_dim = call.value_dim();
  problem.dtype = call.q.dtype();
  problem.seqs = call.cu_seqlens.defined() ? sequences.count() : 0;
  problem.longest = sequences.longest();
  problem.gate = call.gate;
  if (call.delta) {
    problem.gate_dtype = call.g.dtype();
    problem.beta_dtype = call.beta.dtype();
    problem.beta_form = call.beta_form;
    problem.negative_eigenvalues = call.negative_eigenvalues;
    problem.a_log = call.a_log.defined();
    problem.dt_bias = call.dt_bias.defined();
  }
  problem.l2norm = call.l2norm;
  problem.initial_state = dtype_of(call.initial_state);
  problem.final_state = dtype_of(call.final_state);
  problem.state_layout = call.state_layout;
  problem.checkpoint_every = call.checkpoint_every;
  problem.checkpoints = dtype_of(call.checkpoints);
  problem.align = align_of(call);
  return problem;
}

}  // namespace

Sequences PrefillCall::sequences() const {
  if (!cu_seqlens.defined()) return {batch(), tokens()};
  return Sequences(read_bounds(op, cu_seqlens, cu_seqlens_cpu, stream));
}

States PrefillCall::states(const TensorView& tensor) const {
  return {.data = tensor.data(),
          .dtype = tensor.dtype(),
          .value_heads = value_heads(),
          .key_dim = key_dim(),
          .value_dim = value_dim(),
          .layout = state_layout};
}

void match_prefill_inputs(const PrefillCall& call, PrefillNames& names) {
  match_inputs(call, names);
  EK_CHECK(call.value_heads() % call.heads() == 0, ErrorKind::kValue,
           fmt::format("{}: v heads: expected a multiple of q's {}, got {}", call.op, call.heads(),
                       call.value_heads()));
}

void check_outputs_apart(const PrefillCall& call, const cpu::Memory& input) {
  cpu::check_apart(call.op, cpu::Memory("o", call.o), input);
  cpu::check_apart(call.op, cpu::Memory("final_state", call.final_state), input);
  cpu::check_apart(call.op, cpu::Memory("checkpoints", call.checkpoints), input);
}

PrefillProblem match_prefill(const PrefillCall& call, PrefillNames& names) {
  match_bounds(call, names);
  check_choice(call.op, "state_layout", call.state_layout);
  EK_CHECK(std::isfinite(call.scale), ErrorKind::kValue,
           fmt::format("{}: scale: expected a finite number, got {}", call.op, call.scale));
  match_tokens(call.op, Role::kOutput, "o", call.o, names, names.value_heads, names.value_dim,
               names.dtype);
  const Sequences sequences = match_sequences(call);
  names.sequences.bind(call.op, call.cu_seqlens.defined() ? "cu_seqlens" : "q", sequences.count());
  match_states(call, Role::kInput, "initial_state", call.initial_state, names, names.sequences);
  match_states(call, Role::kOutput, "final_state", call.final_state, names, names.sequences);
  match_checkpoints(call, sequences, names);
  check_overlaps(call);
  PrefillProblem problem = problem_of(call, sequences);
  problem.segment = match_segment(call, sequences);
  return problem;
}

}  // namespace einkorn::linear_attention
