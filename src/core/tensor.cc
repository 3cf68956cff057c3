#include <einkorn/tensor.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/core/allocator.h"

namespace einkorn {
namespace {

// A view reaches fewer than 2^55 elements, so that its reach in bits fits in 64 bits whatever the
// dtype: offsets and overlaps can then be computed without a check at each step.
constexpr std::int64_t kMaxReach = std::int64_t{1} << 55;

int checked_rank(std::size_t rank) {
  EK_CHECK(rank <= kMaxRank, ErrorKind::kType,
           fmt::format("tensor rank: expected at most {}, got {}", kMaxRank, rank));
  return static_cast<int>(rank);
}

DType checked_dtype(DLDataType dtype) {
  const auto known = from_dlpack(dtype);
  EK_CHECK(known.has_value(), ErrorKind::kType,
           fmt::format("tensor dtype: expected a type einkorn knows, got DLPack type code {}, bits "
                       "{}, lanes {}",
                       dtype.code, dtype.bits, dtype.lanes));
  return *known;
}

[[noreturn]] void throw_too_many(std::span<const std::int64_t> shape) {
  throw_error(ErrorKind::kValue,
              fmt::format("tensor size: expected fewer than 2^63 elements, got shape {}",
                          fmt::join(shape, ", ")));
}

[[noreturn]] void throw_too_far(std::span<const std::int64_t> shape,
                                std::span<const std::int64_t> strides) {
  throw_error(ErrorKind::kValue,
              fmt::format("tensor size: expected strides that reach over fewer than 2^55 elements, "
                          "got {} for shape {}",
                          fmt::join(strides, ","), fmt::join(shape, ", ")));
}

void check_sizes(std::span<const std::int64_t> shape) {
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    EK_CHECK(shape[dim] >= 0, ErrorKind::kValue,
             fmt::format("tensor dim {}: expected at least 0, got {}", dim, shape[dim]));
  }
}

/// Empty dimensions count as 1: an empty tensor must not hide a nonsensical size.
void check_reach(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides) {
  std::int64_t count = 1;
  for (std::int64_t size : shape) {
    if (__builtin_mul_overflow(count, std::max<std::int64_t>(size, 1), &count)) [[unlikely]] {
      throw_too_many(shape);
    }
  }
  std::int64_t reach = 0;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    const std::int64_t steps = std::max<std::int64_t>(shape[dim], 1) - 1;
    std::int64_t distance = 0;
    if (strides[dim] == std::numeric_limits<std::int64_t>::min() ||
        __builtin_mul_overflow(steps, std::abs(strides[dim]), &distance) ||
        __builtin_add_overflow(reach, distance, &reach) || reach >= kMaxReach) [[unlikely]] {
      throw_too_far(shape, strides);
    }
  }
}

/// Wraps rather than overflows: check_reach then refuses the sizes, whose product is larger still.
void set_contiguous(std::span<const std::int64_t> shape, std::int64_t* strides) {
  std::uint64_t stride = 1;
  for (std::size_t dim = shape.size(); dim-- > 0;) {
    strides[dim] = static_cast<std::int64_t>(stride);
    stride *= static_cast<std::uint64_t>(std::max<std::int64_t>(shape[dim], 1));
  }
}

int checked_dim(const TensorView& tensor, int dim) {
  const int rank = tensor.rank();
  EK_CHECK(dim >= -rank && dim < rank, ErrorKind::kValue,
           fmt::format("tensor dim: expected in [{}, {}], got {}\n  tensor: {}", -rank, rank - 1,
                       dim, to_string(tensor)));
  return dim < 0 ? dim + rank : dim;
}

void* offset_bytes(void* data, std::int64_t bytes) {
  // By integer: the address may be on another device, where pointer arithmetic means nothing.
  return reinterpret_cast<void*>(  // NOLINT(performance-no-int-to-ptr)
      reinterpret_cast<std::uintptr_t>(data) + static_cast<std::uintptr_t>(bytes));
}

}  // namespace

TensorView::TensorView(const DLTensor& tensor)
    : data_(tensor.data),
      rank_(checked_rank(static_cast<std::size_t>(std::max(tensor.ndim, 0)))),
      dtype_(checked_dtype(tensor.dtype)),
      device_(from_dlpack(tensor.device)) {
  EK_CHECK(tensor.ndim >= 0, ErrorKind::kType,
           fmt::format("tensor rank: expected at least 0, got {}", tensor.ndim));
  EK_CHECK(tensor.shape != nullptr || rank_ == 0, ErrorKind::kValue,
           fmt::format("tensor shape: expected {} sizes, got null", rank_));
  if (data_ != nullptr) data_ = offset_bytes(data_, static_cast<std::int64_t>(tensor.byte_offset));
  std::copy_n(tensor.shape, rank_, shape_.begin());
  check_sizes(shape());
  if (tensor.strides != nullptr) {
    std::copy_n(tensor.strides, rank_, strides_.begin());
  } else {
    set_contiguous(shape(), strides_.data());
  }
  check_reach(shape(), strides());
}

TensorView::TensorView(void* data, DType dtype, std::span<const std::int64_t> shape, Device device)
    : data_(data), rank_(checked_rank(shape.size())), dtype_(dtype), device_(device) {
  check_sizes(shape);
  std::copy(shape.begin(), shape.end(), shape_.begin());
  set_contiguous(shape, strides_.data());
  check_reach(shape, strides());
}

TensorView::TensorView(void* data, DType dtype, std::span<const std::int64_t> shape,
                       std::span<const std::int64_t> strides, Device device)
    : data_(data), rank_(checked_rank(shape.size())), dtype_(dtype), device_(device) {
  EK_CHECK(shape.size() == strides.size(), ErrorKind::kValue,
           fmt::format("tensor strides: expected {} of them, one for each dimension, got {}",
                       shape.size(), strides.size()));
  check_sizes(shape);
  std::copy(shape.begin(), shape.end(), shape_.begin());
  std::copy(strides.begin(), strides.end(), strides_.begin());
  check_reach(shape, strides);
}

std::int64_t TensorView::size(int dim) const {
  return shape_[static_cast<std::size_t>(checked_dim(*this, dim))];
}

std::int64_t TensorView::stride(int dim) const {
  return strides_[static_cast<std::size_t>(checked_dim(*this, dim))];
}

std::int64_t TensorView::numel() const {
  if (!defined()) return 0;
  std::int64_t count = 1;
  for (std::int64_t size : shape()) count *= size;
  return count;
}

std::size_t TensorView::nbytes() const { return bytes_for(dtype_, numel()); }

bool TensorView::is_contiguous() const {
  std::int64_t expected = 1;
  bool gapless = true;
  for (std::size_t dim = shape().size(); dim-- > 0;) {
    if (shape_[dim] == 0) return true;
    if (shape_[dim] != 1 && strides_[dim] != expected) gapless = false;
    expected *= shape_[dim];
  }
  return gapless;
}

TensorView::Extent TensorView::extent() const {
  const auto base = reinterpret_cast<std::uintptr_t>(data_);
  if (numel() == 0) return {base, base};
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (std::size_t dim = 0; dim < shape().size(); ++dim) {
    const std::int64_t last = (shape_[dim] - 1) * strides_[dim];
    (last < 0 ? low : high) += last;
  }
  const std::int64_t width = bits(dtype_);
  // Rounded outwards to whole bytes; >> rounds down for negative values, too.
  return {base + static_cast<std::uintptr_t>((low * width) >> 3),
          base + static_cast<std::uintptr_t>(((high + 1) * width + 7) >> 3)};
}

TensorView TensorView::slice(int dim, std::int64_t start, std::int64_t stop) const {
  const auto at = static_cast<std::size_t>(checked_dim(*this, dim));
  EK_CHECK(start >= 0 && start <= stop && stop <= shape_[at], ErrorKind::kValue,
           fmt::format("slice of dim {}: expected 0 <= start <= stop <= {}, got start {}, stop {}",
                       at, shape_[at], start, stop));
  TensorView result = *this;
  result.shape_[at] = stop - start;
  if (start == stop) return result;  // empty: keeps the address, which then stays valid
  const std::int64_t offset_bits = start * strides_[at] * bits(dtype_);
  EK_CHECK(offset_bits % 8 == 0, ErrorKind::kValue,
           fmt::format("slice of dim {}: expected a start on a whole byte, got element {} of {}\n"
                       "  tensor: {}",
                       at, start, name(dtype_), to_string(*this)));
  if (data_ != nullptr) result.data_ = offset_bytes(data_, offset_bits / 8);
  return result;
}

TensorView TensorView::transpose(int dim0, int dim1) const {
  const auto first = static_cast<std::size_t>(checked_dim(*this, dim0));
  const auto second = static_cast<std::size_t>(checked_dim(*this, dim1));
  TensorView result = *this;
  std::swap(result.shape_[first], result.shape_[second]);
  std::swap(result.strides_[first], result.strides_[second]);
  return result;
}

DLTensor TensorView::dlpack() const {
  DLTensor tensor{};
  tensor.data = data_;
  tensor.device = to_dlpack(device_);
  tensor.ndim = rank();
  tensor.dtype = to_dlpack(dtype_);
  // DLPack has no const here; whoever takes the tensor may not write its shape.
  tensor.shape = const_cast<std::int64_t*>(shape_.data());
  tensor.strides = const_cast<std::int64_t*>(strides_.data());
  tensor.byte_offset = 0;
  return tensor;
}

std::string to_string(const TensorView& tensor) {
  if (!tensor.defined()) return "no tensor";
  const std::string strides =
      tensor.rank() == 0 ? "" : fmt::format(", strides {}", fmt::join(tensor.strides(), ","));
  return fmt::format("Tensor<{}>[{}, {}{}]", fmt::join(tensor.shape(), ", "), name(tensor.dtype()),
                     to_string(tensor.device()), strides);
}

Tensor Tensor::empty(std::span<const std::int64_t> shape, DType dtype, Device device) {
  Tensor result;
  result.view_ = TensorView(nullptr, dtype, shape, device);  // checks before memory is asked for
  Allocator& from = allocator(device.kind);
  const int index = device.index;
  void* data = from.allocate(result.view_.nbytes(), index);
  // shared_ptr calls the deleter itself if making its control block throws.
  result.storage_ =
      std::shared_ptr<void>(data, [&from, index](void* p) { from.deallocate(p, index); });
  result.view_ = TensorView(data, dtype, shape, device);
  return result;
}

Tensor Tensor::to(Device device) const {
  EK_CHECK(defined(), ErrorKind::kType, "tensor: expected a tensor, got no tensor");
  Tensor result = empty(view_.shape(), view_.dtype(), device);
  copy(view_, result.view_);
  return result;
}

void Tensor::fill_bytes(std::uint8_t value) {
  const std::size_t bytes = view_.nbytes();
  if (bytes == 0) return;
  allocator(view_.device().kind).fill(view_.data(), value, bytes, view_.device().index);
}

void copy(const TensorView& source, const TensorView& destination) {
  const auto both = [&] {
    return fmt::format("  source: {}\n  destination: {}", to_string(source),
                       to_string(destination));
  };
  EK_CHECK(source.defined() && destination.defined(), ErrorKind::kType,
           fmt::format("copy: expected two tensors, got no tensor\n{}", both()));
  EK_CHECK(source.dtype() == destination.dtype(), ErrorKind::kType,
           fmt::format("copy: destination dtype: expected {} (from source), got {}\n{}",
                       name(source.dtype()), name(destination.dtype()), both()));
  EK_CHECK(
      std::ranges::equal(source.shape(), destination.shape()), ErrorKind::kValue,
      fmt::format("copy: destination shape: expected {} (from source), got {}\n{}",
                  fmt::join(source.shape(), ", "), fmt::join(destination.shape(), ", "), both()));
  EK_CHECK(source.is_contiguous() && destination.is_contiguous(), ErrorKind::kValue,
           fmt::format("copy: {} strides: expected a contiguous tensor, got strides {}\n{}",
                       source.is_contiguous() ? "destination" : "source",
                       fmt::join((source.is_contiguous() ? destination : source).strides(), ","),
                       both()));
  const std::size_t bytes = source.nbytes();
  if (bytes == 0) return;
  EK_CHECK(source.data() != nullptr && destination.data() != nullptr, ErrorKind::kValue,
           fmt::format("copy: {} data: expected an address, got null\n{}",
                       source.data() == nullptr ? "source" : "destination", both()));
  const bool on_host =
      source.device().kind == DeviceKind::kCpu && destination.device().kind == DeviceKind::kCpu;
  allocator(on_host ? DeviceKind::kCpu : DeviceKind::kCuda)
      .copy(destination.data(), destination.device(), source.data(), source.device(), bytes);
}

}  // namespace einkorn
