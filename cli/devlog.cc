// einkorn devlog: the log entry of a version, from what was measured.

#include <algorithm>
#include <filesystem>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "cli/devlog_occupancy.h"
#include "cli/status.h"
#include "cli/terminal.h"
#include "cli/tree_changes.h"
#include "src/core/file.h"
#include "src/versions/devlog.h"
#include "src/versions/rename.h"

namespace einkorn::cli {
namespace {

namespace fs = std::filesystem;

/// Path from the tree's root where it lies in it, otherwise as it was given.
std::string shown_path(const versions::SourceTree& tree, const std::string& path) {
  const std::string full = fs::absolute(path).lexically_normal().string();
  const std::string root = fs::absolute(tree.root()).lexically_normal().string() + '/';
  return full.starts_with(root) ? full.substr(root.size()) : path;
}

versions::ResultFile read_results(const versions::SourceTree& tree, const std::string& path) {
  const FileContent content = read_file(path);
  if (content.error) {
    throw Exit(kBadUsage,
               fmt::format("--results {}: could not read: {}", path, content.error.message()));
  }
  return as_usage([&] { return versions::parse_results(content.text, shown_path(tree, path)); });
}

std::vector<versions::ResultFile> all_results(const DevlogOptions& options,
                                              const versions::SourceTree& tree) {
  std::vector<std::string> paths = options.results;
  if (paths.empty()) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(tree.full("bench/results"), none)) {
      if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
    }
    std::ranges::sort(paths);
  }
  std::vector<versions::ResultFile> out;
  out.reserve(paths.size());
  for (const std::string& path : paths) out.push_back(read_results(tree, path));
  return out;
}

/// The head of its kernel, or of its only source, says what changed.
std::string told_by(const versions::SourceTree& tree, const versions::ListedVariant& variant) {
  const std::string base = fmt::format("{}/{}", tree.find_op(variant.op).path(), variant.name());
  for (const char* ending : {".cu", ".cc"}) {
    if (tree.has(base + ending)) return versions::changes_told(tree.read(base + ending));
  }
  return {};
}

Json row_json(const versions::DevlogRow& row) {
  const versions::Measured& m = row.now;
  return {{"problem", m.problem},
          {"tiling", m.tiling},
          {"file", row.file},
          {"median_us", m.median_us},
          {"tflops", m.tflops},
          {"gbps", m.gbps},
          {"roof", m.roof},
          {"percent_of_roof", m.percent_of_roof > 0 ? Json(m.percent_of_roof) : Json()},
          {"percent_of_copy", m.percent_of_copy > 0 ? Json(m.percent_of_copy) : Json()},
          {"previous_us", row.before ? Json(row.before->median_us) : Json()},
          {"occupancy", text_or_null(row.occupancy)},
          {"bottleneck", versions::bottleneck(m)}};
}

/// Writes the entry and freezes the version. Returns what freezing said where it failed.
std::string write_entry(const versions::SourceTree& tree, const versions::Devlog& log,
                        const std::string& text) {
  const std::string path = versions::devlog_path(log);
  if (tree.has(path)) {
    throw Exit(kBadUsage,
               fmt::format("devlog: {}: expected no such file, got one that exists\n"
                           "  hint: its text is its author's; move it away, or add to it",
                           path));
  }
  const versions::FileChange change{path, std::nullopt, text};
  versions::write_changes(tree.root(), {&change, 1});
  const ScriptRun run = run_script(tree, {"scripts/lint_tree.py", "--freeze", log.variant.id()});
  if (run.ran && run.status == 0) return {};
  return fmt::format("{}{}", run.command, run.ran ? ": " + run.text : "  (no python3 here)");
}

}  // namespace

int devlog(const DevlogOptions& options) {
  const versions::SourceTree tree = open_tree(options.tree);
  const versions::ListedVariant variant =
      as_usage([&] { return tree.find_variant(options.variant); });
  const auto files = all_results(options, tree);
  const auto listed = tree.variants(tree.find_op(variant.op));
  versions::Devlog log = as_usage(
      [&] { return versions::gather_devlog(variant, listed, told_by(tree, variant), files); });
  const std::string unknown = fill_occupancy(log);
  const std::string text = versions::devlog_text(log);
  std::string unfrozen;
  if (options.write) unfrozen = write_entry(tree, log, text);

  if (options.json) {
    Json rows = Json::array();
    for (const versions::DevlogRow& row : log.rows) rows.push_back(row_json(row));
    print_json({{"variant", variant.id()},
                {"previous", text_or_null(log.previous)},
                {"device", log.device},
                {"files", log.files},
                {"rows", std::move(rows)},
                {"text", text},
                {"path", options.write ? Json(versions::devlog_path(log)) : Json()},
                {"frozen", options.write && unfrozen.empty()}});
  } else if (options.write) {
    print(fmt::format("written to {}\n", versions::devlog_path(log)));
    if (unfrozen.empty()) print(fmt::format("{} is frozen now: clone it to go on\n", variant.id()));
  } else {
    print(text);
  }
  if (!unknown.empty()) warn(fmt::format("devlog: occupancy is not known: {}", unknown));
  if (!unfrozen.empty()) warn(fmt::format("devlog: not frozen; run {}", unfrozen));
  return unfrozen.empty() ? kAllWell : kFailed;
}

}  // namespace einkorn::cli
