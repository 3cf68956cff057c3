#pragma once

#include <string>
#include <string_view>

namespace einkorn::jit {

struct LogFile {
  std::string path;    ///< empty when it could not be written
  std::string reason;  ///< why not
};

/// Writes a compiler's log to `<root>/einkorn-<uid>/logs/<stem>-<pid>-<n>.log`, folders of mode
/// 0700, root being $TMPDIR or /tmp. A folder of another user, or a link in its place, is not used.
LogFile write_log(std::string_view stem, std::string_view text);

}  // namespace einkorn::jit
