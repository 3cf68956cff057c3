#pragma once

#include <cstddef>
#include <string>

#include "src/report/fields.h"

namespace einkorn::report {

/// One device's part of the page: what is known of it, and its charts with their tables. `device`
/// is an element of report_data's "devices", `index` its place there, by which the charts find it.
std::string device_html(const Json& device, std::size_t index);

/// The files that were read and those that were not, with the reasons.
std::string sources_html(const Json& data);

}  // namespace einkorn::report
