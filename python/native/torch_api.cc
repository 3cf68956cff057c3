#include "python/native/torch_api.h"

#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn::python {
namespace {

PyHeld part(PyObject* parts, std::ptrdiff_t index) {
  PyObject* const one = cpython().tuple_item(parts, index);
  if (one == nullptr) throw PythonRaised{};
  return PyHeld::retained(one);
}

PyHeld checked(PyObject* result) {
  if (result == nullptr) throw PythonRaised{};
  return PyHeld(result);
}

}  // namespace

TorchApi::TorchApi(PyObject* parts)
    : capsule_(part(parts, 0)),
      tensor_type_(part(parts, 1)),
      parameter_type_(part(parts, 2)),
      requires_grad_(part(parts, 3)),
      is_grad_enabled_(part(parts, 4)),
      modes_(part(parts, 5)),
      increment_version_(part(parts, 6)) {
  const CPython& python = cpython();
  get_requires_grad_ = reinterpret_cast<PyDescriptorGet>(
      python.type_slot(requires_grad_.get()->type, kPyDescriptorGet));
  EK_CHECK(get_requires_grad_ != nullptr, ErrorKind::kType,
           "torch: requires_grad: expected a descriptor, got another object");
  exchange_ = static_cast<const DLPackExchangeAPI*>(
      python.capsule_pointer(capsule_.get(), "dlpack_exchange_api"));
  if (exchange_ == nullptr) throw PythonRaised{};
  const DLPackVersion version = exchange_->header.version;
  EK_CHECK(version.major == DLPACK_MAJOR_VERSION, ErrorKind::kRuntime,
           fmt::format("torch: exchange of tensors: expected DLPack {}, got {}.{}",
                       DLPACK_MAJOR_VERSION, version.major, version.minor));
  EK_CHECK(exchange_->dltensor_from_py_object_no_sync != nullptr &&
               exchange_->current_work_stream != nullptr,
           ErrorKind::kRuntime, "torch: exchange of tensors: lends none");
}

bool TorchApi::requires_grad(PyObject* tensor) const {
  const CPython& python = cpython();
  return checked(get_requires_grad_(requires_grad_.get(), tensor, tensor->type)).get() ==
         python.yes;
}

bool TorchApi::is_grad_enabled() const {
  return checked(is_grad_enabled_()).get() == cpython().yes;
}

bool TorchApi::has_modes() const {
  int overflow = 0;
  return cpython().integer_of(checked(modes_()).get(), &overflow) != 0;
}

bool TorchApi::increment_version(PyObject* tensors) const {
  return static_cast<bool>(PyHeld(increment_version_(tensors)));
}

bool TorchApi::lend(PyObject* tensor, DLTensor* out) const {
  if (exchange_->dltensor_from_py_object_no_sync(tensor, out) == 0) return true;
  cpython().clear_error();
  return false;
}

Stream TorchApi::current_stream(Device device) const {
  if (device.kind != DeviceKind::kCuda) return {device, nullptr};
  const DLDevice on = to_dlpack(device);
  void* out = nullptr;
  if (exchange_->current_work_stream(on.device_type, on.device_id, &out) != 0) throw PythonRaised{};
  return {device, out};
}

}  // namespace einkorn::python
