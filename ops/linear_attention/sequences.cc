#include "ops/linear_attention/sequences.h"

#include <algorithm>
#include <utility>

#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn::linear_attention {
namespace {

/// Of a tensor on the CPU.
std::vector<std::int64_t> numbers_of(const TensorView& tensor) {
  const auto count = static_cast<std::size_t>(tensor.numel());
  std::vector<std::int64_t> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = tensor.dtype() == kI64 ? tensor.data_as<const std::int64_t>()[i]
                                    : tensor.data_as<const std::int32_t>()[i];
  }
  return out;
}

}  // namespace

Sequences::Sequences(std::vector<std::int64_t> bounds)
    : count_(static_cast<std::int64_t>(bounds.size()) - 1), bounds_(std::move(bounds)) {
  EK_ICHECK(!bounds_.empty() && bounds_.front() == 0, "bounds begin at 0");
}

std::int64_t Sequences::longest() const {
  if (bounds_.empty()) return count_ > 0 ? length_ : 0;
  std::int64_t out = 0;
  for (std::int64_t i = 0; i < count_; ++i) out = std::max(out, length(i));
  return out;
}

std::int64_t Sequences::blocks(std::int64_t tokens) const { return blocks_before(count_, tokens); }

std::int64_t Sequences::blocks_before(std::int64_t i, std::int64_t tokens) const {
  if (bounds_.empty()) return i * (length_ / tokens);
  std::int64_t out = 0;
  for (std::int64_t j = 0; j < i; ++j) out += length(j) / tokens;
  return out;
}

std::vector<std::int64_t> read_bounds(std::string_view op, const TensorView& bounds,
                                      const TensorView& on_cpu, std::optional<Stream> stream) {
  if (on_cpu.defined()) return numbers_of(on_cpu);
  if (bounds.device().kind == DeviceKind::kCpu) return numbers_of(bounds);
  const Tensor host = Tensor::empty(bounds.shape(), bounds.dtype(), kCpuDevice);
  try {
    // copy() waits for the legacy default stream alone.
    if (stream && stream->device.kind == DeviceKind::kCuda) cuda::synchronize(*stream);
    copy(bounds, host);
  } catch (const Error& error) {
    throw_error(error.kind(),
                fmt::format("{}: cu_seqlens: expected a tensor that can be read back, got: {}\n"
                            "  hint: while a graph is captured nothing can be; give the same "
                            "numbers on the CPU as cu_seqlens_cpu",
                            op, error.what()));
  }
  return numbers_of(host);
}

void check_bounds(std::string_view op, std::span<const std::int64_t> bounds, std::int64_t tokens) {
  EK_CHECK(bounds.front() == 0, ErrorKind::kValue,
           fmt::format("{}: cu_seqlens[0]: expected 0, got {}", op, bounds.front()));
  for (std::size_t i = 1; i < bounds.size(); ++i) {
    EK_CHECK(bounds[i] >= bounds[i - 1], ErrorKind::kValue,
             fmt::format("{0}: cu_seqlens[{1}]: expected at least cu_seqlens[{2}] = {3}, got {4}\n"
                         "  hint: sequence i is the tokens from cu_seqlens[i] to cu_seqlens[i + 1]",
                         op, i, i - 1, bounds[i - 1], bounds[i]));
  }
  EK_CHECK(bounds.back() == tokens, ErrorKind::kValue,
           fmt::format("{}: cu_seqlens[{}]: expected {}, the tokens of q, got {}", op,
                       bounds.size() - 1, tokens, bounds.back()));
}

}  // namespace einkorn::linear_attention
