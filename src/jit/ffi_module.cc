#include "src/jit/ffi_module.h"

#include <cstring>
#include <deque>
#include <utility>

#include <dlpack/dlpack.h>
#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/jit/ffi_values.h"

namespace einkorn::jit {
namespace {

/// Arguments in the form of the C interface; points into itself and into what it was made of.
class Packed {
 public:
  explicit Packed(std::span<const FfiArgument> arguments) {
    values_.reserve(arguments.size());
    for (const FfiArgument& argument : arguments) {
      values_.push_back(std::visit([&](const auto& value) { return pack(value); }, argument));
    }
  }

  const FfiAny* data() const { return values_.data(); }
  std::int32_t size() const { return static_cast<std::int32_t>(values_.size()); }

 private:
  static FfiAny of(FfiType type) {
    FfiAny out;
    out.type = type;
    return out;
  }
  static FfiAny pack(std::monostate) { return {}; }
  static FfiAny pack(bool value) { return bool_value(value); }
  static FfiAny pack(std::int64_t value) { return integer_value(value); }
  static FfiAny pack(double value) { return number_value(value); }
  static FfiAny pack(const std::string& value) { return text_value(value.c_str()); }
  static FfiAny pack(DType value) {
    FfiAny out = of(kFfiDType);
    const DLDataType dtype = to_dlpack(value);
    std::memcpy(out.text, &dtype, sizeof(dtype));
    return out;
  }
  FfiAny pack(const TensorView& value) {
    if (!value.defined()) return {};
    FfiAny out = of(kFfiTensorView);
    out.pointer = &tensors_.emplace_back(value.dlpack());
    return out;
  }

  std::vector<FfiAny> values_;
  std::deque<DLTensor> tensors_;  // addresses stay good while it grows
};

/// Takes over the result: an object is released.
FfiResult unpack(std::string_view who, const FfiAny& result) {
  switch (result.type) {
    case kFfiNone:
      return std::monostate();
    case kFfiInt:
      return result.integer;
    case kFfiBool:
      return result.integer != 0;
    case kFfiFloat:
      return result.number;
    default:
      break;
  }
  std::optional<std::string> text;
  if (const auto view = text_of(result)) text.emplace(*view);
  release(result);
  if (text) return *std::move(text);
  throw_error(ErrorKind::kNotImplemented,
              fmt::format("{}: expected a result of type None, int, bool, float or str, got "
                          "tvm-ffi's type {}\n"
                          "  hint: tensors are given as arguments, for the function to fill",
                          who, result.type));
}

}  // namespace

FfiModule FfiModule::load(const Artifact& artifact, std::string_view name) {
  tvm_ffi();  // first: the object asks for it by its soname alone
  return {LoadedObject::load(artifact.key, artifact.image, name), std::string(name)};
}

FfiResult FfiModule::call(const std::string& function, std::span<const FfiArgument> arguments,
                          std::optional<Stream> stream) const {
  auto* const address = reinterpret_cast<FfiFunction>(object_.find(kFfiPrefix + function));
  EK_CHECK(address != nullptr, ErrorKind::kValue,
           fmt::format("jit: {}: expected a function \"{}\", got none of that name\n"
                       "  exported: {}\n"
                       "  hint: TVM_FFI_DLL_EXPORT_TYPED_FUNC(name, function) exports one",
                       name_, function, fmt::join(functions(), ", ")));
  const std::string who = fmt::format("{}: {}", name_, function);
  const Packed packed(arguments);
  const StreamScope scope(stream);
  FfiAny result;
  const int status = address(nullptr, packed.data(), packed.size(), &result);
  if (status != 0) throw_raised(who, status);
  return unpack(who, result);
}

std::vector<std::string> ffi_functions(std::span<const std::string> symbols) {
  const std::string_view prefix = kFfiPrefix;
  std::vector<std::string> out;
  for (const std::string& symbol : symbols) {
    // A further underscore: metadata and the like.
    if (!symbol.starts_with(prefix) || symbol.size() == prefix.size()) continue;
    if (symbol[prefix.size()] != '_') out.push_back(symbol.substr(prefix.size()));
  }
  return out;
}

std::vector<std::string> FfiModule::functions() const { return ffi_functions(object_.exports()); }

}  // namespace einkorn::jit
