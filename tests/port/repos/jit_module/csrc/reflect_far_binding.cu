#include <tvm/ffi/function.h>

void run_far(tvm::ffi::TensorView x, tvm::ffi::TensorView out);

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run_far);
