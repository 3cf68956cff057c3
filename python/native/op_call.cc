#include "python/native/op_call.h"

#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include <einkorn/device.h>
#include <einkorn/registry.h>
#include <fmt/format.h>

#include "python/native/values.h"

namespace einkorn::python {
namespace {

template <class T>
void store(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof(value));
}

void store_number(const ArgumentInfo& one, double value, std::byte* at) {
  one.size == sizeof(float) ? store(at, static_cast<float>(value)) : store(at, value);
}

void store_integer(const OpDef& op, const ArgumentInfo& one, std::int64_t value, std::byte* at) {
  if (one.size == sizeof(std::int64_t)) return store(at, value);
  EK_CHECK(value == static_cast<std::int32_t>(value), ErrorKind::kValue,
           fmt::format("{}: {}: expected an integer of 32 bits, got {}", op.name, one.name, value));
  store(at, static_cast<std::int32_t>(value));
}

void store_choice(const OpDef& op, const ArgumentInfo& one, std::string_view value, std::byte* at) {
  for (std::size_t i = 0; i < one.choices.size(); ++i) {
    if (one.choices[i] == value) return store(at, static_cast<std::uint8_t>(i));
  }
  throw_error(ErrorKind::kValue, fmt::format("{}: {}: expected {}, got '{}'", op.name, one.name,
                                             fmt::join(one.choices, " or "), value));
}

void store_scalar(const OpDef& op, const ArgumentInfo& one, const Arguments& values,
                  std::size_t index, std::byte* at) {
  switch (one.kind) {
    case ArgumentKind::kBool:
      return store(at, values.boolean(index, one.name));
    case ArgumentKind::kInteger:
      return store_integer(op, one, values.integer(index, one.name), at);
    case ArgumentKind::kNumber:
      return store_number(one, values.number(index, one.name), at);
    case ArgumentKind::kChoice:
      return store_choice(op, one, values.text(index, one.name), at);
    case ArgumentKind::kTensor:
      break;
  }
}

int run(void* self, const jit::FfiAny* values, std::int32_t count, jit::FfiAny* result) {
  return guarded([&] {
    const OpCall& op = *static_cast<const OpCall*>(self);
    op.run(Arguments(op.name(), values, count));
    *result = {};
  });
}

int check(void* self, const jit::FfiAny* values, std::int32_t count, jit::FfiAny* result) {
  return guarded([&] {
    const OpCall& op = *static_cast<const OpCall*>(self);
    op.check(Arguments(op.name(), values, count));
    *result = {};
  });
}

}  // namespace

OpCall::OpCall(std::string_view op) : op_(registry()->find(op).op), arguments_(op_->arguments()) {
  alignas(16) std::byte made[kMaxArgsBytes] = {};
  op_->make_args(made);
  defaults_.assign(made, made + op_->args_size);
}

Stream OpCall::read(const Arguments& values, std::byte* args) const {
  std::memcpy(args, defaults_.data(), defaults_.size());
  std::optional<Device> device;
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (values.is_none(i)) continue;
    const ArgumentInfo& one = arguments_[i];
    std::byte* const at = args + one.offset;
    if (one.kind != ArgumentKind::kTensor) {
      store_scalar(*op_, one, values, i, at);
      continue;
    }
    const TensorView view = values.tensor(i, one.name);
    std::memcpy(static_cast<void*>(at), &view, sizeof(view));
    if (!device) device = view.device();
  }
  return jit::current_stream(device.value_or(kCpuDevice));
}

void OpCall::run(const Arguments& values) const {
  values.expect(arguments_.size() + 1);
  alignas(16) std::byte args[kMaxArgsBytes];
  const Stream stream = read(values, args);
  op_->call(args, stream, values.optional_text(arguments_.size(), "variant"));
}

void OpCall::check(const Arguments& values) const {
  values.expect(arguments_.size() + 2);
  alignas(16) std::byte args[kMaxArgsBytes];
  static_cast<void>(read(values, args));
  const AnyProblem problem = op_->match(args);
  const std::string_view variant = values.optional_text(arguments_.size(), "variant");
  const std::string_view device = values.optional_text(arguments_.size() + 1, "device");
  if (device.empty()) return;
  const auto view = registry();
  static_cast<void>(
      select(view->find(op_->name), problem.get(), find_device_info(device), variant));
}

jit::FfiAny op_function(std::string_view op) {
  return function_result(std::make_unique<OpCall>(op), &run);
}

jit::FfiAny op_check(std::string_view op) {
  return function_result(std::make_unique<OpCall>(op), &check);
}

}  // namespace einkorn::python
