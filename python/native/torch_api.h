#pragma once

// What calls with PyTorch's tensors need of PyTorch: its exchange of tensors by DLPack's C
// interface, and a few of its functions and types for Python.

#include <exception>

#include <dlpack/dlpack.h>
#include <einkorn/device.h>

#include "python/native/cpython.h"

namespace einkorn::python {

/// Thrown where Python's error is set already.
struct PythonRaised : std::exception {};

class TorchApi {
 public:
  /// `parts`, each of which is kept: the capsule torch.Tensor.__dlpack_c_exchange_api__, the types
  /// Tensor and Parameter, TensorBase's descriptor of requires_grad, is_grad_enabled,
  /// _len_torch_dispatch_stack and _increment_version. TypeError: not these. RuntimeError: an
  /// exchange of another major version, or one that lends no tensors.
  explicit TorchApi(PyObject* parts);

  /// Whether it is of one of PyTorch's own types. A tensor of such a type may still be sparse,
  /// quantised, meta or wrapped by torch.func: lend() refuses those.
  bool is_tensor(const PyObject* one) const {
    return one->type == tensor_type_.get() || one->type == parameter_type_.get();
  }
  bool requires_grad(PyObject* tensor) const;
  bool is_grad_enabled() const;
  /// Whether a mode of PyTorch's dispatcher is active.
  bool has_modes() const;
  /// False: the error is set.
  bool increment_version(PyObject* tensors) const;

  /// The tensor's memory, shape and strides, which stay the tensor's; false where it has none to
  /// lend, with no error set.
  bool lend(PyObject* tensor, DLTensor* out) const;
  /// PyTorch's current one of a device; none for the CPU.
  Stream current_stream(Device device) const;

 private:
  PyHeld capsule_, tensor_type_, parameter_type_, requires_grad_;
  PyCallable is_grad_enabled_, modes_, increment_version_;
  PyDescriptorGet get_requires_grad_ = nullptr;
  const DLPackExchangeAPI* exchange_ = nullptr;
};

}  // namespace einkorn::python
