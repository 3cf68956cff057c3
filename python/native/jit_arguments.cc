#include "python/native/jit_arguments.h"

#include <limits>
#include <optional>

#include <einkorn/dtype.h>
#include <einkorn/error.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace einkorn::python {
namespace {

using jit::Argument;
using jit::FfiAny;
using jit::Parameter;

/// Null: the kernel's name does not tell, or tells another size than the kernel has.
const Parameter* type_of(const jit::KernelFacts& facts, std::size_t index) {
  if (!facts.signature || facts.signature->size() != facts.layout.size()) return nullptr;
  if (index >= facts.layout.size()) return nullptr;
  const Parameter& type = (*facts.signature)[index];
  return type.bytes != 0 && type.bytes != facts.layout[index].bytes ? nullptr : &type;
}

template <class I>
std::optional<Argument> as_integer(std::int64_t value) {
  const bool fits = value >= 0
                        ? static_cast<std::uint64_t>(value) <=
                              static_cast<std::uint64_t>(std::numeric_limits<I>::max())
                        : std::is_signed_v<I> &&
                              value >= static_cast<std::int64_t>(std::numeric_limits<I>::min());
  return fits ? std::optional<Argument>(static_cast<I>(value)) : std::nullopt;
}

template <class Signed>
Argument sized_integer(std::int64_t value) {
  if (const auto out = as_integer<Signed>(value)) return *out;
  return as_integer<std::make_unsigned_t<Signed>>(value).value_or(Argument(value));
}

Argument integer_argument(std::int64_t value, std::int64_t bytes) {
  switch (bytes) {
    case 1:
      return sized_integer<std::int8_t>(value);
    case 2:
      return sized_integer<std::int16_t>(value);
    case 4:
      return sized_integer<std::int32_t>(value);
    default:
      return value;
  }
}

Argument number_argument(const FfiAny& value, const Parameter* type, std::int64_t bytes) {
  const bool known = type != nullptr && type->kind != Parameter::Kind::kOther;
  switch (value.type) {
    case jit::kFfiBool:
      return value.integer != 0;
    case jit::kFfiInt:
      return known ? Argument(value.integer) : integer_argument(value.integer, bytes);
    default:
      return !known && bytes == sizeof(float) ? Argument(static_cast<float>(value.number))
                                              : Argument(value.number);
  }
}

std::optional<std::span<const std::byte>> bytes_of(const FfiAny& value) {
  switch (value.type) {
    case jit::kFfiByteArray: {
      const auto* bytes = static_cast<const jit::FfiBytes*>(value.pointer);
      return std::as_bytes(std::span(bytes->data, bytes->size));
    }
    case jit::kFfiShortBytes:
      return std::as_bytes(
          std::span(value.text, std::min<std::size_t>(value.short_text_size, sizeof(value.text))));
    case jit::kFfiBytesObject: {
      const jit::FfiBytes& bytes = static_cast<const jit::FfiTextObject*>(value.pointer)->bytes;
      return std::as_bytes(std::span(bytes.data, bytes.size));
    }
    default:
      return std::nullopt;
  }
}

/// Of integers that einkorn has no dtype for, "u16", or nothing.
std::string integer_name(DLDataType dtype) {
  if (dtype.lanes != 1 || (dtype.code != kDLInt && dtype.code != kDLUInt)) return {};
  return fmt::format("{}{}", dtype.code == kDLInt ? 'i' : 'u', dtype.bits);
}

/// A tensor of such integers. A pointer that tells no dtype takes it, and one to unsigned integers
/// of that size; what it is then called is of no use but to be checked.
TensorView integers(const Arguments& values, std::size_t at, std::size_t index,
                    const Parameter* type) {
  DLTensor tensor = *values.raw_tensor(at);
  const bool is_pointer = type != nullptr && type->kind == Parameter::Kind::kPointer;
  const auto wanted = !is_pointer ? std::nullopt : type->dtype ? type->dtype : type->signed_dtype;
  const bool same =
      wanted && !type->dtype && tensor.dtype.code == kDLUInt && bits(*wanted) == tensor.dtype.bits;
  if (wanted && !same) {
    throw_error(ErrorKind::kType,
                fmt::format("{}: argument {} ({}) dtype: expected {}, got {}\n"
                            "  hint: convert it to {}; a void* parameter takes any dtype",
                            values.who(), index + 1, type->text, name(*wanted),
                            integer_name(tensor.dtype), name(*wanted)));
  }
  tensor.dtype = to_dlpack(wanted.value_or(kU8));
  return named_view(tensor, values.who(), fmt::format("argument {}", index + 1));
}

Argument tensor_argument(const Arguments& values, std::size_t at, std::size_t index,
                         const jit::KernelFacts& facts) {
  const DLDataType dtype = values.raw_tensor(at)->dtype;
  if (!from_dlpack(dtype) && !integer_name(dtype).empty()) {
    return integers(values, at, index, type_of(facts, index));
  }
  const Parameter* type = type_of(facts, index);
  EK_CHECK(dtype.code != kDLComplex, ErrorKind::kType,
           fmt::format("{}: argument {} ({}) dtype: expected real numbers, got complex ones\n"
                       "  hint: torch.view_as_real(x), or x.view(numpy.float32)",
                       values.who(), index + 1, type == nullptr ? "pointer" : type->text));
  return values.tensor(at, fmt::format("argument {}", index + 1));
}

Argument kernel_argument(const Arguments& values, std::size_t at, std::size_t index,
                         const jit::KernelFacts& facts) {
  const FfiAny& value = values.any(at);
  switch (value.type) {
    case jit::kFfiNone:
      return nullptr;
    case jit::kFfiBool:
    case jit::kFfiInt:
    case jit::kFfiFloat:
      return number_argument(value, type_of(facts, index),
                             index < facts.layout.size() ? facts.layout[index].bytes : 0);
    case jit::kFfiPointer:
      return value.pointer;
    case jit::kFfiTensorView:
    case jit::kFfiTensorObject:
      return tensor_argument(values, at, index, facts);
    default:
      if (const auto bytes = bytes_of(value)) return Argument::bytes_of(*bytes);
      values.wrong(at, fmt::format("argument {}", index + 1),
                   "an array, a number, None, bytes of a struct or ctypes.c_void_p");
  }
}

}  // namespace

std::vector<Argument> kernel_arguments(const Arguments& values, std::size_t first,
                                       const jit::KernelFacts& facts) {
  std::vector<Argument> out;
  out.reserve(values.size() - first);
  for (std::size_t at = first; at < values.size(); ++at) {
    out.push_back(kernel_argument(values, at, at - first, facts));
  }
  return out;
}

std::string parameters_json(const jit::KernelFacts& facts) {
  nlohmann::json out = nlohmann::json::array();
  for (std::size_t i = 0; i < facts.layout.size(); ++i) {
    const Parameter* type = type_of(facts, i);
    const auto kind = type == nullptr ? Parameter::Kind::kOther : type->kind;
    out.push_back({{"type", type == nullptr ? "" : type->text},
                   {"kind", kind == Parameter::Kind::kPointer  ? "pointer"
                            : kind == Parameter::Kind::kScalar ? "number"
                                                               : "other"},
                   {"const", type != nullptr && type->is_const},
                   {"floating", type != nullptr && type->is_floating},
                   {"boolean", type != nullptr && type->dtype == kBool},
                   {"bytes", facts.layout[i].bytes}});
  }
  return out.dump();
}

}  // namespace einkorn::python
