#pragma once

// The attributes of an XLA call as values of tvm-ffi.

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "python/native/xla_ffi.h"
#include "src/jit/ffi_values.h"

namespace einkorn::python {

inline constexpr std::string_view kOtherVersions =
    "  hint: the Python files and the library of einkorn are of different versions, or a compiled "
    "program is of another";

/// The attributes of one call. Texts and numbers are the call's.
class XlaAttributeReader {
 public:
  explicit XlaAttributeReader(const XlaAttributes& all) : all_(all) {}

  std::int64_t size() const { return all_.size; }
  std::optional<std::int64_t> find(std::string_view name) const {
    for (std::int64_t i = 0; i < all_.size; ++i) {
      if (all_.names[i]->view() == name) return i;
    }
    return std::nullopt;
  }
  std::string_view text(std::string_view name) const {
    const auto at = find(name);
    EK_CHECK(at && all_.kinds[*at] == kXlaString, ErrorKind::kType,
             fmt::format("einkorn: {}: expected a string attribute\n{}", name, kOtherVersions));
    return string_at(*at);
  }
  bool flag(std::string_view name) const {
    const auto at = find(name);
    return at && value_at(*at, nullptr).integer != 0;
  }
  /// A string is put into `text`, which the value points to.
  jit::FfiAny value_at(std::int64_t at, jit::FfiTextObject* text) const {
    if (all_.kinds[at] == kXlaString && text != nullptr) {
      const std::string_view view = string_at(at);
      text->bytes = {view.data(), view.size()};
      jit::FfiAny out;
      out.type = jit::kFfiTextObject;
      out.pointer = text;
      return out;
    }
    const auto* scalar = static_cast<const XlaScalar*>(all_.values[at]);
    const XlaType type = all_.kinds[at] == kXlaScalar ? scalar->type : XlaType{};
    if (type == XlaType::kPred) return jit::bool_value(load<bool>(scalar->value));
    if (type == XlaType::kS64) return jit::integer_value(load<std::int64_t>(scalar->value));
    if (type == XlaType::kF64) return jit::number_value(load<double>(scalar->value));
    throw_error(ErrorKind::kType,
                fmt::format("einkorn: {}: expected an attribute of type pred, s64, f64 or string",
                            all_.names[at]->view()));
  }

 private:
  template <class T>
  static T load(const void* at) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return value;
  }
  std::string_view string_at(std::int64_t at) const {
    return static_cast<const XlaText*>(all_.values[at])->view();
  }

  const XlaAttributes& all_;
};

}  // namespace einkorn::python
