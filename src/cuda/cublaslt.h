#pragma once

// cuBLASLt, by the few functions that measuring needs; declared here, because its header comes only
// with a toolkit or a wheel of several hundred megabytes. Signatures and values: cuBLAS
// documentation, "Using the cuBLASLt API", 12 and 13.

#include <cstddef>
#include <cstdint>

#include <cuda.h>

#include "src/cuda/dynamic_library.h"

namespace einkorn::cuda {

namespace lt {

using Status = int;
inline constexpr Status kSuccess = 0;

// cudaDataType_t
inline constexpr int kR32F = 0;
inline constexpr int kR16F = 2;
inline constexpr int kR16BF = 14;
inline constexpr int kR8FE4M3 = 28;
// cublasComputeType_t
inline constexpr int kCompute32F = 68;
inline constexpr int kCompute32FFastTf32 = 77;
// cublasOperation_t
inline constexpr int kTranspose = 1;
// cublasLtMatmulDescAttributes_t, cublasLtMatmulPreferenceAttributes_t
inline constexpr int kDescTransA = 3;
inline constexpr int kPreferenceMaxWorkspaceBytes = 1;

struct Algorithm {
  std::uint64_t data[8];
};

struct Heuristic {
  Algorithm algorithm;
  std::size_t workspace_bytes;
  Status state;
  float waves;
  int reserved[4];
};

}  // namespace lt

/// The constructor opens and resolves it; RuntimeError when that fails. Handles are opaque.
struct CublasLt {
  CublasLt();

  DynamicLibrary library;
  lt::Status (*create)(void** handle) = nullptr;
  lt::Status (*destroy)(void* handle) = nullptr;
  lt::Status (*desc_create)(void** desc, int compute_type, int scale_type) = nullptr;
  lt::Status (*desc_destroy)(void* desc) = nullptr;
  lt::Status (*desc_set)(void* desc, int attribute, const void* value, std::size_t bytes) = nullptr;
  lt::Status (*layout_create)(void** layout, int type, std::uint64_t rows, std::uint64_t cols,
                              std::int64_t leading) = nullptr;
  lt::Status (*layout_destroy)(void* layout) = nullptr;
  lt::Status (*preference_create)(void** preference) = nullptr;
  lt::Status (*preference_destroy)(void* preference) = nullptr;
  lt::Status (*preference_set)(void* preference, int attribute, const void* value,
                               std::size_t bytes) = nullptr;
  lt::Status (*heuristic)(void* handle, void* desc, void* a, void* b, void* c, void* d,
                          void* preference, int wanted, lt::Heuristic* results,
                          int* found) = nullptr;
  lt::Status (*matmul)(void* handle, void* desc, const void* alpha, const void* a, void* a_layout,
                       const void* b, void* b_layout, const void* beta, const void* c,
                       void* c_layout, void* d, void* d_layout, const lt::Algorithm* algorithm,
                       void* workspace, std::size_t workspace_bytes, CUstream stream) = nullptr;
};

const CublasLt& cublaslt();

}  // namespace einkorn::cuda
