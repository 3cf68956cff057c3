#pragma once

#include <span>
#include <string>

#include "src/report/documents.h"

namespace einkorn::report {

/// Reads files and folders (with all below them): `*.json` as documents, `*.jsonl` as trials. A
/// file of a folder that is no such document is listed in `skipped` with the reason; files with
/// other endings are passed over. A path that is named itself has to be there and of use:
/// ValueError that names it and says why not. A path given twice is read once.
Documents collect(std::span<const std::string> paths);

}  // namespace einkorn::report
