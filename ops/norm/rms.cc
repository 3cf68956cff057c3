#include "ops/norm/rms.h"

#include <cmath>

#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn::rms {

void check_scalars(std::string_view op, double eps, int offset, Rounding rounding) {
  cpu::check_eps(op, eps);
  EK_CHECK(offset == 0 || offset == 1, ErrorKind::kValue,
           fmt::format("{}: offset value: expected 0 or 1, got {}\n"
                       "  hint: 1 is for weights that start from zero (gemma), 0 for all others",
                       op, offset));
  EK_CHECK(static_cast<unsigned>(rounding) < EnumNames<Rounding>::kNames.size(), ErrorKind::kValue,
           fmt::format("{}: rounding value: expected llama, gemma or none, got the number {}", op,
                       static_cast<unsigned>(rounding)));
}

void match_weight(std::string_view op, const TensorView& weight, cpu::RowNames& names) {
  if (!weight.defined()) return;
  cpu::match_vector(op, Role::kInput, "weight", weight, names, kF32, kF16, kBF16, kF64);
}

void match_rstd(std::string_view op, const TensorView& rstd, cpu::RowNames& names) {
  if (!rstd.defined()) return;
  match(op, "rstd", rstd)
      .shape(names.lead)
      .dtype(names.dtype.value() == kF64 ? kF64 : kF32)
      .on(names.device)
      .contiguous()
      .verify();
}

void check_all_or_no_f64(std::string_view op, DType x, std::string_view argument,
                         std::optional<DType> dtype) {
  cpu::check_all_or_no_f64(op, "x", x, argument, dtype);
}

double sum_error(std::int64_t cols) { return 128 + std::log2(static_cast<double>(cols)) + 3; }

double reciprocal_error(std::int64_t cols) { return sum_error(cols) / 2 + 4; }

double flips(Rounding rounding) {
  return rounding == Rounding::kLlama ? 2 : rounding == Rounding::kNone ? 4 : 0;
}

}  // namespace einkorn::rms
