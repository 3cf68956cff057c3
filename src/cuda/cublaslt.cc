#include "src/cuda/cublaslt.h"

#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn::cuda {
namespace {

template <class Function>
void resolve(const DynamicLibrary& library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(library.symbol(name));
  EK_CHECK(out != nullptr, ErrorKind::kRuntime,
           fmt::format("libcublasLt: function {} is missing from {}", name, library.path()));
}

}  // namespace

CublasLt::CublasLt() : library(DynamicLibrary::open(cublaslt_spec())) {
  resolve(library, "cublasLtCreate", create);
  resolve(library, "cublasLtDestroy", destroy);
  resolve(library, "cublasLtMatmulDescCreate", desc_create);
  resolve(library, "cublasLtMatmulDescDestroy", desc_destroy);
  resolve(library, "cublasLtMatmulDescSetAttribute", desc_set);
  resolve(library, "cublasLtMatrixLayoutCreate", layout_create);
  resolve(library, "cublasLtMatrixLayoutDestroy", layout_destroy);
  resolve(library, "cublasLtMatmulPreferenceCreate", preference_create);
  resolve(library, "cublasLtMatmulPreferenceDestroy", preference_destroy);
  resolve(library, "cublasLtMatmulPreferenceSetAttribute", preference_set);
  resolve(library, "cublasLtMatmulAlgoGetHeuristic", heuristic);
  resolve(library, "cublasLtMatmul", matmul);
}

const CublasLt& cublaslt() {
  static LazyTable<CublasLt> table;
  return table.get();
}

}  // namespace einkorn::cuda
