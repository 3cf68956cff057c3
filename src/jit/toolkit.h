#pragma once

#include <filesystem>
#include <vector>

namespace einkorn::jit {

/// Folders with the CUDA toolkit's headers, for sources that include them: $CUDA_HOME, $CUDA_PATH,
/// beside NVRTC, /usr/local/cuda; each with its `cccl` folder (cuda/std, nv/target). Those that
/// exist; looked for once.
const std::vector<std::filesystem::path>& toolkit_include_folders();

}  // namespace einkorn::jit
