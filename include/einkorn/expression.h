#pragma once

// Name expressions of kernel templates, from values.

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <einkorn/dtype.h>

namespace einkorn::jit {

/// Element type as device code names it (src/cuda/device/common/types.cuh and fp8.cuh): "float",
/// "einkorn::bf16", "einkorn::f8e4m3", "int"; nothing is "einkorn::none". ValueError for a dtype
/// that device code has no type for.
std::string type_name(std::optional<DType> dtype);

/// One template argument.
class TemplateArgument {
 public:
  TemplateArgument(bool value) : text_(value ? "true" : "false") {}  // NOLINT: arguments convert
  template <std::integral I>
    requires(!std::same_as<I, bool>)
  TemplateArgument(I value) : text_(std::to_string(value)) {}  // NOLINT: arguments convert
  TemplateArgument(DType dtype) : text_(type_name(dtype)) {}   // NOLINT: arguments convert
  TemplateArgument(std::optional<DType> dtype)                 // NOLINT: arguments convert
      : text_(type_name(dtype)) {}
  /// A type or constant as it is written in C++. ValueError: empty, brackets that do not pair, a
  /// comma outside of them, or what is no part of a template argument, such as ';'.
  TemplateArgument(std::string text);                                          // NOLINT: converts
  TemplateArgument(const char* text) : TemplateArgument(std::string(text)) {}  // NOLINT: converts

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// "ns::kernel<float, 4, true>" from "ns::kernel" and its arguments. ValueError: a name that no
/// template has, or one with arguments beside further ones.
std::string instantiate(std::string_view name, const std::vector<TemplateArgument>& arguments);

}  // namespace einkorn::jit
