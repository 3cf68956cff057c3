#pragma once

#include <string>
#include <vector>

namespace einkorn {

/// What starts this program anew, for work that belongs in a process of its own: this executable,
/// or what set_self_command() said. RuntimeError: the system does not tell the executable.
std::vector<std::string> self_command();

/// For a program that the library is only a part of, such as an interpreter: the words before the
/// verb. Before any threads.
void set_self_command(std::vector<std::string> words);

}  // namespace einkorn
