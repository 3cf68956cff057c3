#include <torch/extension.h>
#include "ops.h"

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  py::class_<rowops::Counter>(m, "Counter")
      .def(py::init<>())
      .def("add", &rowops::Counter::add, py::arg("count"))
      .def("reset", [](rowops::Counter& self) { self.add(-self.total()); });
  m.def_submodule("ops")
      .def("scale_rows", rowops::ops::scale_rows)
      .def("row_sums", &rowops::ops::row_sums, py::arg("x"), py::arg("out"));
  auto limits = m.def_submodule("limits");
  limits.def("largest_width", []() { return rowops::kernels::kLargestWidth; });
  m.def("version", &rowops::version, "of the extension");
}
