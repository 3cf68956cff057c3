#pragma once

#include <string>

namespace einkorn::test {

/// The repository's root, without a slash at its end. Tests find golden files and kernels there.
const std::string& source_dir();

}  // namespace einkorn::test
