#include "src/core/utc_time.h"

#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace einkorn {

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::string utc_date() { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))); }

}  // namespace einkorn
