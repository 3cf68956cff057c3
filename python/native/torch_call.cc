#include "python/native/torch_call.h"

#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <einkorn/error.h>

#include "python/native/op_call.h"
#include "python/native/torch_api.h"
#include "python/native/values.h"

namespace einkorn::python {
namespace {

constexpr const char* kCapsule = "einkorn.torch_call";

void set_error(std::string_view kind, const char* text) {
  const CPython& python = cpython();
  for (const auto& [name, type] : {std::pair{"TypeError", python.type_error},
                                   {"ValueError", python.value_error},
                                   {"NotImplementedError", python.not_implemented_error},
                                   {"MemoryError", python.memory_error}}) {
    if (kind == name) return python.set_error(type, text);
  }
  python.set_error(python.runtime_error, text);
}

/// What a function gives Python: a reference, or null with the error set.
template <class Body>
PyObject* answer(Body&& body) {
  PyObject* out = nullptr;
  raising(&set_error, [&] {
    try {
      out = body();
    } catch (const PythonRaised&) {
      out = nullptr;
    }
  });
  return out;
}

PyObject* retained(PyObject* one) {
  cpython().retain(one);
  return one;
}

/// Thrown for a value that tvm-ffi has to convert, or to refuse.
struct NotServed : std::exception {};

/// The values of one call, read as Arguments reads those of tvm-ffi.
class TorchValues {
 public:
  TorchValues(const TorchApi& torch, std::string_view who, PyObject* const* given)
      : python_(cpython()), torch_(torch), who_(who), given_(given) {}

  bool is_none(std::size_t index) const { return given_[index] == python_.none; }

  TensorView tensor(std::size_t index, std::string_view name) const {
    DLTensor out;
    if (!torch_.is_tensor(given_[index]) || !torch_.lend(given_[index], &out)) throw NotServed{};
    return named_view(out, who_, name);
  }

  double number(std::size_t index, std::string_view name) const {
    PyObject* const one = given_[index];
    if (one->type == python_.float_type) return python_.number_of(one);
    return static_cast<double>(integer(index, name));
  }

  std::int64_t integer(std::size_t index, std::string_view) const {
    PyObject* const one = given_[index];
    int overflow = 0;
    if (one->type != python_.int_type) throw NotServed{};
    const std::int64_t out = python_.integer_of(one, &overflow);
    if (overflow != 0) throw NotServed{};
    return out;
  }

  bool boolean(std::size_t index, std::string_view) const {
    PyObject* const one = given_[index];
    if (one != python_.yes && one != python_.no) throw NotServed{};
    return one == python_.yes;
  }

  std::string_view text(std::size_t index, std::string_view) const {
    PyObject* const one = given_[index];
    std::ptrdiff_t size = 0;
    if (one->type != python_.str_type) throw NotServed{};
    const char* const out = python_.text_of(one, &size);
    if (out == nullptr) python_.clear_error();
    // tvm-ffi's text ends with its first zero.
    if (out == nullptr || std::strlen(out) != static_cast<std::size_t>(size)) throw NotServed{};
    return {out, static_cast<std::size_t>(size)};
  }

  std::string_view optional_text(std::size_t index, std::string_view name) const {
    return is_none(index) ? std::string_view() : text(index, name);
  }

 private:
  const CPython& python_;
  const TorchApi& torch_;
  std::string_view who_;
  PyObject* const* given_;
};

class TorchCall {
 public:
  TorchCall(const char* op, PyObject* plain, PyObject* parts)
      : op_(op), torch_(parts), plain_(PyHeld::retained(plain)), one_(cpython().make_tuple(1)) {
    if (!one_) throw PythonRaised{};
    for (std::size_t i = 0; i < op_.arguments().size(); ++i) {
      const ArgumentInfo& one = op_.arguments()[i];
      if (one.kind != ArgumentKind::kTensor || one.role == Role::kInput) continue;
      (one.role == Role::kOutput ? outputs_ : inouts_).push_back(i);
    }
    EK_ICHECK(!outputs_.empty(), "an op without outputs");
    tensors_ = outputs_.back() + 1;
  }

  /// The first function of torch_functions().
  PyObject* call(PyObject* const* given, std::ptrdiff_t count) const {
    if (!is_complete(count) || !run(given)) return call_plain(given, count);
    return retained(cpython().none);
  }

  /// The second.
  PyObject* write(PyObject* const* given, std::ptrdiff_t count) const {
    PyObject* const none = cpython().none;
    const bool served = is_complete(count) && given[outputs_.front()] != none && are_plain(given) &&
                        !torch_.has_modes() && run(given);
    return served ? written(given) : retained(none);
  }

 private:
  bool is_complete(std::ptrdiff_t count) const {
    return static_cast<std::size_t>(count) == op_.arguments().size() + 1;
  }

  /// False: a value is for tvm-ffi, and nothing was done.
  bool run(PyObject* const* given) const {
    alignas(16) std::byte args[kMaxArgsBytes];
    const TorchValues values(torch_, op_.name(), given);
    std::string_view variant;
    Device device;
    try {
      device = op_.read(values, args);
      variant = op_.variant(values);
    } catch (const NotServed&) {
      return false;
    }
    const Stream stream = torch_.current_stream(device);
    // A launch into a full queue waits, maybe for a callback that takes the lock.
    without_lock([&] { op_.call(args, stream, variant); });
    return true;
  }

  PyObject* call_plain(PyObject* const* given, std::ptrdiff_t count) const {
    const CPython& python = cpython();
    const PyHeld arguments(python.make_tuple(count));
    if (!arguments) throw PythonRaised{};
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      python.set_tuple_item(arguments.get(), i, retained(given[i]));
    }
    return python.call(plain_.get(), arguments.get(), nullptr);
  }

  /// Whether the tensors are PyTorch's own, and none asks for gradients.
  bool are_plain(PyObject* const* given) const {
    PyObject* const none = cpython().none;
    const bool grad = torch_.is_grad_enabled();
    for (std::size_t i = 0; i < tensors_; ++i) {
      PyObject* const one = given[i];
      if (one == none) continue;
      if (!torch_.is_tensor(one) || (grad && torch_.requires_grad(one))) return false;
    }
    return true;
  }

  /// Counts up the versions of what the call wrote; its outputs that there are, as it gives them.
  PyObject* written(PyObject* const* given) const {
    const CPython& python = cpython();
    if (!inouts_.empty() && !torch_.increment_version(present(given, inouts_).get())) {
      throw PythonRaised{};
    }
    PyObject* const first = given[outputs_.front()];
    for (const std::size_t index : std::span(outputs_).subspan(1)) {
      if (given[index] == python.none) continue;
      PyHeld outputs = present(given, outputs_);
      if (!torch_.increment_version(outputs.get())) throw PythonRaised{};
      return outputs.release();
    }
    increment_version(first);
    return retained(first);
  }

  /// Of one. The tuple that PyTorch wants is kept: making one would be a third of the work. The
  /// lock is held all the while, so that no other call finds it in use.
  void increment_version(PyObject* tensor) const {
    const CPython& python = cpython();
    if (python.set_tuple_item(one_.get(), 0, retained(tensor)) != 0) throw PythonRaised{};
    const bool counted = torch_.increment_version(one_.get());
    python.set_tuple_item(one_.get(), 0, retained(python.none));
    if (!counted) throw PythonRaised{};
  }

  /// A tuple of those that are not None.
  static PyHeld present(PyObject* const* given, std::span<const std::size_t> indices) {
    const CPython& python = cpython();
    std::ptrdiff_t count = 0;
    for (const std::size_t index : indices) count += given[index] != python.none ? 1 : 0;
    PyHeld out(python.make_tuple(count));
    if (!out) throw PythonRaised{};
    count = 0;
    for (const std::size_t index : indices) {
      PyObject* const one = given[index];
      if (one != python.none) python.set_tuple_item(out.get(), count++, retained(one));
    }
    return out;
  }

  OpCall op_;
  TorchApi torch_;
  PyHeld plain_, one_;
  std::vector<std::size_t> outputs_, inouts_;  // by index among the op's arguments
  std::size_t tensors_ = 0;                    // which are the first, the outputs behind the inputs
};

const TorchCall& of(PyObject* capsule) {
  return *static_cast<const TorchCall*>(cpython().capsule_pointer(capsule, kCapsule));
}

PyObject* call(PyObject* self, PyObject* const* given, std::ptrdiff_t count) {
  return answer([&] { return of(self).call(given, count); });
}

PyObject* write(PyObject* self, PyObject* const* given, std::ptrdiff_t count) {
  return answer([&] { return of(self).write(given, count); });
}

void forget(PyObject* capsule) { delete &of(capsule); }

}  // namespace

PyObject* torch_functions(const char* op, PyObject* plain, PyObject* parts) {
  static PyMethodDef call_definition{"call", &call, kPyFastCall, nullptr};
  static PyMethodDef write_definition{"write", &write, kPyFastCall, nullptr};
  return answer([&]() -> PyObject* {
    const CPython& python = cpython();
    auto made = std::make_unique<TorchCall>(op, plain, parts);
    const PyHeld capsule(python.make_capsule(made.get(), kCapsule, &forget));
    if (!capsule) return nullptr;
    static_cast<void>(made.release());  // NOLINT(bugprone-unused-return-value): the capsule's now
    PyHeld functions(python.make_tuple(2));
    if (!functions) return nullptr;
    std::ptrdiff_t at = 0;
    for (PyMethodDef* const one : {&call_definition, &write_definition}) {
      PyObject* const function = python.make_function(one, capsule.get(), nullptr);
      if (function == nullptr) return nullptr;
      python.set_tuple_item(functions.get(), at++, function);
    }
    return functions.release();
  });
}

}  // namespace einkorn::python
