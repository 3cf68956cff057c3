#include "ops/composite/gated_norm_pair/contract.h"

#include <einkorn/dispatch.h>
#include <einkorn/match.h>

#include "ops/composite/parts.h"

namespace einkorn {
namespace {

constexpr DTypeSet kDTypes{kF32, kF16, kBF16};

}  // namespace

RmsNorm::Problem GatedNormPair::Problem::norm() const { return composite::norm_of(*this); }
SiluMul::Problem GatedNormPair::Problem::product() const { return composite::product_of(*this); }

GatedNormPair::Problem GatedNormPair::match(const Args& args) {
  cpu::RowNames names(kMaxCols, kDTypes);
  einkorn::match(kName, "gate", args.gate)
      .shape(names.lead, names.cols)
      .dtype(names.dtype)
      .on(names.device)
      .contiguous()
      .verify();
  einkorn::match(kName, "up", args.up)
      .shape(names.lead, names.cols)
      .dtype(names.dtype)
      .on(names.device)
      .contiguous()
      .verify();
  einkorn::match(kName, "gate_weight", args.gate_weight)
      .shape(names.cols)
      .dtype(names.dtype)
      .on(names.device)
      .contiguous()
      .verify();
  einkorn::match(kName, "up_weight", args.up_weight)
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
  check_overlap(kName, "y", args.y, "gate", args.gate, Overlap::kExactOrNone);
  check_overlap(kName, "y", args.y, "up", args.up, Overlap::kExactOrNone);
  check_overlap(kName, "y", args.y, "gate_weight", args.gate_weight, Overlap::kNone);
  check_overlap(kName, "y", args.y, "up_weight", args.up_weight, Overlap::kNone);
  Problem problem{cpu::matched_rows(kName, "gate", args.gate, names, kMaxRows), names.cols.value(),
                  names.dtype.value()};
  problem.align = composite::align_of(problem.rows, problem.cols, {args.gate, args.up, args.y},
                                      {args.gate_weight, args.up_weight});
  return problem;
}

std::vector<Key> GatedNormPair::keys() { return composite::keys<Problem>(); }

GatedNormPair::Problem GatedNormPair::parse(const KeyValues& pairs) {
  return composite::parse<GatedNormPair>(pairs);
}

std::string GatedNormPair::print(const Problem& problem) {
  return composite::print<GatedNormPair>(problem);
}

Work GatedNormPair::work(const Problem& problem) {
  return composite::fused_work({RmsNorm::work(problem.norm()), RmsNorm::work(problem.norm()),
                                SiluMul::work(problem.product())},
                               problem.rows, problem.cols, problem.dtype);
}

// g and u are rounded to the dtype by the reference (u) and by a variant (rms_norm's tolerance), so
// that the two differ by both. y is linear in u. In g a relative error e grows by the condition of
// silu, |1 + g (1 - sigmoid(g))|, at most 1 + |g| and, with make_inputs, whose rows stay within 3.5
// deviations and weights within 1.7, at most 7. Absolutely: |silu'| < 1.1, and each factor is below
// 6, so an error of either factor comes out at most 6.6 times.
Tolerance GatedNormPair::tolerance(const Problem& problem) {
  const Tolerance norm = composite::rounded(RmsNorm::tolerance(problem.norm()), problem.dtype);
  const Tolerance product = SiluMul::tolerance(problem.product());
  return {8 * norm.relative + product.relative, 2 * 6.6 * norm.absolute + product.absolute};
}

namespace gated_norm_pair {

void run(const GatedNormPair::Args& args, Stream stream, std::string_view variant) {
  dispatch<GatedNormPair>(args, stream, variant);
}

void prepare(const GatedNormPair::Args& args, Stream stream, std::string_view variant) {
  einkorn::prepare<GatedNormPair>(args, stream, variant);
}

// NOLINTNEXTLINE(readability-identifier-naming): the name that ops/variants.inc expands to
extern const OpDef definition;
constexpr OpDef definition =
    make_op<GatedNormPair>([](const void* args, Stream stream, std::string_view variant) {
      run(*static_cast<const GatedNormPair::Args*>(args), stream, variant);
    });

}  // namespace gated_norm_pair
}  // namespace einkorn
