#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include <einkorn/op.h>

#include "python/native/values.h"
#include "src/jit/tvm_ffi.h"

namespace einkorn::python {

/// An op with what each call of it from outside needs. Immutable, so that threads may share it.
class OpCall {
 public:
  /// ValueError: no such op.
  explicit OpCall(std::string_view op);

  std::string_view name() const { return op_->name; }
  /// Inputs, outputs, scalars.
  const std::vector<ArgumentInfo>& arguments() const { return arguments_; }

  /// Runs a call: a value for each of arguments(), then the variant's name or None. Tensors may be
  /// None; None for a scalar leaves its default. CUDA work is queued on tvm-ffi's current stream of
  /// the tensors' device. Errors as the op's entry point has them, TypeError for a wrong value.
  void run(const Arguments& values) const;

  /// run() in its parts, for callers with values or a stream of their own. Fills `args`, of
  /// kMaxArgsBytes and aligned to 16, and gives the first tensor's device, or the CPU where there
  /// is none. `values` has Arguments' readers.
  template <class Values>
  Device read(const Values& values, std::byte* args) const {
    std::memcpy(args, defaults_.data(), defaults_.size());
    std::optional<Device> device;
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      if (values.is_none(i)) continue;
      const ArgumentInfo& one = arguments_[i];
      std::byte* const at = args + one.offset;
      if (one.kind != ArgumentKind::kTensor) {
        store_scalar(one, values, i, at);
        continue;
      }
      const TensorView view = values.tensor(i, one.name);
      std::memcpy(static_cast<void*>(at), &view, sizeof(view));
      if (!device) device = view.device();
    }
    return device.value_or(kCpuDevice);
  }
  /// The variant's name among run()'s values, or "".
  template <class Values>
  std::string_view variant(const Values& values) const {
    return values.optional_text(arguments_.size(), "variant");
  }
  void call(const std::byte* args, Stream stream, std::string_view variant) const {
    op_->call(args, stream, variant);
  }

  /// What run() would refuse, from the tensors' descriptions alone: their memory is not touched.
  /// Behind run()'s values comes the name of the device for which a variant must be found, or None:
  /// then only the contract is checked.
  void check(const Arguments& values) const;

 private:
  template <class Values>
  void store_scalar(const ArgumentInfo& one, const Values& values, std::size_t index,
                    std::byte* at) const {
    switch (one.kind) {
      case ArgumentKind::kBool:
        return store(at, values.boolean(index, one.name));
      case ArgumentKind::kInteger:
        return store_integer(one, values.integer(index, one.name), at);
      case ArgumentKind::kNumber: {
        const double value = values.number(index, one.name);
        return one.size == sizeof(float) ? store(at, static_cast<float>(value)) : store(at, value);
      }
      case ArgumentKind::kChoice:
        return store_choice(one, values.text(index, one.name), at);
      case ArgumentKind::kTensor:
        break;
    }
  }

  template <class T>
  static void store(std::byte* at, T value) {
    std::memcpy(at, &value, sizeof(value));
  }
  void store_integer(const ArgumentInfo& one, std::int64_t value, std::byte* at) const;
  void store_choice(const ArgumentInfo& one, std::string_view value, std::byte* at) const;

  const OpDef* op_;
  std::vector<ArgumentInfo> arguments_;
  /// Arguments made once, padding zeroed: copies are the same to the byte, which is how a repeated
  /// call is recognised.
  std::vector<std::byte> defaults_;
};

/// OpCall::run as a function for Python, whose side of tvm-ffi sets the current stream to that of
/// the arguments' framework. ValueError: no such op.
jit::FfiAny op_function(std::string_view op);

/// OpCall::check as a function for Python. ValueError: no such op.
jit::FfiAny op_check(std::string_view op);

}  // namespace einkorn::python
