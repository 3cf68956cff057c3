#include "ops/composite/gated_rms_norm/contract.h"

#include <einkorn/dispatch.h>
#include <einkorn/match.h>

#include "ops/composite/parts.h"

namespace einkorn {
namespace {

constexpr DTypeSet kDTypes{kF32, kF16, kBF16};

}  // namespace

RmsNorm::Problem GatedRmsNorm::Problem::norm() const { return composite::norm_of(*this); }
SiluMul::Problem GatedRmsNorm::Problem::product() const { return composite::product_of(*this); }

GatedRmsNorm::Problem GatedRmsNorm::match(const Args& args) {
  cpu::RowNames names(kMaxCols, kDTypes);
  einkorn::match(kName, "x", args.x)
      .shape(names.lead, names.cols)
      .dtype(names.dtype)
      .on(names.device)
      .contiguous()
      .verify();
  einkorn::match(kName, "gate", args.gate)
      .shape(names.lead, names.cols)
      .dtype(names.dtype)
      .on(names.device)
      .contiguous()
      .verify();
  einkorn::match(kName, "weight", args.weight)
      .shape(names.cols)
      .dtype(names.dtype)
      .on(names.device)
      .contiguous()
      .verify();
  einkorn::match(kName, "y", args.y)
      .shape(names.lead, names.cols)
      .dtype(names.dtype)
      .on(names.device)
      .contiguous()
      .writable()
      .verify();
  cpu::check_eps(kName, args.eps);
  check_overlap(kName, "y", args.y, "x", args.x, Overlap::kNone);
  check_overlap(kName, "y", args.y, "gate", args.gate, Overlap::kExactOrNone);
  check_overlap(kName, "y", args.y, "weight", args.weight, Overlap::kNone);
  Problem problem{cpu::matched_rows(kName, "x", args.x, names, kMaxRows), names.cols.value(),
                  names.dtype.value()};
  problem.align =
      composite::align_of(problem.rows, problem.cols, {args.x, args.gate, args.y}, {args.weight});
  return problem;
}

std::vector<Key> GatedRmsNorm::keys() { return composite::keys<Problem>(); }

GatedRmsNorm::Problem GatedRmsNorm::parse(const KeyValues& pairs) {
  return composite::parse<GatedRmsNorm>(pairs);
}

std::string GatedRmsNorm::print(const Problem& problem) {
  return composite::print<GatedRmsNorm>(problem);
}

Work GatedRmsNorm::work(const Problem& problem) {
  return composite::fused_work({RmsNorm::work(problem.norm()), SiluMul::work(problem.product())},
                               problem.rows, problem.cols, problem.dtype);
}

// n is rounded to the dtype by the reference (u) and by a variant (rms_norm's tolerance), so the
// two differ by both; y is linear in n, and silu_mul adds its own. Products of errors are below
// 2^-15 of their sum. Absolutely: silu(gate) of make_inputs is below 4.
Tolerance GatedRmsNorm::tolerance(const Problem& problem) {
  const Tolerance norm = composite::rounded(RmsNorm::tolerance(problem.norm()), problem.dtype);
  const Tolerance product = SiluMul::tolerance(problem.product());
  return {norm.relative + product.relative, 4 * norm.absolute + product.absolute};
}

namespace gated_rms_norm {

void run(const GatedRmsNorm::Args& args, Stream stream, std::string_view variant) {
  dispatch<GatedRmsNorm>(args, stream, variant);
}

void prepare(const GatedRmsNorm::Args& args, Stream stream, std::string_view variant) {
  einkorn::prepare<GatedRmsNorm>(args, stream, variant);
}

// NOLINTNEXTLINE(readability-identifier-naming): the name that ops/variants.inc expands to
extern const OpDef definition;
constexpr OpDef definition =
    make_op<GatedRmsNorm>([](const void* args, Stream stream, std::string_view variant) {
      run(*static_cast<const GatedRmsNorm::Args*>(args), stream, variant);
    });

}  // namespace gated_rms_norm
}  // namespace einkorn
