#pragma once

// From source text to a loadable cubin, in process, with no files in between.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <einkorn/cuda.h>

namespace einkorn::jit {

/// One translation unit to compile for one architecture.
struct Request {
  std::string file;    ///< path as shown in messages; with an empty `source`, an embedded file
  std::string source;  ///< CUDA C++; empty: the embedded text of `file`
  std::vector<std::string> entries;  ///< name expressions, e.g. "einkorn::k<float, 4>"
  std::string arch;                  ///< "sm_80", "sm_90a", "sm_100a"
  std::vector<std::string> options;  ///< further compiler options, in order
};

/// What one kernel takes of a multiprocessor, as the assembler reported it.
struct Resources {
  int registers = 0;              ///< per thread
  std::int64_t static_smem = 0;   ///< bytes per block
  std::int64_t stack_bytes = 0;   ///< local memory frame per thread
  std::int64_t spill_stores = 0;  ///< bytes per thread
  std::int64_t spill_loads = 0;   ///< bytes per thread
};

struct EntryPoint {
  std::string expression;  ///< as asked for
  std::string lowered;     ///< mangled name in the cubin
  Resources resources;
};

struct Artifact {
  std::vector<std::byte> cubin;
  std::vector<EntryPoint> entries;
  std::string log;       ///< the compiler's whole output, warnings included
  std::string compiler;  ///< "nvrtc 13.0"
  double compile_ms = 0;
};

/// Compiles, or answers from memory when the same request was compiled before; concurrent calls for
/// one request compile once, and a request that failed fails again without compiling.
///
/// RuntimeError: NVRTC missing (with the places searched), or the source does not compile: then the
/// message holds the first error with file and line, a hint, and the path of the full log.
/// ValueError: an arch that this NVRTC does not know (lists those it does), an unknown embedded
/// file.
std::shared_ptr<const Artifact> compile(const Request& request);

/// Compiles and loads one kernel; kept for the process, so later calls cost a look-up.
cuda::Kernel load(const Request& request);

/// The architecture that code for this compute capability is compiled for when it uses the
/// architecture's own instructions: 90 gives "sm_90a", 80 "sm_80".
std::string native_arch(int cc);

/// Number of compilations done by this process, for tests and `doctor`.
std::uint64_t compile_count();

}  // namespace einkorn::jit
