#include <tvm/ffi/function.h>

void run(tvm::ffi::TensorView x, tvm::ffi::TensorView out);
void halve_rows(tvm::ffi::TensorView x);
void turn(tvm::ffi::TensorView x);
void append(tvm::ffi::TensorView x);

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(halve_rows, halve_rows);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(turn, turn);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(append, append);
