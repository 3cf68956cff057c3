#pragma once

// What a cubin says about itself, read without external tools.
//
// A cubin is an ELF64 file of machine 190. NVIDIA does not document its insides; what is used here
// was taken from LLVM (llvm/include/llvm/BinaryFormat/ELF.h: the header's flags) and from comparing
// what `cuobjdump -elf`, `nvdisasm` and `ptxas -v` say of files of NVRTC 12.0, 12.4, 12.9, 13.0 and
// 13.5 and nvcc 13.0, for sm_75 to sm_120a.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <einkorn/jit.h>

namespace einkorn::jit {

/// One parameter of a kernel, as it lies in the parameter block.
struct CubinParameter {
  int index = 0;            ///< from 0, in the order of the declaration
  std::int64_t offset = 0;  ///< bytes from the block's begin
  std::int64_t bytes = 0;   ///< 1 for an empty struct, as in C++
};

struct CubinKernel {
  std::string lowered;  ///< mangled name, unless extern "C"
  /// As `ptxas -v` reports them, except that spill_stores and spill_loads are 0: those numbers are
  /// not in a cubin. Local loads and stores hint at them.
  Resources resources;
  /// LDL and STL instructions in its code: signs of spills, or of local arrays with run-time
  /// indices. Those of its non-inlined functions count as well.
  std::int64_t local_loads = 0, local_stores = 0;
  /// Of a block, by __launch_bounds__ or __block_size__ (.maxntid, .reqntid); 0 without a bound.
  int max_threads = 0;
  std::vector<CubinParameter> parameters;  ///< sorted by index, which is their position
  std::int64_t code_bytes = 0;             ///< with the padding to 128 bytes
};

struct Cubin {
  int sm = 0;                  ///< 90 for sm_90 and sm_90a
  bool arch_specific = false;  ///< "a", e.g. sm_90a. An "f" does not show: its code runs as plain
  std::vector<CubinKernel>
      kernels;  ///< in the order of the symbol table; device functions left out
};

/// RuntimeError that names what is wrong: too short, not ELF, not CUDA, older than sm_70, a section
/// that ends behind the last byte, a record of another form. Whatever the bytes, nothing is read
/// outside of them. The result holds copies only.
Cubin read_cubin(std::span<const std::byte> bytes);

}  // namespace einkorn::jit
