#pragma once

#include <tvm/ffi/container/tensor.h>

void add_bias_launcher(tvm::ffi::TensorView x, tvm::ffi::TensorView bias, tvm::ffi::TensorView out);
void scale_bias(tvm::ffi::TensorView bias, double by);
