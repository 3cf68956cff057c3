#pragma once

// The log entry of a version. Numbers come from result files, never from a hand; what they mean is
// the author's to say.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/versions/measured.h"
#include "src/versions/source_tree.h"

namespace einkorn::versions {

/// One line of the table.
struct DevlogRow {
  Measured now;
  std::string file;
  std::optional<Measured> before;  ///< of the previous version, measured in the same file
  std::string occupancy;           ///< "75 %"; empty: not known
};

struct Devlog {
  ListedVariant variant;
  std::string previous;  ///< id of the newest earlier version that is listed; empty: the first
  std::string changed;   ///< what the head of its source says
  std::string device, driver, versions, commit, date;  ///< of the newest file
  std::vector<std::string> files;
  std::vector<DevlogRow> rows;  ///< one for each problem, from the newest file that has it
};

/// Gathers the entry; `listed` are the variants of the op. ValueError: no file has a measurement of
/// the variant (says how to make one), or they are from several devices, which are not compared.
Devlog gather_devlog(const ListedVariant& variant, std::span<const ListedVariant> listed,
                     std::string changed, std::span<const ResultFile> files);

/// "docs/devlog/20261128-rms_norm-rows_v2.md", by the date of the newest measurement.
std::string devlog_path(const Devlog& log);

/// Markdown. Sections for the author are there and empty.
std::string devlog_text(const Devlog& log);

/// What limits a result, by its roof: "memory: 95.6 % of the datasheet's bandwidth, ...".
std::string bottleneck(const Measured& measured);

}  // namespace einkorn::versions
