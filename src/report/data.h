#pragma once

// The report's content as one JSON document: what the page shows in tables and draws in charts,
// what is embedded in it, and what `einkorn report --json` prints. docs/guide/json.md has the keys.

#include <span>
#include <string_view>

#include "src/report/documents.h"
#include "src/report/fields.h"
#include "src/report/peaks.h"

namespace einkorn::report {

/// Everything, by device: no number stands beside one of another device. `date` is when the report
/// was made.
Json report_data(const Documents& documents, std::string_view date);

// The parts, each of one device's documents.

/// One row a measured result, newest documents first. `latest` tells the rows of the newest
/// document that has this variant and problem from those it supersedes.
Json results_data(std::span<const BenchDocument> benches, const Peaks& peaks);

/// Our variants, the copy and the peers, by problem: of the newest document that has the problem,
/// so that all were timed in the same rounds.
Json comparisons_data(std::span<const BenchDocument> benches);

/// Versions of one design on one problem, out of one document.
Json ladders_data(std::span<const BenchDocument> benches);

/// The trials of each variant and problem in the order in which they were made.
Json tuning_data(std::span<const Trial> trials);

/// The stage times of each profile; of one variant and problem the newest.
Json stages_data(std::span<const ProfileDocument> profiles);

/// null for 0, which means "not known" in our documents.
Json known(double value);

/// Six significant digits, for what is computed here; null for 0.
Json computed(double value);

}  // namespace einkorn::report
