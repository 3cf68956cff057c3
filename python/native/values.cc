#include "python/native/values.h"

#include <fmt/format.h>

namespace einkorn::python {

using jit::FfiAny;

std::string_view type_name(const FfiAny& value) {
  switch (value.type) {
    case jit::kFfiNone:
      return "None";
    case jit::kFfiInt:
      return "int";
    case jit::kFfiBool:
      return "bool";
    case jit::kFfiFloat:
      return "float";
    case jit::kFfiText:
    case jit::kFfiShortText:
    case jit::kFfiTextObject:
      return "str";
    case jit::kFfiTensorView:
    case jit::kFfiTensorObject:
      return "a tensor";
    case jit::kFfiFunctionObject:
      return "a function";
    default:
      return "an object of another type";
  }
}

TensorView named_view(const DLTensor& tensor, std::string_view who, std::string_view name) {
  try {
    return tensor;
  } catch (const Error& error) {
    throw_error(error.kind(), fmt::format("{}: {}: {}", who, name, error.what()));
  }
}

void Arguments::expect(std::size_t count) const {
  EK_CHECK(
      values_.size() == count, ErrorKind::kType,
      fmt::format("{}: arguments: expected {}, got {}\n"
                  "  hint: the Python files and the library of einkorn are of different versions",
                  who_, count, values_.size()));
}

void Arguments::wrong(std::size_t index, std::string_view name, std::string_view expected) const {
  throw_error(ErrorKind::kType, fmt::format("{}: {}: expected {}, got {}", who_, name, expected,
                                            type_name(values_[index])));
}

std::string_view Arguments::text(std::size_t index, std::string_view name) const {
  const auto out = jit::text_of(values_[index]);
  if (!out) wrong(index, name, "str");
  return *out;
}

std::string_view Arguments::optional_text(std::size_t index, std::string_view name) const {
  if (is_none(index)) return {};
  const auto out = jit::text_of(values_[index]);
  if (!out) wrong(index, name, "str or None");
  return *out;
}

std::int64_t Arguments::integer(std::size_t index, std::string_view name) const {
  if (values_[index].type != jit::kFfiInt) wrong(index, name, "int");
  return values_[index].integer;
}

double Arguments::number(std::size_t index, std::string_view name) const {
  const FfiAny& value = values_[index];
  if (value.type == jit::kFfiFloat) return value.number;
  if (value.type != jit::kFfiInt) wrong(index, name, "a number");
  return static_cast<double>(value.integer);
}

bool Arguments::boolean(std::size_t index, std::string_view name) const {
  const FfiAny& value = values_[index];
  if (value.type != jit::kFfiBool && value.type != jit::kFfiInt) wrong(index, name, "bool");
  return value.integer != 0;
}

const DLTensor* Arguments::raw_tensor(std::size_t index) const {
  const FfiAny& value = values_[index];
  if (value.type == jit::kFfiTensorView) return static_cast<const DLTensor*>(value.pointer);
  if (value.type != jit::kFfiTensorObject) return nullptr;
  return &static_cast<const jit::FfiTensorObject*>(value.pointer)->tensor;
}

TensorView Arguments::tensor(std::size_t index, std::string_view name) const {
  if (is_none(index)) return {};
  const DLTensor* tensor = raw_tensor(index);
  if (tensor == nullptr) wrong(index, name, "a tensor or None");
  return named_view(*tensor, who_, name);
}

void* Arguments::function(std::size_t index, std::string_view name) const {
  if (values_[index].type != jit::kFfiFunctionObject) wrong(index, name, "a callable");
  return const_cast<void*>(values_[index].pointer);
}

FfiAny text_result(std::string_view text) {
  FfiAny out;
  const jit::FfiBytes bytes{text.data(), text.size()};
  EK_CHECK(jit::tvm_ffi().make_text(&bytes, &out) == 0, ErrorKind::kRuntime,
           "tvm-ffi makes no text");
  return out;
}

FfiAny call_python(std::string_view who, void* function, std::span<const FfiAny> arguments) {
  FfiAny result;
  const int status = jit::tvm_ffi().call_function(
      function, arguments.data(), static_cast<std::int32_t>(arguments.size()), &result);
  if (status != 0) jit::throw_raised(who, status);
  return result;
}

FfiAny function_result(void* self, jit::FfiFunction call, void (*deleter)(void*)) {
  FfiAny out;
  out.type = jit::kFfiFunctionObject;
  void* object = nullptr;
  EK_CHECK(jit::tvm_ffi().make_function(self, call, deleter, &object) == 0, ErrorKind::kRuntime,
           "tvm-ffi makes no function");
  out.pointer = object;
  return out;
}

}  // namespace einkorn::python
