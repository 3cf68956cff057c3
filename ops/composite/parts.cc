#include "ops/composite/parts.h"

#include <algorithm>

#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn::composite {

void check_dtype(std::string_view op, DType dtype) {
  EK_CHECK(dtype == kF32 || dtype == kF16 || dtype == kBF16, ErrorKind::kValue,
           fmt::format("{}: dtype: expected f32, f16 or bf16, got {}", op, name(dtype)));
}

int align_of(std::int64_t rows, std::int64_t cols, std::initializer_list<TensorView> tensors,
             std::initializer_list<TensorView> vectors) {
  cpu::RowFacts facts(rows);
  for (const TensorView& tensor : tensors) facts.add_rows(tensor, cols);
  for (const TensorView& vector : vectors) facts.add_address(vector);
  return facts.align();
}

std::size_t rows_bytes(std::int64_t rows, std::int64_t cols, DType dtype) {
  return workspace_part(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols) *
                        static_cast<std::size_t>(bits(dtype) / 8));
}

TensorView like(const TensorView& model, std::byte* data) {
  return TensorView(data, model.dtype(), model.shape(), model.device());
}

Work fused_work(std::initializer_list<Work> parts, std::int64_t rows, std::int64_t cols,
                DType dtype) {
  Work out;
  out.launches = 0;
  for (const Work& part : parts) {
    out.useful_flops += part.useful_flops;
    out.executed_flops += part.executed_flops;
    out.min_bytes += part.min_bytes;
    out.est_bytes += part.est_bytes;
    out.launches += part.launches;
  }
  const double handed = static_cast<double>(rows) * static_cast<double>(cols) * bits(dtype) / 8.0;
  out.min_bytes -= 2 * handed * static_cast<double>(parts.size() - 1);
  return out;
}

Tolerance rounded(Tolerance part, DType dtype) {
  return {part.relative + unit_roundoff(dtype),
          dtype == kF16 ? part.absolute + 0x1p-25 : part.absolute};
}

TensorView Maker::rows(double deviation) const {
  TensorView out = cpu::place_rows(placement, cols, dtype, storage);
  if (deviation > 0) cpu::fill_normal(out, 0, deviation, rng);
  return out;
}

TensorView Maker::weight() const {
  TensorView out = cpu::place_vector(placement, cols, dtype, storage);
  cpu::fill_normal(out, 1, 0.2, rng);
  return out;
}

}  // namespace einkorn::composite
