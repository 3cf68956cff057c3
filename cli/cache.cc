// einkorn cache: what the store on this disk holds.

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/jit_verbs.h"
#include "cli/json.h"
#include "cli/status.h"
#include "cli/table.h"
#include "cli/units.h"
#include "src/core/file.h"
#include "src/jit/meta.h"
#include "src/jit/settings.h"
#include "src/jit/status.h"
#include "src/jit/store_upkeep.h"

namespace einkorn::cli {
namespace {

/// Exit(kFailed) when there is none.
jit::CacheStatus usable_cache() {
  jit::CacheStatus cache = jit::cache_status();
  if (cache.root.empty()) {
    throw Exit(kFailed,
               "cache: expected a folder, got none that can be used\n"
               "  hint: EINKORN_CACHE_DIR names one");
  }
  return cache;
}

/// Exit(kFailed) for one that can only be read.
jit::CacheStatus writable_cache() {
  jit::CacheStatus cache = usable_cache();
  if (!cache.read_only.empty()) {
    throw Exit(kFailed, fmt::format("cache: {}: expected a folder that can be written to, got one "
                                    "that is only read from: {}\n"
                                    "  hint: EINKORN_CACHE_DIR names another",
                                    cache.root, cache.read_only));
  }
  return cache;
}

/// Ends a verb that has shown what there is: Exit(kFailed) when it could not see all of it.
int status_of(const jit::CacheStatus& cache) {
  if (cache.unreadable.empty()) return kAllWell;
  std::string message = "cache: not all of it can be read, so that there may be more than is shown";
  for (const jit::Unsound& one : cache.unreadable) {
    message += fmt::format("\n    {}: {}", one.path, one.reason);
  }
  throw Exit(kFailed, message + "\n  hint: its owner may chmod it, or clear it");
}

std::string utc(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

struct Row {
  jit::StoreEntry entry;
  std::optional<jit::Meta> meta;  // nothing: it cannot be read
};

std::vector<Row> rows_of(const std::string& root) {
  std::vector<Row> rows;
  for (jit::StoreEntry& entry : jit::list_entries(root)) {
    std::optional<jit::Meta> meta = jit::parse_meta(read_file(entry.folder + "/meta.json").text);
    rows.push_back({std::move(entry), std::move(meta)});
  }
  return rows;
}

Json row_json(const Row& row) {
  Json out = {{"key", row.entry.key},
              {"arch", row.entry.arch},
              {"bytes", row.entry.bytes},
              {"used", utc(row.entry.used)}};
  const bool known = row.meta.has_value();
  out["file"] =
      known && !row.meta->parts.files.empty() ? Json(row.meta->parts.files.front().first) : Json();
  out["expressions"] = known ? Json(row.meta->parts.entries) : Json();
  out["compiler"] = known ? Json(row.meta->compiler) : Json();
  out["compile_ms"] = known ? Json(row.meta->compile_ms) : Json();
  out["created"] = known ? Json(row.meta->created) : Json();
  return out;
}

std::string rows_text(const std::vector<Row>& rows) {
  constexpr std::size_t kShownDigits = 12;
  Table table({"key", "arch", ">KiB", "file", "kernel", "compiler", ">compile ms", "used"});
  for (const Row& row : rows) {
    std::vector<std::string> cells = {
        row.entry.key.substr(0, kShownDigits), row.entry.arch,
        fmt::format("{:.1f}", static_cast<double>(row.entry.bytes) / 1024.0)};
    if (row.meta) {
      const jit::KeyParts& parts = row.meta->parts;
      cells.push_back(parts.files.empty() ? "" : parts.files.front().first);
      cells.push_back(fmt::format("{}", fmt::join(parts.entries, ", ")));
      cells.push_back(row.meta->compiler);
      cells.push_back(fmt::format("{:.0f}", row.meta->compile_ms));
    } else {
      cells.insert(cells.end(), {"", "", "", ""});
    }
    cells.push_back(utc(row.entry.used));
    table.add(std::move(cells));
  }
  return rows.empty() ? "no kernel in the cache\n" : table.text();
}

}  // namespace

int cache_ls(const CacheOptions& options) {
  const jit::CacheStatus cache = usable_cache();
  const std::vector<Row> rows = rows_of(cache.root);
  if (!options.json) return print(rows_text(rows)), status_of(cache);
  Json out = Json::array();
  for (const Row& row : rows) out.push_back(row_json(row));
  print_json(out);
  return status_of(cache);
}

int cache_stat(const CacheOptions& options) {
  const jit::CacheStatus cache = usable_cache();
  if (options.json) {
    print_json({{"root", cache.root},
                {"mode", cache.mode},
                {"entries", cache.entries},
                {"bytes", cache.bytes},
                {"max_bytes", cache.max_bytes},
                {"read_only", cache.read_only.empty() ? Json() : Json(cache.read_only)},
                {"also_read", cache.also_read},
                {"packs", cache.packs}});
  } else {
    print(fmt::format("root     {}\nkernels  {}\nsize     {:.1f} MiB of at most {:.0f} MiB\n",
                      cache.root, cache.entries, mib(cache.bytes), mib(cache.max_bytes)));
    if (!cache.read_only.empty()) print(fmt::format("writes   none: {}\n", cache.read_only));
    for (const std::string& root : cache.also_read) print(fmt::format("reads    {} too\n", root));
  }
  return status_of(cache);
}

int cache_verify(const CacheOptions& options) {
  const jit::CacheStatus cache = usable_cache();
  const std::vector<jit::Unsound> bad = jit::verify_store(cache.root);
  if (options.json) {
    Json rows = Json::array();
    for (const jit::Unsound& one : bad)
      rows.push_back({{"path", one.path}, {"reason", one.reason}});
    print_json({{"root", cache.root}, {"entries", cache.entries}, {"unsound", std::move(rows)}});
  } else {
    for (const jit::Unsound& one : bad) print(fmt::format("{}: {}\n", one.path, one.reason));
    print(fmt::format("{} kernels, {} unsound\n", cache.entries, bad.size()));
    if (!bad.empty()) print("hint: einkorn cache gc removes what is unsound\n");
  }
  return bad.empty() ? kAllWell : kFailed;
}

int cache_gc(const CacheOptions& options) {
  const jit::CacheStatus cache = writable_cache();
  const std::uint64_t room = options.max_bytes.empty() ? cache.max_bytes : as_usage([&] {
    return jit::parse_bytes("--max", options.max_bytes);
  });
  const jit::Collected unsound = jit::remove_unsound(cache.root);
  jit::Collected done = jit::collect_garbage(cache.root, room);
  done.removed += unsound.removed;
  done.freed += unsound.freed;
  if (options.json) {
    print_json({{"root", cache.root},
                {"removed", done.removed},
                {"unsound", unsound.removed},
                {"freed_bytes", done.freed},
                {"left_bytes", done.left}});
  } else {
    print(fmt::format("{} kernels removed, {:.1f} MiB; {:.1f} MiB left\n", done.removed,
                      mib(done.freed), mib(done.left)));
  }
  return status_of(cache);
}

int cache_clear(const CacheOptions& options) {
  const jit::CacheStatus cache = writable_cache();
  if (const std::string reason = jit::clear_store(cache.root); !reason.empty()) {
    throw Exit(kFailed, fmt::format("cache: {}: could not be cleared: {}", cache.root, reason));
  }
  if (options.json) {
    print_json({{"root", cache.root}, {"removed", cache.entries}, {"freed_bytes", cache.bytes}});
  } else {
    print(fmt::format("{} kernels removed, {:.1f} MiB\n", cache.entries, mib(cache.bytes)));
  }
  return kAllWell;
}

}  // namespace einkorn::cli
