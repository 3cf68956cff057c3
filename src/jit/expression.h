#pragma once

// Name expressions of kernel templates, from values.

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <einkorn/dtype.h>

namespace einkorn::jit {

/// Element type as device code names it: "float", "einkorn::f16", "einkorn::bf16"; nothing is
/// "einkorn::none". ValueError for a dtype that device code has no type for yet.
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
  TemplateArgument(std::string type) : text_(std::move(type)) {}  // NOLINT: arguments convert

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// "ns::kernel<float, 4, true>" from "ns::kernel" and its arguments.
std::string instantiate(std::string_view name, const std::vector<TemplateArgument>& arguments);

}  // namespace einkorn::jit
