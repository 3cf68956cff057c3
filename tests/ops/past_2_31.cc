#include <array>

#include <gtest/gtest.h>

#include <einkorn/cuda.h>
#include <fmt/format.h>

#include "tests/ops/support.h"

namespace einkorn::test {
namespace {

constexpr std::int64_t kBlockRows = 64;

/// Tensors of many rows in which one block of rows is repeated at three places.
struct Large {
  CaseData data;
  std::array<std::int64_t, 3> starts{};  ///< first rows of the blocks
};

/// Whether a tensor of the block's case has one row for each of the problem's.
bool has_rows(const TensorView& view) { return view.rank() >= 2 && view.size(0) == kBlockRows; }

Large make_large(const OpDef& op, const CaseData& block, std::int64_t cols, Device device) {
  const std::int64_t middle = (std::int64_t{1} << 31) / cols;
  const std::int64_t rows = middle + 2 * kBlockRows;
  Large out;
  out.starts = {0, middle - kBlockRows / 2, rows - kBlockRows};
  out.data.args = op.copy_args(block.args.get());
  for (NamedTensor& tensor : op.tensors(out.data.args.get())) {
    TensorView& view = *tensor.view;
    if (!has_rows(view)) {
      const Tensor copied = Tensor::empty(view.shape(), view.dtype(), device);
      copy(view, copied.view());
      out.data.storage.push_back(copied);
      view = copied.view();
      continue;
    }
    Tensor large = Tensor::empty({rows, view.size(1)}, view.dtype(), device);
    large.fill_bytes(0x3C);  // about 0.01 in every floating format: other rows are ordinary, too
    for (const std::int64_t start : out.starts) {
      copy(view, large.view().slice(0, start, start + kBlockRows));
    }
    out.data.storage.push_back(large);
    view = large.view();
  }
  return out;
}

void poison(const OpDef& op, const Large& large) {
  const auto tensors = op.tensors(large.data.args.get());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].role != Role::kOutput) continue;
    Tensor storage = large.data.storage[i];
    storage.fill_bytes(0xFF);
  }
}

void compare_blocks(const OpEntry& entry, const measure::Prepared& block, const Large& large,
                    std::string_view variant) {
  const auto got = entry.op->tensors(large.data.args.get());
  const auto want = entry.op->tensors(block.expected.args.get());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i].role != Role::kOutput) continue;
    for (const std::int64_t start : large.starts) {
      const TensorView rows = got[i].view->slice(0, start, start + kBlockRows);
      const Tensor host = Tensor::empty(rows.shape(), rows.dtype(), kCpuDevice);
      copy(rows, host.view());
      const auto result = measure::compare(host.view(), *want[i].view, block.tolerance);
      EXPECT_LE(result.error, 1) << variant << ": " << got[i].name << " in rows from " << start
                                 << ": got " << result.got << ", want " << result.want;
    }
  }
}

}  // namespace

void expect_right_past_2_31(const OpEntry& entry, std::string_view keys) {
  if (test_level() < 3) GTEST_SKIP() << "large: runs with EINKORN_TEST_LEVEL=3";
  std::string reason;
  if (!cuda::available(&reason)) GTEST_SKIP() << reason;
  const std::string block_keys = fmt::format("rows={} {}", kBlockRows, keys);
  const CaseData data = make_data(entry, block_keys);
  const measure::Prepared block = measure::prepare(entry, data, block_keys);
  const Device device = cuda_device(0);
  const Large large =
      make_large(*entry.op, data, entry.op->tensors(data.args.get())[0].view->size(1), device);
  const AnyProblem problem = entry.op->match(large.data.args.get());
  const cuda::OwnedStream stream(device.index);
  int served = 0;
  for (const Variant* variant : entry.variants) {
    if (refusal_of(*variant, problem.get(), device_info(device))) continue;
    poison(*entry.op, large);
    entry.op->call(large.data.args.get(), stream.get(), variant->name());
    stream.synchronize();
    compare_blocks(entry, block, large, variant->id());
    ++served;
  }
  EXPECT_GT(served, 0);
}

}  // namespace einkorn::test
