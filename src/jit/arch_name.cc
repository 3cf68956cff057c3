#include "src/jit/arch_name.h"

#include <charconv>
#include <system_error>

namespace einkorn::jit {

int sm_number(std::string_view arch) {
  if (!arch.starts_with("sm_")) return 0;
  arch.remove_prefix(3);
  if (arch.ends_with('a') || arch.ends_with('f')) arch.remove_suffix(1);
  int number = 0;
  const auto [end, error] = std::from_chars(arch.data(), arch.data() + arch.size(), number);
  return error == std::errc() && end == arch.data() + arch.size() ? number : 0;
}

}  // namespace einkorn::jit
