#pragma once

// What is used of CPython's C interface: its limited part, the same in all versions since 3.11, so
// that the library is no extension module of one. Looked up in the process, which is Python's.

#include <atomic>
#include <cstddef>
#include <exception>

namespace einkorn::python {

/// What every object begins with, in builds with the global lock.
struct PyObject {
  std::ptrdiff_t references;
  PyObject* type;
};

using PyFastFunction = PyObject* (*)(PyObject* self, PyObject* const* arguments,
                                     std::ptrdiff_t count);

/// A function's description. It has to outlive the function.
struct PyMethodDef {
  const char* name;
  PyFastFunction call;
  int flags;
  const char* doc;
};
inline constexpr int kPyFastCall = 0x0080;  ///< METH_FASTCALL

/// Of at most one argument.
using PySimpleFunction = PyObject* (*)(PyObject* self, PyObject* argument);
inline constexpr int kPyNoArguments = 0x0004;  ///< METH_NOARGS
inline constexpr int kPyOneArgument = 0x0008;  ///< METH_O

using PyDescriptorGet = PyObject* (*)(PyObject* descriptor, PyObject* object, PyObject* type);
inline constexpr int kPyDescriptorGet = 54;  ///< Py_tp_descr_get

/// Functions and objects of the interpreter. All but those of the lock's two need the lock.
struct CPython {
  /// RuntimeError: no Python in the process, one without the global lock, whose objects are laid
  /// out otherwise, or one that lacks a function.
  CPython();

  const char* (*version)() = nullptr;
  void (*retain)(PyObject* one) = nullptr;
  void (*release)(PyObject* one) = nullptr;

  /// The global lock, given up and taken again.
  void* (*unlock)() = nullptr;
  void (*lock)(void* state) = nullptr;

  void (*set_error)(PyObject* type, const char* text) = nullptr;
  void (*clear_error)() = nullptr;

  PyObject* (*make_function)(PyMethodDef* definition, PyObject* self, PyObject* module) = nullptr;
  PyObject* (*make_capsule)(void* pointer, const char* name,
                            void (*destructor)(PyObject* capsule)) = nullptr;
  void* (*capsule_pointer)(PyObject* capsule, const char* name) = nullptr;
  /// Of a function in C, and null for another object, with the error set.
  PySimpleFunction (*function_code)(PyObject* function) = nullptr;
  PyObject* (*function_self)(PyObject* function) = nullptr;  ///< borrowed
  int (*function_flags)(PyObject* function) = nullptr;
  void* (*type_slot)(PyObject* type, int slot) = nullptr;
  PyObject* (*call)(PyObject* callable, PyObject* arguments, PyObject* keywords) = nullptr;
  PyObject* (*call_with)(PyObject* callable, ...) = nullptr;  ///< arguments, then a null

  PyObject* (*make_tuple)(std::ptrdiff_t size) = nullptr;
  std::ptrdiff_t (*tuple_size)(PyObject* tuple) = nullptr;
  PyObject* (*tuple_item)(PyObject* tuple, std::ptrdiff_t index) = nullptr;  ///< borrowed
  /// Takes over the item's reference.
  int (*set_tuple_item)(PyObject* tuple, std::ptrdiff_t index, PyObject* item) = nullptr;
  long long (*integer_of)(PyObject* one, int* overflow) = nullptr;
  double (*number_of)(PyObject* one) = nullptr;
  const char* (*text_of)(PyObject* one, std::ptrdiff_t* size) = nullptr;

  PyObject *none = nullptr, *yes = nullptr, *no = nullptr, *not_implemented = nullptr;
  PyObject *int_type = nullptr, *float_type = nullptr, *str_type = nullptr, *tuple_type = nullptr;
  PyObject *type_error = nullptr, *value_error = nullptr, *runtime_error = nullptr,
           *not_implemented_error = nullptr, *memory_error = nullptr;
};

namespace detail {
inline std::atomic<const CPython*> found_python{nullptr};
const CPython& find_python();
}  // namespace detail

/// The process's. In the header because each of its functions is called through it.
inline const CPython& cpython() {
  const CPython* const found = detail::found_python.load(std::memory_order_acquire);
  return found != nullptr ? *found : detail::find_python();
}

/// A reference that is held.
class PyHeld {
 public:
  PyHeld() = default;
  /// Takes over a reference; null is none.
  explicit PyHeld(PyObject* one) : one_(one) {}
  static PyHeld retained(PyObject* one) {
    cpython().retain(one);
    return PyHeld(one);
  }
  PyHeld(PyHeld&& other) noexcept : one_(other.release()) {}
  PyHeld& operator=(PyHeld&& other) noexcept {
    PyObject* const before = one_;
    one_ = other.release();
    if (before != nullptr) cpython().release(before);
    return *this;
  }
  PyHeld(const PyHeld&) = delete;
  PyHeld& operator=(const PyHeld&) = delete;
  ~PyHeld() {
    if (one_ != nullptr) cpython().release(one_);
  }

  PyObject* get() const { return one_; }
  explicit operator bool() const { return one_ != nullptr; }
  /// Gives the reference away.
  PyObject* release() {
    PyObject* const out = one_;
    one_ = nullptr;
    return out;
  }

 private:
  PyObject* one_ = nullptr;
};

/// A callable that is called often, without or with one argument. Code in C is called directly.
class PyCallable {
 public:
  explicit PyCallable(PyHeld one);

  /// A new reference, or null with the error set. Null as argument: none.
  PyObject* operator()(PyObject* argument = nullptr) const {
    if (code_ != nullptr) return code_(self_, argument);
    return cpython().call_with(one_.get(), argument, nullptr);
  }

 private:
  PyHeld one_;
  PySimpleFunction code_ = nullptr;
  PyObject* self_ = nullptr;
};

/// Runs `body` with the global lock given up. No destructor takes the lock: at the interpreter's
/// end taking it ends the thread by unwinding, which a destructor would turn into the process's.
template <class Body>
void without_lock(Body&& body) {
  void* const state = cpython().unlock();
  try {
    body();
  } catch (const std::exception&) {
    cpython().lock(state);
    throw;
  }
  cpython().lock(state);
}

}  // namespace einkorn::python
