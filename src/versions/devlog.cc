#include "src/versions/devlog.h"

#include <algorithm>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace einkorn::versions {
namespace {

/// The newest listed version of the same design before this one.
std::string previous_of(const ListedVariant& variant, std::span<const ListedVariant> listed) {
  const ListedVariant* found = nullptr;
  for (const ListedVariant& one : listed) {
    const bool same = one.op == variant.op && one.arch == variant.arch &&
                      one.design == variant.design && one.version < variant.version;
    if (same && (found == nullptr || one.version > found->version)) found = &one;
  }
  return found == nullptr ? std::string() : found->id();
}

std::string microseconds(double us) {
  return us < 100 ? fmt::format("{:.2f}", us) : fmt::format("{:.1f}", us);
}

std::string percent_or_dash(double percent) {
  return percent > 0 ? fmt::format("{:.1f} %", percent) : "-";
}

std::string day_of(const std::string& date) { return date.substr(0, date.find('T')); }

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// "20.00 | -10.0 % | "; nothing for a first version, whose table has no such columns.
std::string change_cells(const Devlog& log, const DevlogRow& row) {
  if (log.previous.empty()) return {};
  if (!row.before) return "- | - | ";
  return fmt::format("{} | {:+.1f} % | ", microseconds(row.before->median_us),
                     (row.now.median_us / row.before->median_us - 1) * 100);
}

std::string table_head(const Devlog& log) {
  std::string change;
  if (!log.previous.empty()) {
    const std::string before = log.previous.substr(log.previous.rfind('_') + 1);
    change = fmt::format("{0} µs | time against {0} | ", before);
  }
  return fmt::format(
      "| problem | tiling | median µs | q1-q3 | TFLOP/s | GB/s | of roof | of copy | {}occupancy "
      "|\n|---|---|---|---|---|---|---|---|{}---|\n",
      change, change.empty() ? "" : "---|---|");
}

std::string table_text(const Devlog& log) {
  std::string out = table_head(log);
  for (const DevlogRow& row : log.rows) {
    const Measured& m = row.now;
    const std::string roof =
        m.percent_of_roof > 0 ? fmt::format("{:.1f} % {}", m.percent_of_roof, m.roof) : m.roof;
    out +=
        fmt::format("| `{}` | `{}` | {} | {}-{} | {:.3f} | {:.1f} | {} | {} | {}{} |\n",
                    m.problem.empty() ? "default" : m.problem, m.tiling, microseconds(m.median_us),
                    microseconds(m.q1_us), microseconds(m.q3_us), m.tflops, m.gbps,
                    roof.empty() ? "-" : roof, percent_or_dash(m.percent_of_copy),
                    change_cells(log, row), row.occupancy.empty() ? "not known" : row.occupancy);
  }
  return out;
}

std::string head_text(const Devlog& log) {
  std::vector<std::string> facts{day_of(log.date), log.device};
  if (!log.driver.empty()) facts.push_back("driver " + log.driver);
  if (!log.versions.empty()) facts.push_back(log.versions);
  if (!log.commit.empty()) facts.push_back("commit " + log.commit);
  std::vector<std::string> files;
  files.reserve(log.files.size());
  for (const std::string& file : log.files) files.push_back(fmt::format("`{}`", file));
  return fmt::format("# {}: {}/{}_v{}\n\n{}.\nFiles: {}.\n", log.variant.op, log.variant.arch,
                     log.variant.design, log.variant.version, fmt::join(facts, ", "),
                     fmt::join(files, ",\n"));
}

std::string change_section(const Devlog& log) {
  if (log.previous.empty()) return "The first version of this design.";
  return fmt::format("Since {}: {}", log.previous,
                     log.changed.empty() ? "the head of its source does not say." : log.changed);
}

std::string comparison_note(const Devlog& log) {
  if (log.previous.empty()) return {};
  const bool any = std::ranges::any_of(log.rows, [](const DevlogRow& r) { return !!r.before; });
  if (any) {
    return fmt::format("\nNegative is faster than {}, which was measured in the same file.\n",
                       log.previous);
  }
  return fmt::format("\n{} was not measured in the same file, so there is no comparison.\n",
                     log.previous);
}

void add_rows(const ResultFile& file, Devlog& log) {
  bool used = false;
  const std::string id = log.variant.id();
  for (const Measured& one : file.results) {
    if (one.variant != id) continue;
    const auto same = [&](const DevlogRow& row) { return row.now.problem == one.problem; };
    if (std::ranges::any_of(log.rows, same)) continue;
    DevlogRow row{*best(file, id, one.problem), file.path, {}, {}};
    if (const Measured* before = best(file, log.previous, one.problem)) row.before = *before;
    log.rows.push_back(std::move(row));
    used = true;
  }
  if (used) log.files.push_back(file.path);
}

}  // namespace

Devlog gather_devlog(const ListedVariant& variant, std::span<const ListedVariant> listed,
                     std::string changed, std::span<const ResultFile> files) {
  const std::string id = variant.id();
  std::vector<const ResultFile*> used;
  for (const ResultFile& file : files) {
    if (std::ranges::find(file.results, id, &Measured::variant) != file.results.end()) {
      used.push_back(&file);
    }
  }
  EK_CHECK(!used.empty(), ErrorKind::kValue,
           fmt::format("devlog: {}: expected a measurement in some of {} result files, got none\n"
                       "  hint: einkorn bench {} --versions --output bench/results/<date>-{}.json",
                       id, files.size(), variant.op, variant.op));
  // Newest first; files of one date in the order of their names.
  std::ranges::stable_sort(used, [](const ResultFile* a, const ResultFile* b) {
    return day_of(a->date) != day_of(b->date) ? a->date > b->date
                                              : file_name(a->path) < file_name(b->path);
  });
  for (const ResultFile* file : used) {
    EK_CHECK(
        file->device == used[0]->device, ErrorKind::kValue,
        fmt::format("devlog: {}: expected measurements of one device, got {} ({}) and {} ({}); "
                    "numbers of different devices are not compared\n"
                    "  hint: --results names the files",
                    id, used[0]->device, used[0]->path, file->device, file->path));
  }
  Devlog log;
  log.variant = variant;
  log.previous = previous_of(variant, listed);
  log.changed = std::move(changed);
  log.device = used[0]->device;
  log.driver = used[0]->driver;
  log.versions = used[0]->versions;
  log.commit = used[0]->commit;
  log.date = used[0]->date;
  for (const ResultFile* file : used) add_rows(*file, log);
  return log;
}

std::string devlog_path(const Devlog& log) {
  std::string day = day_of(log.date);
  std::erase(day, '-');
  return fmt::format("docs/devlog/{}-{}-{}_v{}.md", day, log.variant.op, log.variant.design,
                     log.variant.version);
}

std::string bottleneck(const Measured& m) {
  const std::string of_copy =
      m.percent_of_copy > 0 ? fmt::format("{:.1f} % of a copy", m.percent_of_copy) : std::string();
  const auto and_copy = of_copy.empty() ? std::string() : ", " + of_copy;
  if (m.roof == "cache") {
    return fmt::format(
        "cache: one call fits the last-level cache, where the memory roof says "
        "nothing{}",
        and_copy);
  }
  if (m.percent_of_roof <= 0) {
    return of_copy.empty() ? "not known: the device's roof is not" : "against a copy: " + of_copy;
  }
  // A copy reaches some 90 % of a datasheet's bandwidth; nine tenths of that is close to the roof.
  constexpr double kNearRoof = 80, kNearCopy = 95;
  const bool near = m.percent_of_roof >= kNearRoof || m.percent_of_copy >= kNearCopy;
  const std::string of_what =
      m.roof == "memory" ? "the datasheet's bandwidth" : fmt::format("the {} roof", m.roof);
  return fmt::format("{}: {:.1f} % of {}{}", near ? m.roof : "below the " + m.roof + " roof",
                     m.percent_of_roof, of_what, and_copy);
}

std::string devlog_text(const Devlog& log) {
  std::string out = head_text(log);
  out += fmt::format("\n## What changed\n\n{}\n\n## Result\n\n{}{}", change_section(log),
                     table_text(log), comparison_note(log));
  out += "\n## Bottleneck\n\n";
  for (const DevlogRow& row : log.rows) {
    out += fmt::format("- `{}`: {}.\n", row.now.problem.empty() ? "default" : row.now.problem,
                       bottleneck(row.now));
  }
  out +=
      "\n## Issues\n\n<!-- TODO(you): what went wrong, what is not understood, what is left -->\n"
      "\n## Insights\n\n<!-- TODO(you): what the next version should know -->\n";
  return out;
}

}  // namespace einkorn::versions
