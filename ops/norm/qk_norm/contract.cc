#include "ops/norm/qk_norm/contract.h"

#include <string>

#include <einkorn/dispatch.h>
#include <einkorn/error.h>
#include <einkorn/match.h>
#include <fmt/format.h>

#include "ops/rows.h"

namespace einkorn {
namespace {

/// The names that the tensors of one call share.
struct Names {
  cpu::RowNames rows{QkNorm::kMaxCols};
  Dim q_heads{"q_heads", Range{1, QkNorm::kMaxHeads}};
  Dim k_heads{"k_heads", Range{1, QkNorm::kMaxHeads}};
  DTypeVar weight{"weight dtype", cpu::kDTypes};
};

void match_heads(Role role, std::string_view argument, const TensorView& tensor, Names& names,
                 Dim& heads) {
  ArgumentMatcher matcher(QkNorm::kName, argument, tensor);
  if (role == Role::kOutput) static_cast<void>(matcher.writable());
  matcher.shape(names.rows.lead, heads, names.rows.cols)
      .dtype(names.rows.dtype)
      .on(names.rows.device)
      .last_contiguous(2)
      .collapsible_rows(2)
      .verify();
}

/// The dtype of both weights; nothing when both were left out.
std::optional<DType> match_weights(const QkNorm::Args& args, Names& names) {
  if (!args.q_weight.defined() && !args.k_weight.defined()) return std::nullopt;
  const bool has_q = args.q_weight.defined();
  EK_CHECK(has_q && args.k_weight.defined(), ErrorKind::kType,
           fmt::format("qk_norm: {}: expected a tensor beside {}, got no tensor\n"
                       "  hint: the weights come together or not at all",
                       has_q ? "k_weight" : "q_weight", has_q ? "q_weight" : "k_weight"));
  const auto match_one = [&](std::string_view argument, const TensorView& weight) {
    cpu::match_vector(QkNorm::kName, Role::kInput, argument, weight, names.rows, names.weight);
  };
  match_one("q_weight", args.q_weight);
  match_one("k_weight", args.k_weight);
  return names.weight.value();
}

void check_overlaps(const QkNorm::Args& args) {
  const auto check_apart = [](const cpu::Memory& output, const cpu::Memory& input,
                              Overlap allowed = Overlap::kNone) {
    cpu::check_apart(QkNorm::kName, output, input, allowed);
  };
  const cpu::Memory q("q", args.q);
  const cpu::Memory k("k", args.k);
  const cpu::Memory q_out("q_out", args.q_out);
  const cpu::Memory k_out("k_out", args.k_out);
  check_apart(q_out, q, Overlap::kExactOrNone);
  check_apart(q_out, k);
  check_apart(k_out, k, Overlap::kExactOrNone);
  check_apart(k_out, q);
  check_apart(k_out, q_out);
  for (const cpu::Memory& weight :
       {cpu::Memory("q_weight", args.q_weight), cpu::Memory("k_weight", args.k_weight)}) {
    check_apart(q_out, weight);
    check_apart(k_out, weight);
  }
}

/// Bytes from a head to the next of its token; 0 where each tensor has one head.
std::int64_t head_bytes(const QkNorm::Problem& problem) {
  if (problem.q_heads == 1 && problem.k_heads == 1) return 0;
  return problem.cols * bits(problem.dtype) / 8;
}

cpu::LayoutRules layout_rules(const QkNorm::Problem& problem) {
  cpu::LayoutRules rules{.op = QkNorm::kName,
                         .rows = problem.rows,
                         .strided = problem.layout == QkNorm::Layout::kRowStrided,
                         .part_bytes = head_bytes(problem),
                         .part = "head"};
  rules.add_rows(problem.q_heads * problem.cols, problem.dtype);
  rules.add_rows(problem.k_heads * problem.cols, problem.dtype);
  if (problem.weight) rules.add_vector(*problem.weight);
  return rules;
}

/// What parse() gives when only `problem`'s leading fields are given.
QkNorm::Problem completed(const QkNorm::Problem& problem) {
  QkNorm::Problem out;
  out.weight = problem.dtype;
  out.align = cpu::natural_align(layout_rules(problem));
  return out;
}

}  // namespace

QkNorm::Problem QkNorm::match(const Args& args) {
  Names names;
  match_heads(Role::kInput, "q", args.q, names, names.q_heads);
  match_heads(Role::kInput, "k", args.k, names, names.k_heads);
  Problem problem;
  problem.rows = cpu::matched_rows(kName, "q", args.q, names.rows, kMaxRows);
  problem.q_heads = names.q_heads.value();
  problem.k_heads = names.k_heads.value();
  problem.cols = names.rows.cols.value();
  problem.dtype = names.rows.dtype.value();
  problem.weight = match_weights(args, names);
  match_heads(Role::kOutput, "q_out", args.q_out, names, names.q_heads);
  match_heads(Role::kOutput, "k_out", args.k_out, names, names.k_heads);
  rms::check_scalars(kName, args.eps, args.offset, args.rounding);
  cpu::check_all_or_no_f64(kName, "q", problem.dtype, "q_weight", problem.weight);
  check_overlaps(args);
  cpu::RowFacts facts(problem.rows);
  for (const TensorView* tensor : {&args.q, &args.k, &args.q_out, &args.k_out}) {
    facts.add_rows(qk_norm::tokens_of(*tensor, problem.rows), tensor->size(-2) * problem.cols);
  }
  facts.add_parts(head_bytes(problem));
  if (problem.weight) {
    facts.add_address(args.q_weight);
    facts.add_address(args.k_weight);
  }
  problem.offset = args.offset;
  problem.rounding = args.rounding;
  problem.layout = facts.strided() ? Layout::kRowStrided : Layout::kContiguous;
  problem.align = facts.align();
  return problem;
}

std::vector<Key> QkNorm::keys() {
  return cpu::with_dtypes(describe_fields<Problem>(), cpu::kDTypeValues);
}

QkNorm::Problem QkNorm::parse(const KeyValues& pairs) {
  auto problem = parse_fields<Problem>(kName, pairs);
  if (!cpu::given(pairs, "weight")) problem.weight = problem.dtype;
  cpu::check_dtype(kName, "dtype", problem.dtype);
  if (problem.weight) cpu::check_dtype(kName, "weight", *problem.weight);
  cpu::check_all_or_no_f64(kName, "q", problem.dtype, "weight", problem.weight);
  problem.align = cpu::parsed_align(layout_rules(problem), pairs, problem.align);
  return problem;
}

std::string QkNorm::print(const Problem& problem) {
  return print_fields(problem, 5, completed(problem));
}

std::optional<Refusal> QkNorm::for_reference_only(const Problem& problem) {
  return cpu::f64_refusal(problem.dtype);
}

Work QkNorm::work(const Problem& problem) {
  const auto elements = static_cast<double>(problem.rows) *
                        static_cast<double>(problem.q_heads + problem.k_heads) *
                        static_cast<double>(problem.cols);
  Work work;
  // Square and add; times r; times the weight (its offset is once a column, not counted).
  work.useful_flops = work.executed_flops = elements * (problem.weight ? 4 : 3);
  work.min_bytes = elements * 2 * bits(problem.dtype) / 8;
  if (problem.rows > 0 && problem.weight) {
    work.min_bytes += static_cast<double>(2 * problem.cols * bits(*problem.weight)) / 8;
  }
  work.est_bytes = work.min_bytes;
  work.launches = problem.rows > 0 ? 1 : 0;
  return work;
}

// rms_norm's, head by head: r's error (ops/norm/rms.h) and 3 e for h * r, w + offset and their
// product; the roundings to the dtype; the last one, u. Absolutely, one ulp of f16's subnormals for
// a flip of h * r times a weight below 3 and one for the last rounding; in f32 and bf16 a variant
// may flush subnormal results to 0.
Tolerance QkNorm::tolerance(const Problem& problem) {
  const double f32_part = (rms::reciprocal_error(problem.cols) + 3) * rms::kF32Roundoff;
  const double u = unit_roundoff(problem.dtype);
  return {(rms::flips(problem.rounding) + 1) * u + f32_part,
          problem.dtype == kF16 ? 0x1p-22 : 0x1p-126};
}

namespace qk_norm {

TensorView tokens_of(const TensorView& tensor, std::int64_t rows) {
  const std::int64_t width = tensor.size(-2) * tensor.size(-1);
  const std::int64_t shape[] = {rows, width};
  const std::int64_t strides[] = {
      rows > 1 ? collapsed_row_stride(tensor, 2).value_or(width) : width, 1};
  return {tensor.data(), tensor.dtype(), shape, strides, tensor.device()};
}

void run(const QkNorm::Args& args, Stream stream, std::string_view variant) {
  dispatch<QkNorm>(args, stream, variant);
}

void prepare(const QkNorm::Args& args, Stream stream, std::string_view variant) {
  einkorn::prepare<QkNorm>(args, stream, variant);
}

// NOLINTNEXTLINE(readability-identifier-naming): the name that ops/variants.inc expands to
extern const OpDef definition;
constexpr OpDef definition =
    make_op<QkNorm>([](const void* args, Stream stream, std::string_view variant) {
      run(*static_cast<const QkNorm::Args*>(args), stream, variant);
    });

}  // namespace qk_norm
}  // namespace einkorn
