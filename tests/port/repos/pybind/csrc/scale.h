#pragma once

#include <torch/extension.h>

namespace rowops::kernels {

enum class Type { kFloat, kHalf };

struct View {
  void* data;
  long rows;
  long columns;
  Type type;
};

constexpr int kLargestWidth = 8192;

View view_of(torch::Tensor& tensor);
void scale_rows(View x, View factors, View out, bool negate);
void row_sums(View x, View out);

}  // namespace rowops::kernels
