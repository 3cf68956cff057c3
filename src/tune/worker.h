#pragma once

// The child's side: builds, checks and times candidates as it is told.

namespace einkorn::tune {

/// Reads requests from file `in` and writes answers to `out`, a line each (protocol.h), until `in`
/// ends. Whatever else writes to standard output meanwhile goes to standard error. Ctrl-C is left
/// to the parent. Returns an exit status.
int serve(int in, int out);

/// serve() on standard input and output.
int serve_standard();

}  // namespace einkorn::tune
