// einkorn jit explain-key and disasm: looking into the cache.

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/jit_verbs.h"
#include "cli/json.h"
#include "cli/source_file.h"
#include "cli/status.h"
#include "cli/terminal.h"
#include "src/core/file.h"
#include "src/jit/disassemble.h"
#include "src/jit/meta.h"
#include "src/jit/source_set.h"
#include "src/jit/status.h"
#include "src/jit/store.h"
#include "src/jit/store_upkeep.h"

namespace einkorn::cli {
namespace {

std::vector<jit::StoreEntry> entries_of(const std::string& beginning) {
  std::vector<jit::StoreEntry> found;
  if (beginning.empty()) return found;
  for (jit::StoreEntry& entry : jit::list_entries(jit::cache_root())) {
    if (entry.key.starts_with(beginning)) found.push_back(std::move(entry));
  }
  return found;
}

/// The one entry whose key begins so. Bad usage that names `what`: none or several.
jit::StoreEntry find_entry(std::string_view what, const std::string& beginning) {
  const std::vector<jit::StoreEntry> found = entries_of(beginning);
  if (found.size() == 1) return found.front();
  throw Exit(
      kBadUsage,
      fmt::format("{}: expected the beginning of one key of the cache, got \"{}\", which {}\n"
                  "  hint: einkorn cache ls shows them",
                  what, beginning,
                  found.empty() ? "none has" : fmt::format("{} have", found.size())));
}

jit::Meta meta_of(const jit::StoreEntry& entry) {
  const std::string path = entry.folder + "/meta.json";
  const FileContent content = read_file(path);
  auto meta = jit::parse_meta(content.text);
  if (!meta) {
    throw Exit(kFailed, fmt::format("{}: {}", path,
                                    content.error ? content.error.message() : "has another form"));
  }
  return *std::move(meta);
}

jit::Store::Found read_entry(const jit::StoreEntry& entry) {
  const auto key = jit::Digest::parse(entry.key);
  return key ? jit::read_packed(jit::cache_root(), entry.arch, *key)
             : jit::Store::Found{nullptr, "its name is not a key"};
}

std::vector<std::byte> image_in_cache(const std::string& beginning) {
  if (entries_of(beginning).empty()) {
    throw Exit(kBadUsage, fmt::format("disasm: expected a file, or the beginning of a key of the "
                                      "cache, got \"{}\", which is neither\n"
                                      "  hint: einkorn cache ls shows the keys",
                                      beginning));
  }
  const jit::StoreEntry entry = find_entry("key", beginning);
  const jit::Store::Found found = read_entry(entry);
  if (found.artifact == nullptr) {
    throw Exit(kFailed, fmt::format("{}: {}", entry.folder, found.reason));
  }
  if (found.artifact->target != jit::Target::kCuda) {
    throw Exit(kBadUsage,
               fmt::format("key: expected that of a kernel, got {}, whose code is for {} "
                           "({})\n  hint: objdump -d disassembles shared objects",
                           entry.key.substr(0, 12), entry.arch, to_string(found.artifact->target)));
  }
  return found.artifact->image;
}

std::vector<std::byte> image_of(const DisasmOptions& options) {
  std::error_code none;
  const bool shipped = jit::find_embedded(options.what) != nullptr;
  if (!shipped && !std::filesystem::exists(options.what, none)) {
    return image_in_cache(options.what);
  }
  check_source_file("file", options.what);
  const FileContent content = shipped ? FileContent{} : read_file(options.what);
  if (content.error) {
    throw Exit(kFailed, fmt::format("{}: {}", options.what, content.error.message()));
  }
  if (content.text.starts_with("\x7f"
                               "ELF")) {
    const auto bytes = std::as_bytes(std::span(content.text));
    return {bytes.begin(), bytes.end()};
  }
  SourceOptions source = options.source;
  source.file = options.what;
  if (source.archs.size() > 1) {
    throw Exit(kBadUsage, fmt::format("--arch: expected one to disassemble, got {}: {}",
                                      source.archs.size(), fmt::join(source.archs, ", ")));
  }
  return as_usage([&] { return jit::compile(requests_of(source).front())->image; });
}

}  // namespace

int jit_explain_key(const ExplainKeyOptions& options) {
  const jit::Meta first = meta_of(find_entry("first key", options.first));
  const jit::Meta second = meta_of(find_entry("second key", options.second));
  const std::vector<std::string> found = jit::differences(first.parts, second.parts);
  if (options.json) {
    print_json({{"first", first.key}, {"second", second.key}, {"differences", found}});
  } else {
    for (const std::string& line : found) print(line + '\n');
    if (found.empty()) print("no difference: the same key\n");
  }
  return kAllWell;
}

int jit_disasm(const DisasmOptions& options) {
  print(jit::disassemble(image_of(options)));
  return kAllWell;
}

}  // namespace einkorn::cli
