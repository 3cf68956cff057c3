#include "python/native/op_call.h"

#include <memory>

#include <einkorn/device.h>
#include <einkorn/registry.h>
#include <fmt/format.h>

#include "python/native/values.h"

namespace einkorn::python {
namespace {

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

void OpCall::store_integer(const ArgumentInfo& one, std::int64_t value, std::byte* at) const {
  if (one.size == sizeof(std::int64_t)) return store(at, value);
  EK_CHECK(
      value == static_cast<std::int32_t>(value), ErrorKind::kValue,
      fmt::format("{}: {}: expected an integer of 32 bits, got {}", op_->name, one.name, value));
  store(at, static_cast<std::int32_t>(value));
}

void OpCall::store_choice(const ArgumentInfo& one, std::string_view value, std::byte* at) const {
  for (std::size_t i = 0; i < one.choices.size(); ++i) {
    if (one.choices[i] == value) return store(at, static_cast<std::uint8_t>(i));
  }
  throw_error(ErrorKind::kValue, fmt::format("{}: {}: expected {}, got '{}'", op_->name, one.name,
                                             fmt::join(one.choices, " or "), value));
}

void OpCall::run(const Arguments& values) const {
  values.expect(arguments_.size() + 1);
  alignas(16) std::byte args[kMaxArgsBytes];
  const Stream stream = jit::current_stream(read(values, args));
  call(args, stream, variant(values));
}

void OpCall::check(const Arguments& values) const {
  values.expect(arguments_.size() + 2);
  alignas(16) std::byte args[kMaxArgsBytes];
  static_cast<void>(read(values, args));
  const AnyProblem problem = op_->match(args);
  const std::string_view wanted = variant(values);
  const std::string_view device = values.optional_text(arguments_.size() + 1, "device");
  if (device.empty()) return;
  const auto view = registry();
  static_cast<void>(select(view->find(op_->name), problem.get(), find_device_info(device), wanted));
}

jit::FfiAny op_function(std::string_view op) {
  return function_result(std::make_unique<OpCall>(op), &run);
}

jit::FfiAny op_check(std::string_view op) {
  return function_result(std::make_unique<OpCall>(op), &check);
}

}  // namespace einkorn::python
