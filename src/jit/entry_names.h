#pragma once

#include <string>
#include <string_view>

namespace einkorn::jit {

/// A name expression as keys have it, whatever blanks it was written with: "k<float,4 >" and
/// "k<float, 4>" are one. Text with quotes stays as it is.
std::string normal_entry(std::string_view expression);

}  // namespace einkorn::jit
