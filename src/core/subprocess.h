#pragma once

// Other programs, run to their end: compilers, disassemblers.

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace einkorn::subprocess {

struct Options {
  std::string_view input = {};  ///< bytes of the program's standard input; it sees their end
  std::optional<std::chrono::milliseconds> time_limit =
      {};  ///< of the whole run; nothing: no limit
  /// "NAME=value", added to this process's environment or in place of what it has.
  std::vector<std::string> environment = {};
  /// Where the program starts; empty: this process's working folder.
  std::string working_folder = {};
  /// Bytes of output and errors together. A program that writes more is ended like one that takes
  /// too long, so that it cannot take the machine's memory.
  std::size_t output_limit = std::size_t{1} << 30;
};

struct Result {
  int exit_status = -1;      ///< 0 to 255; -1 when a signal ended the program
  int signal = 0;            ///< that ended it; SIGKILL when it was ended by us; 0 for an exit
  bool timed_out = false;    ///< ended by us at the time limit
  bool over_output = false;  ///< ended by us at the output limit
  std::string output;        ///< bytes of standard output, also of a program that was ended
  std::string errors;        ///< bytes of standard error

  bool ok() const { return exit_status == 0 && !timed_out && !over_output; }
};

/// Runs a program and waits for its end. `argv[0]` is a path, or a name that is searched in PATH of
/// this process; arguments arrive as they are: no shell takes part.
///
/// The program gets a process group of its own, default signal handling, and no file of this
/// process but its three standard ones. At a limit the whole group is killed, what the program
/// started included; so is whatever of the group is left when the program itself ends. Only a
/// descendant that made a session of its own (a daemon) lives on; it is not waited for. When this
/// process is killed the group of a program that has run for 20 ms or more is killed, too.
/// Safe from several threads at once.
///
/// A program that fails is no error here: see the result. RuntimeError: it cannot be started (no
/// such program, no permission), the system is out of files or processes, or the process ignores
/// SIGCHLD, so that the status is lost. ValueError: a NUL inside of an argument.
Result run(const std::vector<std::string>& argv, const Options& options = {});

/// How it ended, for messages: "exit status 2", "signal 11 (Segmentation fault)", "ended after the
/// limit of 500 ms".
std::string describe(const Result& result, const Options& options = {});

/// The words' own memory with a null pointer at the end, as exec and its like take them.
std::vector<char*> pointers_to(std::vector<std::string>& words);

/// True for a regular file that may be executed.
bool is_program(const std::string& path);

/// The full path of a program by the folders of `path` (PATH's form, empty entries left out).
/// Nothing when none of them has an executable file of that name, or the name holds a '/'.
std::optional<std::string> find_program(std::string_view name, std::string_view path);

/// The same, by PATH of this process.
std::optional<std::string> find_program(std::string_view name);

}  // namespace einkorn::subprocess
