#pragma once

namespace einkorn::cli {

/// The whole command: parses, runs a verb, prints errors. Returns the exit status (status.h).
int command(int argc, char** argv);

}  // namespace einkorn::cli
