#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace einkorn {

/// A file or folder of the checkout that this program was built in or is called from: the first of
/// that name in a folder above the executable, then above the working directory.
std::optional<std::filesystem::path> find_in_checkout(const std::filesystem::path& name);

/// The Python for work that Python does: EINKORN_PYTHON, else that of the checkout's .venv, else
/// `python3`, to be searched in PATH.
std::string python_command();

}  // namespace einkorn
