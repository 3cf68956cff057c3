// The smallest call of an op from C++: two rows on the CPU.

#include <cstdio>
#include <exception>

#include <einkorn/error.h>
#include <einkorn/tensor.h>

#include "ops/norm/rms_norm/contract.h"

namespace {

void normalise_two_rows() {
  using namespace einkorn;  // NOLINT(google-build-using-namespace): an example reads better so
  const Tensor x = Tensor::empty({2, 4}, kF32, kCpuDevice);
  const Tensor y = Tensor::empty({2, 4}, kF32, kCpuDevice);
  auto* values = x.view().data_as<float>();
  for (int i = 0; i < 8; ++i) values[i] = static_cast<float>(i + 1);

  RmsNorm::Args args;
  args.x = x;
  args.y = y;  // outputs are arguments; the weight is left out
  rms_norm::run(args, Stream::cpu());

  const auto* result = y.view().data_as<const float>();
  for (int row = 0; row < 2; ++row) {
    for (int col = 0; col < 4; ++col) {
      std::printf("%s%.4f", col == 0 ? "" : " ", static_cast<double>(result[row * 4 + col]));
    }
    std::printf("\n");
  }

  // What is wrong is said by name, and nothing is written.
  args.y = Tensor::empty({2, 5}, kF32, kCpuDevice);
  try {
    rms_norm::run(args, Stream::cpu());
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
  }
}

}  // namespace

int main() {
  try {
    normalise_two_rows();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
