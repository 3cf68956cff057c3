#include "python/native/cpython.h"

#include <dlfcn.h>

#include <string_view>
#include <utility>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/cuda/dynamic_library.h"

namespace einkorn::python {
namespace {

template <class T>
void resolve(const char* name, T& out) {
  out = reinterpret_cast<T>(::dlsym(RTLD_DEFAULT, name));
  EK_CHECK(out != nullptr, ErrorKind::kRuntime,
           fmt::format("CPython: {} is not in this process", name));
}

/// An exception's type, which the interpreter exports as a variable.
void resolve_variable(const char* name, PyObject*& out) {
  PyObject** variable = nullptr;
  resolve(name, variable);
  out = *variable;
}

}  // namespace

CPython::CPython() {
  resolve("Py_GetVersion", version);
  EK_CHECK(std::string_view(version()).find("free-threading") == std::string_view::npos,
           ErrorKind::kRuntime, fmt::format("CPython: {}: has no global lock", version()));
  resolve("Py_IncRef", retain);
  resolve("Py_DecRef", release);
  resolve("PyEval_SaveThread", unlock);
  resolve("PyEval_RestoreThread", lock);
  resolve("PyErr_SetString", set_error);
  resolve("PyErr_Clear", clear_error);
  resolve("PyCFunction_NewEx", make_function);
  resolve("PyCapsule_New", make_capsule);
  resolve("PyCapsule_GetPointer", capsule_pointer);
  resolve("PyCFunction_GetFunction", function_code);
  resolve("PyCFunction_GetSelf", function_self);
  resolve("PyCFunction_GetFlags", function_flags);
  resolve("PyType_GetSlot", type_slot);
  resolve("PyObject_Call", call);
  resolve("PyObject_CallFunctionObjArgs", call_with);
  resolve("PyTuple_New", make_tuple);
  resolve("PyTuple_Size", tuple_size);
  resolve("PyTuple_GetItem", tuple_item);
  resolve("PyTuple_SetItem", set_tuple_item);
  resolve("PyLong_AsLongLongAndOverflow", integer_of);
  resolve("PyFloat_AsDouble", number_of);
  resolve("PyUnicode_AsUTF8AndSize", text_of);
  resolve("_Py_NoneStruct", none);
  resolve("_Py_TrueStruct", yes);
  resolve("_Py_FalseStruct", no);
  resolve("_Py_NotImplementedStruct", not_implemented);
  resolve("PyLong_Type", int_type);
  resolve("PyFloat_Type", float_type);
  resolve("PyUnicode_Type", str_type);
  resolve("PyTuple_Type", tuple_type);
  resolve_variable("PyExc_TypeError", type_error);
  resolve_variable("PyExc_ValueError", value_error);
  resolve_variable("PyExc_RuntimeError", runtime_error);
  resolve_variable("PyExc_NotImplementedError", not_implemented_error);
  resolve_variable("PyExc_MemoryError", memory_error);
}

PyCallable::PyCallable(PyHeld one) : one_(std::move(one)) {
  const CPython& python = cpython();
  const PySimpleFunction code = python.function_code(one_.get());
  if (code == nullptr) {
    python.clear_error();
    return;
  }
  const int flags = python.function_flags(one_.get());
  if (flags != kPyNoArguments && flags != kPyOneArgument) return;
  code_ = code;
  self_ = python.function_self(one_.get());
}

const CPython& detail::find_python() {
  static cuda::LazyTable<CPython> table;
  found_python.store(&table.get(), std::memory_order_release);
  return table.get();
}

}  // namespace einkorn::python
