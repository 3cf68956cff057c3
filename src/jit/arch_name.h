#pragma once

#include <string_view>

namespace einkorn::jit {

/// 90 of "sm_90", "sm_90a" and "sm_90f"; 0 when the text has another form.
int sm_number(std::string_view arch);

}  // namespace einkorn::jit
