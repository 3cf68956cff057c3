#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

#include <dlpack/dlpack.h>
#include <einkorn/device.h>
#include <einkorn/dtype.h>

namespace einkorn {

inline constexpr int kMaxRank = 8;

/// A strided array that somebody else owns. Holds its own copy of shape and strides, so it stays
/// valid when the DLTensor it was made from goes; the data must outlive its use.
///
/// A default-constructed view is "no tensor": how optional arguments are left out.
class TensorView {
 public:
  TensorView() = default;

  /// Takes shape, strides (null: contiguous) and byte_offset from DLPack.
  /// TypeError: rank over 8, unknown dtype or device. ValueError: negative size.
  TensorView(const DLTensor& tensor);  // NOLINT(google-explicit-constructor): the exchange type

  /// Contiguous, row-major.
  TensorView(void* data, DType dtype, std::span<const std::int64_t> shape, Device device);
  TensorView(void* data, DType dtype, std::initializer_list<std::int64_t> shape, Device device)
      : TensorView(data, dtype, std::span(shape.begin(), shape.size()), device) {}

  /// Strides in elements, one for each dimension.
  TensorView(void* data, DType dtype, std::span<const std::int64_t> shape,
             std::span<const std::int64_t> strides, Device device);

  bool defined() const { return rank_ >= 0; }
  explicit operator bool() const { return defined(); }

  /// Address of the first element, byte offset applied.
  void* data() const { return data_; }
  template <class T>
  T* data_as() const {
    return static_cast<T*>(data_);
  }
  DType dtype() const { return dtype_; }
  Device device() const { return device_; }
  int rank() const { return rank_ < 0 ? 0 : rank_; }

  /// Size and stride (in elements) of a dimension; negative counts from the last.
  /// ValueError when out of range.
  std::int64_t size(int dim) const;
  std::int64_t stride(int dim) const;
  std::span<const std::int64_t> shape() const {
    return {shape_.data(), static_cast<std::size_t>(rank())};
  }
  std::span<const std::int64_t> strides() const {
    return {strides_.data(), static_cast<std::size_t>(rank())};
  }

  std::int64_t numel() const;
  /// Bytes the elements take, gaps between strided rows not counted.
  std::size_t nbytes() const;
  /// Row-major without gaps; dimensions of size 1 may have any stride, empty tensors always are.
  bool is_contiguous() const;

  /// Lowest and one-past-highest address of any element; equal when empty.
  struct Extent {
    std::uintptr_t begin, end;
  };
  Extent extent() const;

  /// `[start, stop)` of one dimension, and dimensions exchanged; no data moves.
  TensorView slice(int dim, std::int64_t start, std::int64_t stop) const;
  TensorView transpose(int dim0, int dim1) const;

  /// Points into this view: valid while it lives.
  DLTensor dlpack() const;

 private:
  void* data_ = nullptr;
  std::array<std::int64_t, kMaxRank> shape_{};
  std::array<std::int64_t, kMaxRank> strides_{};
  int rank_ = -1;
  DType dtype_ = DType::kF32;
  Device device_{};
};

/// "Tensor<8192, 64, 576>[bf16, cuda:0, strides 36864,576,1]"; "no tensor" when undefined.
std::string to_string(const TensorView& tensor);

/// Memory of a device, by the device's own allocator. Registered once by each backend
/// (`src/core/allocator.h`), so that core knows no driver.
class Tensor {
 public:
  Tensor() = default;

  /// Uninitialised and contiguous, aligned to 256 bytes. ValueError for a negative size;
  /// RuntimeError when the memory or the device is not to be had.
  static Tensor empty(std::span<const std::int64_t> shape, DType dtype, Device device);
  static Tensor empty(std::initializer_list<std::int64_t> shape, DType dtype, Device device) {
    return empty(std::span(shape.begin(), shape.size()), dtype, device);
  }

  const TensorView& view() const { return view_; }
  operator const TensorView&() const { return view_; }  // NOLINT(google-explicit-constructor)
  bool defined() const { return view_.defined(); }

  /// A contiguous copy on `device`; returns when the bytes are there.
  Tensor to(Device device) const;

  /// Sets every byte, gaps included.
  void fill_bytes(std::uint8_t value);

 private:
  std::shared_ptr<void> storage_;
  TensorView view_;
};

/// Bytes between two contiguous tensors of equal shape and dtype, on any devices; synchronous.
void copy(const TensorView& source, const TensorView& destination);

}  // namespace einkorn
