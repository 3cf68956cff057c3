#pragma once

// What the verbs about single kernels, the cache and packs can be told, and those verbs; as
// verbs.h.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <einkorn/jit.h>

namespace einkorn::cli {

/// A source and how to compile it, as every `jit` verb takes it.
struct SourceOptions {
  std::string file;
  std::vector<std::string> entries;
  std::vector<std::string> archs;  ///< none: that of the first GPU; without one sm_90a
  std::vector<std::string> options;
  std::vector<std::string> include_dirs;
  std::string compiler;
  double time_limit = 0;  ///< seconds; 0: as the library decides
  bool cpu = false;       ///< host code, for the CPU
};

/// One request for each arch; without one for that of CUDA device `device`. What can be told of the
/// source without compiling it is checked before.
/// Bad usage: no regular file, no kernel named, a folder that is not there, a compiler or an arch
/// that is unknown or of another kind of code.
std::vector<jit::Request> requests_of(const SourceOptions& source, int device = 0);

struct JitCompileOptions {
  bool json = false;
  bool explain = false;
  bool fail_on_spill = false;
  SourceOptions source;
};

struct JitRunOptions {
  bool json = false;
  SourceOptions source;
  std::vector<std::string> arguments;  ///< "x=f32[1024]", "n=1024", in the kernel's order
  std::optional<std::string> grid, block, smem, cluster;  ///< of kernels
  std::string check;
  std::string device;
  double tolerance = -1;  ///< relative; negative: by the dtype
  bool pdl = false;
  bool cooperative = false;
  std::uint64_t seed = 1;
};

struct ExplainKeyOptions {
  bool json = false;
  std::string first, second;  ///< keys, or beginnings of them
};

struct DisasmOptions {
  std::string what;  ///< a source, a cubin, or a key of the cache
  SourceOptions source;
};

struct CacheOptions {
  bool json = false;
  std::string max_bytes;  ///< of gc; empty: the configured cap
};

struct PackOptions {
  bool json = false;
  bool overwrite = false;
  bool tilings = false;
  std::vector<std::string> words;  ///< ops or variants; none: all
  std::vector<std::string> archs;
  std::string manifest;
  std::string output;
  int level = 1;
};

struct WarmupOptions {
  bool json = false;
  std::string manifest;
  std::vector<std::string> archs;
};

struct ClangdOptions {
  bool overwrite = false;
  std::string arch = "sm_90a";
  std::string output = ".clangd";
  std::vector<std::string> include_dirs;
};

int jit_compile(const JitCompileOptions& options);
int jit_run(const JitRunOptions& options);
int jit_explain_key(const ExplainKeyOptions& options);
int jit_disasm(const DisasmOptions& options);
int cache_ls(const CacheOptions& options);
int cache_stat(const CacheOptions& options);
int cache_verify(const CacheOptions& options);
int cache_gc(const CacheOptions& options);
int cache_clear(const CacheOptions& options);
int pack(const PackOptions& options);
int warmup(const WarmupOptions& options);
int clangd(const ClangdOptions& options);

}  // namespace einkorn::cli
