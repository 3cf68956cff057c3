#pragma once

#include <span>
#include <string>
#include <string_view>

#include "src/report/fields.h"

namespace einkorn::report {

struct PageFile {
  std::string_view path;  ///< relative to the repository root
  std::string_view text;  ///< the whole file
};

/// The parts of the page that are files: src/report/page/, and the chart library as
/// "src/report/page/d3.min.js". Sorted by path.
std::span<const PageFile> page_files();

/// The whole page, complete in itself: it opens without a network and loads nothing. `data` is
/// report_data's.
std::string page_html(const Json& data);

}  // namespace einkorn::report
