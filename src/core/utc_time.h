#pragma once

#include <string>

namespace einkorn {

/// The time in UTC as result files have it, "2026-11-28T07:04:12Z".
std::string utc_now();
/// Its date, "2026-11-28".
std::string utc_date();

}  // namespace einkorn
