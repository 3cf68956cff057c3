#include "src/jit/ffi_values.h"

#include <algorithm>
#include <string>

#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn::jit {
namespace {

std::optional<ErrorKind> kind_of(std::string_view python_name) {
  for (const ErrorKind kind :
       {ErrorKind::kType, ErrorKind::kValue, ErrorKind::kNotImplemented, ErrorKind::kRuntime}) {
    if (name(kind) == python_name) return kind;
  }
  return std::nullopt;
}

}  // namespace

FfiAny bool_value(bool value) {
  FfiAny out;
  out.type = kFfiBool;
  out.integer = value ? 1 : 0;
  return out;
}

FfiAny integer_value(std::int64_t value) {
  FfiAny out;
  out.type = kFfiInt;
  out.integer = value;
  return out;
}

FfiAny number_value(double value) {
  FfiAny out;
  out.type = kFfiFloat;
  out.number = value;
  return out;
}

FfiAny text_value(const char* text) {
  FfiAny out;
  out.type = kFfiText;
  out.pointer = text;
  return out;
}

std::optional<std::string_view> text_of(const FfiAny& value) {
  switch (value.type) {
    case kFfiText:
      return std::string_view(static_cast<const char*>(value.pointer));
    case kFfiShortText:
      return std::string_view(value.text, std::min<std::size_t>(value.short_text_size, 7));
    case kFfiTextObject: {
      const FfiBytes& bytes = static_cast<const FfiTextObject*>(value.pointer)->bytes;
      return std::string_view(bytes.data, bytes.size);
    }
    default:
      return std::nullopt;
  }
}

void release(const FfiAny& value) {
  if (value.type >= kFfiObject) tvm_ffi().release(const_cast<void*>(value.pointer));
}

void throw_raised(std::string_view who, int status) {
  void* object = nullptr;
  tvm_ffi().take_raised(&object);
  EK_CHECK(object != nullptr, ErrorKind::kRuntime,
           fmt::format("{}: failed with status {} and raised no error", who, status));
  const auto* error = static_cast<const FfiErrorObject*>(object);
  const std::string kind(error->kind.data, error->kind.size);
  const std::string message(error->message.data, error->message.size);
  tvm_ffi().release(object);
  const std::optional<ErrorKind> ours = kind_of(kind);
  throw_error(
      ours.value_or(ErrorKind::kRuntime),
      ours ? fmt::format("{}: {}", who, message) : fmt::format("{}: {}: {}", who, kind, message));
}

Stream current_stream(Device device) {
  if (device.kind != DeviceKind::kCuda) return {device, nullptr};
  const DLDevice on = to_dlpack(device);
  return {device, tvm_ffi().get_stream(on.device_type, on.device_id)};
}

StreamScope::StreamScope(const std::optional<Stream>& stream) {
  if (!stream || stream->device.kind != DeviceKind::kCuda) return;
  device_ = to_dlpack(stream->device);
  active_ =
      tvm_ffi().set_stream(device_.device_type, device_.device_id, stream->handle, &before_) == 0;
  EK_CHECK(active_, ErrorKind::kRuntime, "tvm-ffi takes no stream of the device");
}

StreamScope::~StreamScope() {
  if (active_) tvm_ffi().set_stream(device_.device_type, device_.device_id, before_, nullptr);
}

}  // namespace einkorn::jit
