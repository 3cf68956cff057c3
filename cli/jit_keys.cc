// einkorn jit explain-key and disasm: looking into the cache.

#include <algorithm>

#include <fmt/format.h>

#include "cli/jit_verbs.h"
#include "cli/json.h"
#include "cli/status.h"
#include "cli/terminal.h"
#include "src/core/file.h"
#include "src/jit/disassemble.h"
#include "src/jit/meta.h"
#include "src/jit/status.h"
#include "src/jit/store.h"
#include "src/jit/store_upkeep.h"

namespace einkorn::cli {
namespace {

/// The one entry whose key begins so. Bad usage: none or several.
jit::StoreEntry find_entry(const std::string& beginning) {
  const std::string root = jit::cache_root();
  std::vector<jit::StoreEntry> found;
  for (jit::StoreEntry& entry : jit::list_entries(root)) {
    if (entry.key.starts_with(beginning)) found.push_back(std::move(entry));
  }
  if (found.size() == 1) return found.front();
  throw Exit(kBadUsage,
             fmt::format("key: expected the beginning of one key of the cache, got \"{}\", of {}\n"
                         "  hint: einkorn cache ls shows them",
                         beginning, found.size()));
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

std::vector<std::byte> image_in_cache(const std::string& beginning) {
  const jit::StoreEntry entry = find_entry(beginning);
  const auto key = jit::Digest::parse(entry.key);
  const jit::Store::Found found = key ? jit::read_packed(jit::cache_root(), entry.arch, *key)
                                      : jit::Store::Found{nullptr, "its name is not a key"};
  if (found.artifact == nullptr) {
    throw Exit(kFailed, fmt::format("{}: {}", entry.folder, found.reason));
  }
  return found.artifact->image;
}

std::vector<std::byte> image_of(const DisasmOptions& options) {
  const FileContent content = read_file(options.what);
  if (content.error) return image_in_cache(options.what);
  if (content.text.starts_with("\x7f"
                               "ELF")) {
    const auto bytes = std::as_bytes(std::span(content.text));
    return {bytes.begin(), bytes.end()};
  }
  SourceOptions source = options.source;
  source.file = options.what;
  return as_usage([&] { return jit::compile(requests_of(source).front())->image; });
}

}  // namespace

int jit_explain_key(const ExplainKeyOptions& options) {
  const jit::Meta first = meta_of(find_entry(options.first));
  const jit::Meta second = meta_of(find_entry(options.second));
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
