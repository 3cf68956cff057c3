// An XLA call becomes the values that OpCall takes. What a call says is in its attributes, nothing
// in tables of this process: compiled programs are cached on disk and exported.

#include "python/native/jax_call.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <einkorn/batch_invariant.h>
#include <fmt/format.h>

#include "python/native/op_call.h"
#include "python/native/xla_attributes.h"

namespace einkorn::python {
namespace {

using jit::FfiAny;

/// Kept for the process: calls come at any time, also while it ends.
const OpCall& op_call(std::string_view name) {
  static std::shared_mutex mutex;
  static auto& known = *new std::unordered_map<std::string_view, std::unique_ptr<OpCall>>;
  {
    const std::shared_lock lock(mutex);
    if (const auto it = known.find(name); it != known.end()) return *it->second;
  }
  auto made = std::make_unique<OpCall>(name);
  const std::unique_lock lock(mutex);
  return *known.try_emplace(made->name(), std::move(made)).first->second;
}

DLDataType data_type(XlaType type) {
  const auto make = [](int code, int bits) {
    return DLDataType{static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits), 1};
  };
  switch (type) {
    case XlaType::kPred:
      return make(kDLBool, 8);
    case XlaType::kS8:
      return make(kDLInt, 8);
    case XlaType::kS16:
      return make(kDLInt, 16);
    case XlaType::kS32:
      return make(kDLInt, 32);
    case XlaType::kS64:
      return make(kDLInt, 64);
    case XlaType::kU8:
      return make(kDLUInt, 8);
    case XlaType::kU16:
      return make(kDLUInt, 16);
    case XlaType::kU32:
      return make(kDLUInt, 32);
    case XlaType::kU64:
      return make(kDLUInt, 64);
    case XlaType::kF16:
      return make(kDLFloat, 16);
    case XlaType::kF32:
      return make(kDLFloat, 32);
    case XlaType::kF64:
      return make(kDLFloat, 64);
    case XlaType::kBF16:
      return make(kDLBfloat, 16);
    case XlaType::kF8E5M2:
      return make(kDLFloat8_e5m2, 8);
    case XlaType::kF8E4M3FN:
      return make(kDLFloat8_e4m3fn, 8);
    case XlaType::kF8E8M0FNU:
      return make(kDLFloat8_e8m0fnu, 8);
  }
  throw_error(ErrorKind::kType, fmt::format("einkorn: dtype: expected one that einkorn has, got "
                                            "XLA's number {}",
                                            static_cast<int>(type)));
}

DLTensor tensor_of(const XlaBuffer& buffer, DLDevice device) {
  return {.data = buffer.data,
          .device = device,
          .ndim = static_cast<std::int32_t>(buffer.rank),
          .dtype = data_type(buffer.type),
          .shape = buffer.dims,
          .strides = nullptr,
          .byte_offset = 0};
}

/// One call's values, with what they point to.
struct Call {
  Call(const OpCall& called, const XlaCallFrame& frame, DLDevice device)
      : op(called), values(op.arguments().size() + 1), texts(values.size()) {
    const XlaAttributeReader attributes(frame.attributes);
    place_tensors(attributes.text("tensors"), frame, device);
    place_scalars(attributes);
  }

  void place_tensors(std::string_view names, const XlaCallFrame& frame, DLDevice device) {
    const auto inputs = static_cast<std::size_t>(frame.arguments.size);
    const std::size_t count = inputs + static_cast<std::size_t>(frame.results.size);
    tensors.reserve(count);  // what the values point to must not move
    while (!names.empty()) {
      const std::string_view name = names.substr(0, names.find(','));
      names.remove_prefix(std::min(name.size() + 1, names.size()));
      const std::size_t k = tensors.size();
      const auto one = std::ranges::find(op.arguments(), name, &ArgumentInfo::name);
      EK_CHECK(k < count && one != op.arguments().end(), ErrorKind::kRuntime, unlike(name));
      tensors.push_back(tensor_of(
          k < inputs ? *frame.arguments.values[k] : *frame.results.values[k - inputs], device));
      FfiAny& value = values[static_cast<std::size_t>(one - op.arguments().begin())];
      // What the op updates in place is an argument and a result, of one memory.
      EK_CHECK(value.type != jit::kFfiTensorView ||
                   static_cast<const DLTensor*>(value.pointer)->data == tensors.back().data,
               ErrorKind::kRuntime,
               fmt::format("{}: {}: expected argument and result in one memory, got two", op.name(),
                           name));
      value.type = jit::kFfiTensorView;
      value.pointer = &tensors.back();
    }
    EK_CHECK(tensors.size() == count, ErrorKind::kRuntime, unlike("tensors"));
  }

  void place_scalars(const XlaAttributeReader& attributes) {
    std::int64_t used = 2;  // op, tensors
    for (std::size_t i = 0; i < op.arguments().size(); ++i) {
      if (op.arguments()[i].kind == ArgumentKind::kTensor) continue;
      const auto at = attributes.find(op.arguments()[i].name);
      if (!at) continue;
      values[i] = attributes.value_at(*at, &texts[i]);
      ++used;
    }
    if (const auto at = attributes.find("variant")) {
      values.back() = attributes.value_at(*at, &texts.back());
      ++used;
    }
    used += attributes.find("batch_invariant") ? 1 : 0;
    EK_CHECK(used == attributes.size(), ErrorKind::kRuntime, unlike("attributes"));
  }

  std::string unlike(std::string_view what) const {
    return fmt::format("{}: {}: expected as the op declares it, got another\n{}", op.name(), what,
                       kOtherVersions);
  }

  const OpCall& op;
  std::vector<FfiAny> values;
  std::vector<jit::FfiTextObject> texts;
  std::vector<DLTensor> tensors;
};

void run(const XlaCallFrame& frame, DLDevice device) {
  const XlaAttributeReader attributes(frame.attributes);
  const Call call(op_call(attributes.text("op")), frame, device);
  const Arguments arguments(call.op.name(), call.values.data(),
                            static_cast<std::int32_t>(call.values.size()));
  if (!attributes.flag("batch_invariant")) return call.op.run(arguments);
  const BatchInvariantScope scope;
  call.op.run(arguments);
}

/// RuntimeError: XLA's.
void expect_success(const XlaApi& api, XlaError* error, std::string_view what) {
  if (error == nullptr) return;
  XlaGetMessage got{{sizeof(XlaGetMessage), nullptr}, error, nullptr};
  api.get_message(&got);
  const std::string message = fmt::format("einkorn: {}: {}", what, got.message);
  XlaDestroyError destroyed{{sizeof(XlaDestroyError), nullptr}, error};
  api.destroy_error(&destroyed);
  throw_error(ErrorKind::kRuntime, message);
}

void run_on_cuda(const XlaCallFrame& frame) {
  const XlaApi& api = *frame.api;
  XlaGetDevice device{{sizeof(XlaGetDevice), nullptr}, frame.context, 0};
  expect_success(api, api.get_device(&device), "XLA's device");
  XlaGetStream stream{{sizeof(XlaGetStream), nullptr}, frame.context, nullptr};
  expect_success(api, api.get_stream(&stream), "XLA's stream");
  const jit::StreamScope scope(Stream::cuda(device.ordinal, stream.stream));
  run(frame, {kDLCUDA, device.ordinal});
}

XlaError* failure(const XlaCallFrame& frame, XlaCode code, const char* message) noexcept {
  XlaCreateError made{{sizeof(XlaCreateError), nullptr}, message, code};
  return frame.api->create_error(&made);
}

XlaCode code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kType:
    case ErrorKind::kValue:
      return XlaCode::kInvalidArgument;
    case ErrorKind::kNotImplemented:
      return XlaCode::kUnimplemented;
    case ErrorKind::kRuntime:
      break;
  }
  return XlaCode::kInternal;
}

template <DLDeviceType kDevice>
XlaError* handle(XlaCallFrame* frame) {
  const XlaExtension* const extension = frame->header.extension;
  if (extension != nullptr && extension->type == kXlaMetadata) {
    XlaVersion& version = extension->metadata->version;
    version.major = kXlaMajor;
    version.minor = kXlaMinor;
    extension->metadata->traits = 0;
    return nullptr;
  }
  try {
    kDevice == kDLCUDA ? run_on_cuda(*frame) : run(*frame, {kDLCPU, 0});
    return nullptr;
  } catch (const Error& error) {
    try {
      const std::string message = fmt::format("{}: {}", name(error.kind()), error.what());
      return failure(*frame, code_of(error.kind()), message.c_str());
    } catch (const std::bad_alloc&) {
      return failure(*frame, XlaCode::kInternal, error.what());
    }
  } catch (const std::exception& error) {
    return failure(*frame, XlaCode::kInternal, error.what());
  }
}

}  // namespace

XlaHandler jax_handler(std::string_view platform) {
  if (platform == "cpu") return &handle<kDLCPU>;
  EK_CHECK(platform == "cuda", ErrorKind::kValue,
           fmt::format("einkorn: platform: expected cpu or cuda, got '{}'", platform));
  return &handle<kDLCUDA>;
}

}  // namespace einkorn::python
