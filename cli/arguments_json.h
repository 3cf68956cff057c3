#pragma once

#include <einkorn/op.h>

#include "cli/json.h"

namespace einkorn::cli {

/// An op's declared arguments in order, as docs/guide/json.md, list: what bindings in other
/// languages are written from.
Json arguments_json(const OpDef& op);

}  // namespace einkorn::cli
