#pragma once

#include <string_view>

#include <einkorn/jit.h>
#include <einkorn/stage.h>

namespace einkorn {

/// What a launch compiles for an architecture.
jit::Request request_of(const LaunchStage& stage, std::string_view arch);

}  // namespace einkorn
