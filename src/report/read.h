#pragma once

// From a document's text to what it says. Pure: no file is opened here.

#include <string>
#include <string_view>

#include "src/report/documents.h"
#include "src/report/fields.h"

namespace einkorn::report {

/// Adds what one JSON document holds to `documents`: of `einkorn bench`, `run`, `doctor --measure`
/// or `profile --mode event`. ValueError with the reason, without the path, when it is no JSON,
/// none of these, or damaged; `documents` is then as it was.
void read_document(const std::string& path, std::string_view text, Documents& documents);

/// Adds the trials of a trial store's file. Lines that are no trial are counted in
/// `documents.skipped`, one entry for each reason with the number of the first such line.
/// ValueError when no line is one.
void read_trials(const std::string& path, std::string_view text, Documents& documents);

/// Device, driver, commit, date and versions of a document. ValueError when one has a wrong type.
Origin origin_of(const std::string& path, const Json& document);

/// Median and quartiles; an absent quartile is the median.
Spread spread_of(const Json& object);

/// `parse` of nlohmann/json, but a ValueError that says in which line and column.
Json parse_json(std::string_view text);

}  // namespace einkorn::report
