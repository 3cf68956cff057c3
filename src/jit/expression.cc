#include "src/jit/expression.h"

#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn::jit {

// NOLINTNEXTLINE(modernize-use-string-view): callers build template arguments from it
std::string type_name(std::optional<DType> dtype) {
  if (!dtype) return "einkorn::none";
  switch (*dtype) {
    case DType::kF32:
      return "float";
    case DType::kF16:
      return "einkorn::f16";
    case DType::kBF16:
      return "einkorn::bf16";
    default:
      throw_error(
          ErrorKind::kValue,
          fmt::format("jit: template argument: expected f32, f16 or bf16, got {}", name(*dtype)));
  }
}

std::string instantiate(std::string_view name, const std::vector<TemplateArgument>& arguments) {
  std::string out(name);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    out += i == 0 ? "<" : ", ";
    out += arguments[i].text();
  }
  if (!arguments.empty()) out += '>';
  return out;
}

}  // namespace einkorn::jit
