#include "ops/norm/rms_norm_bwd/launch.h"

#include <algorithm>
#include <utility>

#include <einkorn/expression.h>

#include "ops/launch.h"

namespace einkorn::rms_norm_bwd {
namespace {

constexpr int kSumThreads = 1024;      // of sum_partials
constexpr int kSumColumns = 32;        // of one of its blocks
constexpr int kPartialAlign = 64;      // elements: rows of partial sums begin at 256 bytes
constexpr std::int64_t kMinSums = 64;  // partial sums that the contract asks for

}  // namespace

int vector_width(const RmsNormBwd::Problem& problem) {
  return cuda::vector_width(problem.cols, problem.dtype, 16);
}

int vectors(const RmsNormBwd::Problem& problem) {
  return static_cast<int>(problem.cols / vector_width(problem));
}

int input_bits(const RmsNormBwd::Problem& problem) {
  return 2 * bits(problem.dtype) + (problem.residual ? bits(*problem.residual) : 0);
}

std::string traits(const RmsNormBwd::Problem& problem) {
  return jit::instantiate(
      "einkorn::rms_norm_bwd::Traits",
      {problem.dtype, problem.weight, problem.residual, static_cast<int>(problem.rounding),
       problem.rstd, problem.dweight.has_value()});
}

Params make_params(const RmsNormBwd::Problem& problem, std::int64_t partial_rows) {
  Params params{};
  params.rows = problem.rows;
  params.cols = static_cast<int>(problem.cols);
  params.inverse_cols = static_cast<float>(1.0 / static_cast<double>(problem.cols));
  params.partial_rows = partial_rows;
  if (problem.dweight) {
    params.partial_stride = (problem.cols + kPartialAlign - 1) / kPartialAlign * kPartialAlign;
  }
  return params;
}

std::size_t partial_bytes(const Params& params) {
  return static_cast<std::size_t>(params.partial_rows * params.partial_stride) * sizeof(float);
}

void bind(const RmsNormBwd::Args& args, std::byte* workspace, Params& params) {
  params.dy = args.dy.data();
  params.x = args.x.data();
  params.weight = args.weight.data();
  params.residual = args.dresidual_out.data();
  params.rstd = args.rstd.data_as<float>();
  params.dx = args.dx.data();
  params.dweight = args.dweight.data();
  params.partials = reinterpret_cast<float*>(workspace);
  params.factors = reinterpret_cast<float*>(workspace + partial_bytes(params));
  params.dy_stride = cuda::row_stride(args.dy);
  params.x_stride = cuda::row_stride(args.x);
  params.residual_stride = cuda::row_stride(args.dresidual_out);
  params.dx_stride = cuda::row_stride(args.dx);
  params.eps = static_cast<float>(args.eps);
  params.offset = static_cast<float>(args.offset);
}

LaunchStage sum_stage(std::string file, const RmsNormBwd::Problem& problem, const Params& params,
                      const DeviceInfo& device) {
  const cuda::Launch launch =
      cuda::line_of_blocks((problem.cols + kSumColumns - 1) / kSumColumns, kSumThreads, device);
  LaunchStage stage = launch_stage<RmsNormBwd::Args, Params>(
      "sum_partials", std::move(file),
      jit::instantiate("einkorn::rms_norm_bwd::sum_partials", {problem.dweight}), launch, params,
      bind);
  const auto cols = static_cast<double>(problem.cols);
  const double elements = static_cast<double>(params.partial_rows) * cols;
  const int written = problem.dweight ? bits(*problem.dweight) / 8 : 0;
  stage.cost = {.flops = elements, .bytes = elements * sizeof(float) + cols * written};
  stage.needs = {.registers = registers_under_bounds(kSumThreads),
                 .static_smem = kSumColumns * (kSumColumns + 1) * std::int64_t{sizeof(float)}};
  return stage;
}

Cost gradient_cost(const RmsNormBwd::Problem& problem, const Params& params) {
  const Work work = RmsNormBwd::work(problem);
  Cost cost{.flops = work.useful_flops, .bytes = work.min_bytes};
  if (problem.dweight) {
    cost.bytes += static_cast<double>(partial_bytes(params)) -
                  static_cast<double>(problem.cols) * bits(*problem.dweight) / 8;
  }
  return cost;
}

std::int64_t staying_blocks(std::int64_t units, int blocks, const DeviceInfo& device) {
  const std::int64_t staying = std::int64_t{device.sm_count} * blocks;
  return std::min({units, std::max(staying, kMinSums), cuda::kMaxBlocks});
}

}  // namespace einkorn::rms_norm_bwd
