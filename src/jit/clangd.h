#pragma once

// A .clangd file, so that editors understand device sources.

#include <string>
#include <string_view>
#include <vector>

namespace einkorn::jit {

struct ClangdOptions {
  /// The checkout whose device headers are included, e.g. "src/cuda/device/common/vec.cuh".
  std::string root;
  std::vector<std::string> include_dirs = {};  ///< searched before `root`
  std::string arch = "sm_90a";
  /// Folder with the headers of a whole toolkit, as find_toolkit_headers() gives it. Empty: only
  /// what NVRTC has built in is known, from tools/clangd_prelude.cuh; einkorn's kernels need no
  /// more.
  std::string toolkit_include = {};
  /// Of the clangd that will read the file, as clangd_major_version() gives it; older ones do not
  /// know every architecture and get the newest that they know. 0: one that knows them all.
  int clangd_major = 0;
  /// Take flags from compile_commands.json, too. Kernels that einkorn compiles are in none, and
  /// clangd would guess from files of similar name.
  bool use_database = false;
};

/// The arch that the file names for what the options ask: what that clangd knows of it. ValueError:
/// an arch of another form or before sm_80.
std::string clangd_arch(const ClangdOptions& options);

/// The text of the file. Paths are made absolute: it belongs to one machine.
/// ValueError: an arch of another form or before sm_80, no device headers in `root`, a folder that
/// does not exist.
std::string clangd_config(const ClangdOptions& options);

/// Writes it whole or not at all. ValueError: the file exists and `overwrite` is false.
/// RuntimeError: it cannot be written, with the system's reason.
void write_clangd(const std::string& path, std::string_view text, bool overwrite);

/// The first folder of a toolkit's headers that is complete enough for clang, or empty: the wheel
/// of the CUDA runtime alone lacks those of the compiler (crt/), nvidia-cuda-crt has them.
std::string find_toolkit_headers();

/// 22 of "clangd version 22.1.1"; 0 when there is no clangd in PATH or it says something else.
int clangd_major_version();

}  // namespace einkorn::jit
