#include "src/measure/memory.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/core/float.h"
#include "src/measure/check.h"
#include "src/measure/runs.h"

namespace einkorn::measure {
namespace {

constexpr std::uint8_t kGuardValue = 0xA5;

std::byte* bytes_of(const TensorView& view) { return static_cast<std::byte*>(view.data()); }

std::uintptr_t address(const TensorView& view) {
  return reinterpret_cast<std::uintptr_t>(view.data());
}

/// Index of the allocation that holds the view's first element; nothing for an empty view outside
/// of all of them.
std::optional<std::size_t> storage_of(const CaseData& data, const NamedTensor& tensor) {
  const std::uintptr_t start = address(*tensor.view);
  for (std::size_t i = 0; i < data.storage.size(); ++i) {
    if (!data.storage[i].defined()) continue;
    const TensorView& memory = data.storage[i].view();
    const std::uintptr_t begin = address(memory);
    if (start >= begin && start < begin + std::max<std::size_t>(memory.nbytes(), 1)) return i;
  }
  EK_ICHECK(tensor.view->numel() == 0,
            fmt::format("argument {} points into no allocation of its case: {}", tensor.name,
                        to_string(*tensor.view)));
  return std::nullopt;
}

/// The case with each allocation replaced; what lay at byte b of the old one lies at b + shift of
/// the new one.
CaseData rebase(const OpDef& op, const CaseData& data, std::vector<Tensor> storage,
                std::size_t shift, Device device) {
  CaseData out{op.copy_args(data.args.get()), std::move(storage)};
  for (NamedTensor& tensor : op.tensors(out.args.get())) {
    TensorView& view = *tensor.view;
    void* start = view.data();
    if (const auto index = storage_of(data, tensor)) {
      const std::size_t offset = address(view) - address(data.storage[*index].view());
      start = bytes_of(out.storage[*index].view()) + shift + offset;
    }
    const TensorView old = view;
    view = TensorView(start, old.dtype(), old.shape(), old.strides(), device);
  }
  return out;
}

bool overlaps_input(const TensorView& output, const std::vector<NamedTensor>& tensors) {
  const auto out = output.extent();
  return std::ranges::any_of(tensors, [&](const NamedTensor& tensor) {
    if (!is_read(tensor.role)) return false;
    const auto in = tensor.view->extent();
    return out.begin < in.end && in.begin < out.end;
  });
}

std::int64_t element_bytes(const TensorView& view) {
  EK_ICHECK(bits(view.dtype()) % 8 == 0,
            fmt::format("elements of whole bytes expected, got {}", to_string(view)));
  return bits(view.dtype()) / 8;
}

/// Calls f(offset, bytes) for each stretch of adjacent bytes that belongs to the view's elements;
/// the offset is from the view's data.
template <class F>
void for_each_stretch(const TensorView& view, F&& f) {
  const std::int64_t size = element_bytes(view);
  for_each_run(view,
               [&](std::int64_t, std::int64_t offset, std::int64_t count, std::int64_t stride) {
                 if (stride == 1) {
                   f(offset * size, static_cast<std::size_t>(count * size));
                   return;
                 }
                 for (std::int64_t i = 0; i < count; ++i) {
                   f((offset + i * stride) * size, static_cast<std::size_t>(size));
                 }
               });
}

/// Copies elements to contiguous f64.
void widen(const TensorView& from, const TensorView& to) {
  auto* out = to.data_as<double>();
  for_each_run(
      from, [&](std::int64_t first, std::int64_t offset, std::int64_t count, std::int64_t stride) {
        for (std::int64_t i = 0; i < count; ++i) {
          out[first + i] = load_as_double(from, offset + i * stride);
        }
      });
}

/// Says what byte `index` of a guarded allocation is.
std::string describe_byte(const OpDef& op, const CaseData& data, const TensorView& memory,
                          std::size_t index) {
  const std::uintptr_t byte = address(memory) + index;
  std::string gap;
  for (const NamedTensor& tensor : op.tensors(data.args.get())) {
    const auto extent = tensor.view->extent();
    if (byte < extent.begin || byte >= extent.end) continue;
    if (tensor.role == Role::kInput) {
      return fmt::format("input {} was changed, {} bytes after its first element", tensor.name,
                         byte - address(*tensor.view));
    }
    gap = fmt::format("wrote between the rows of {}, {} bytes after its first element", tensor.name,
                      byte - address(*tensor.view));
  }
  if (!gap.empty()) return gap;
  std::string names;
  for (const NamedTensor& tensor : op.tensors(data.args.get())) {
    const auto extent = tensor.view->extent();
    if (extent.begin < address(memory) || extent.begin >= address(memory) + memory.nbytes()) {
      continue;
    }
    names += fmt::format("{}{}", names.empty() ? "" : ", ", tensor.name);
  }
  const auto first = static_cast<std::int64_t>(kGuardBytes);
  const auto size = static_cast<std::int64_t>(memory.nbytes()) - 2 * first;
  const std::int64_t position = static_cast<std::int64_t>(index) - first;
  if (position < 0) return fmt::format("wrote {} bytes before the memory of {}", -position, names);
  if (position < size) return fmt::format("wrote outside of {}, at byte {}", names, position);
  return fmt::format("wrote {} bytes after the end of the memory of {}", position - size, names);
}

}  // namespace

CaseData clone_to(const OpDef& op, const CaseData& data, Device device) {
  std::vector<Tensor> storage;
  storage.reserve(data.storage.size());
  for (const Tensor& tensor : data.storage) {
    storage.push_back(tensor.defined() ? tensor.to(device) : Tensor{});
  }
  return rebase(op, data, std::move(storage), 0, device);
}

CaseData with_double_outputs(const OpDef& op, const CaseData& data) {
  CaseData out{op.copy_args(data.args.get()), data.storage};
  for (NamedTensor& tensor : op.tensors(out.args.get())) {
    if (!is_written(tensor.role)) continue;
    Tensor replacement = Tensor::empty(tensor.view->shape(), kF64, kCpuDevice);
    if (is_read(tensor.role)) widen(*tensor.view, replacement.view());
    *tensor.view = replacement.view();
    out.storage.push_back(std::move(replacement));
  }
  return out;
}

CaseData with_guards(const OpDef& op, const CaseData& data) {
  std::vector<Tensor> storage;
  storage.reserve(data.storage.size());
  for (const Tensor& tensor : data.storage) {
    if (!tensor.defined()) {
      storage.emplace_back();
      continue;
    }
    const std::size_t bytes = tensor.view().nbytes();
    const auto total = static_cast<std::int64_t>(bytes + 2 * kGuardBytes);
    Tensor guarded = Tensor::empty({total}, kU8, kCpuDevice);
    std::byte* start = bytes_of(guarded.view());
    std::memset(start, kGuardValue, kGuardBytes);
    if (bytes > 0) std::memcpy(start + kGuardBytes, tensor.view().data(), bytes);
    std::memset(start + kGuardBytes + bytes, kGuardValue, kGuardBytes);
    storage.push_back(std::move(guarded));
  }
  return rebase(op, data, std::move(storage), kGuardBytes, kCpuDevice);
}

void poison_outputs(const OpDef& op, const CaseData& data, std::uint8_t value) {
  const auto tensors = op.tensors(data.args.get());
  for (const NamedTensor& tensor : tensors) {
    if (tensor.role != Role::kOutput || overlaps_input(*tensor.view, tensors)) continue;
    for_each_stretch(*tensor.view, [&](std::int64_t offset, std::size_t bytes) {
      std::memset(bytes_of(*tensor.view) + offset, value, bytes);
    });
  }
}

void copy_outputs(const OpDef& op, const CaseData& source, const CaseData& destination) {
  const auto from = op.tensors(source.args.get());
  const auto to = op.tensors(destination.args.get());
  EK_ICHECK(from.size() == to.size(), "clones of different cases");
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!is_written(from[i].role)) continue;
    for_each_stretch(*from[i].view, [&](std::int64_t offset, std::size_t bytes) {
      std::memcpy(bytes_of(*to[i].view) + offset, bytes_of(*from[i].view) + offset, bytes);
    });
  }
}

std::string element_name(const TensorView& view, std::int64_t index) {
  std::string out;
  for (int dim = view.rank() - 1; dim >= 0; --dim) {
    out = fmt::format("{}{}{}", index % view.size(dim), out.empty() ? "" : ", ", out);
    index /= view.size(dim);
  }
  return "[" + out + "]";
}

std::string find_output_difference(const OpDef& op, const CaseData& first, const CaseData& second) {
  const auto left = op.tensors(first.args.get());
  const auto right = op.tensors(second.args.get());
  EK_ICHECK(left.size() == right.size(), "clones of different cases");
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!is_written(left[i].role)) continue;
    const TensorView& view = *left[i].view;
    const std::int64_t size = element_bytes(view);
    std::int64_t found = -1;
    for_each_run(view, [&](std::int64_t start, std::int64_t offset, std::int64_t count,
                           std::int64_t stride) {
      for (std::int64_t j = 0; j < count && found < 0; ++j) {
        const std::int64_t at = (offset + j * stride) * size;
        if (std::memcmp(bytes_of(view) + at, bytes_of(*right[i].view) + at,
                        static_cast<std::size_t>(size)) != 0) {
          found = start + j;
        }
      }
    });
    if (found >= 0) return fmt::format("{}{}", left[i].name, element_name(view, found));
  }
  return {};
}

std::string find_difference(const OpDef& op, const CaseData& before, const CaseData& after) {
  EK_ICHECK(before.storage.size() == after.storage.size(), "clones of different cases");
  for (std::size_t i = 0; i < before.storage.size(); ++i) {
    if (!before.storage[i].defined()) continue;
    const TensorView& memory = after.storage[i].view();
    const std::size_t size = memory.nbytes();
    const std::byte* old_bytes = bytes_of(before.storage[i].view());
    if (size == 0 || std::memcmp(old_bytes, memory.data(), size) == 0) continue;
    const auto [old_at, new_at] = std::mismatch(old_bytes, old_bytes + size, bytes_of(memory));
    return describe_byte(op, after, memory, static_cast<std::size_t>(old_at - old_bytes));
  }
  return {};
}

}  // namespace einkorn::measure
