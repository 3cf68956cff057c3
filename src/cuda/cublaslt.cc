#include "src/cuda/cublaslt.h"

#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn::cuda {
CublasLt::CublasLt() : library(DynamicLibrary::open(cublaslt_spec())) {
  library.resolve("cublasLtCreate", create);
  library.resolve("cublasLtDestroy", destroy);
  library.resolve("cublasLtMatmulDescCreate", desc_create);
  library.resolve("cublasLtMatmulDescDestroy", desc_destroy);
  library.resolve("cublasLtMatmulDescSetAttribute", desc_set);
  library.resolve("cublasLtMatrixLayoutCreate", layout_create);
  library.resolve("cublasLtMatrixLayoutDestroy", layout_destroy);
  library.resolve("cublasLtMatmulPreferenceCreate", preference_create);
  library.resolve("cublasLtMatmulPreferenceDestroy", preference_destroy);
  library.resolve("cublasLtMatmulPreferenceSetAttribute", preference_set);
  library.resolve("cublasLtMatmulAlgoGetHeuristic", heuristic);
  library.resolve("cublasLtMatmul", matmul);
}

const CublasLt& cublaslt() {
  static LazyTable<CublasLt> table;
  return table.get();
}

}  // namespace einkorn::cuda
