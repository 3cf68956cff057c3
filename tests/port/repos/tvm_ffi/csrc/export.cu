#include <tvm/ffi/function.h>
#include <tvm/ffi/reflection/registry.h>

#include "bias.h"

TVM_FFI_DLL_EXPORT_TYPED_FUNC(add_bias, add_bias_launcher);

TVM_FFI_STATIC_INIT_BLOCK() {
  namespace refl = tvm::ffi::reflection;
  refl::GlobalDef().def("biaslib.scale_bias", scale_bias).def("biaslib.largest", [](int64_t width) {
    return width <= 4096;
  });
}
