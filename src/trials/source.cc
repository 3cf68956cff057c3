#include "src/trials/source.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/jit/digest.h"
#include "src/jit/elf_identity.h"
#include "src/jit/source_set.h"

namespace einkorn::trials {
namespace {

/// "ops/norm/rms_norm/": the folder of the op whose host file of that variant is in this library.
std::string folder_of(std::string_view variant) {
  const std::string wanted = fmt::format("/{}.cc", variant);
  for (const EmbeddedFile& file : host_source_digests()) {
    if (!file.path.starts_with("ops/") || !file.path.ends_with(wanted)) continue;
    const std::string_view op = variant.substr(0, variant.find('/'));
    return std::string(file.path.substr(0, file.path.size() - wanted.size() + 1)) +
           std::string(op) + '/';
  }
  return {};
}

/// The variant's own file, headers of its op and its family, and, for a CPU variant, what those
/// share.
bool is_part(std::string_view path, std::string_view folder, std::string_view variant) {
  const bool own = path.ends_with(fmt::format("/{}.cc", variant));
  const std::string_view place = path.substr(0, path.rfind('/') + 1);
  const std::string_view family = folder.substr(0, folder.rfind('/', folder.size() - 2) + 1);
  const bool header = path.ends_with(".h") && (place == folder || place == family);
  const bool on_cpu = variant.find("/cpu/") != std::string_view::npos;
  return own || header || (on_cpu && path.starts_with("src/cpu/"));
}

void add_host(std::string_view variant, const void* code, jit::Hasher& hasher) {
  const std::vector<EmbeddedFile> files = host_files(variant);
  for (const EmbeddedFile& file : files) hasher.add(file.path).add(file.text);
  if (!files.empty()) return;
  Dl_info info{};
  EK_CHECK(code != nullptr && dladdr(code, &info) != 0 && info.dli_fname != nullptr,
           ErrorKind::kRuntime, "no object file has the variant's code");
  const auto identity = jit::library_identity(std::filesystem::canonical(info.dli_fname).string());
  EK_CHECK(identity.has_value(), ErrorKind::kRuntime, "the variant's object file has no identity");
  hasher.add(*identity);
}

void add_device(const std::string& path, jit::Hasher& hasher) {
  jit::IncludeSearch search;
  search.embedded = jit::embedded_sources();
  const jit::EmbeddedSource* embedded = jit::find_embedded(path);
  const jit::SourceSet set =
      embedded != nullptr ? collect_embedded(*embedded, search) : collect_file(path, search);
  for (const jit::SourceFile& file : set.files) hasher.add(file.name).add(file.text);
}

std::string compute(std::string_view variant, const std::set<std::string>& device_files,
                    const void* code) {
  try {
    jit::Hasher hasher;
    for (const std::string& file : device_files) add_device(file, hasher);
    add_host(variant, code, hasher);
    return hasher.finish().hex();
  } catch (const std::exception&) {
    return {};  // matches nothing: the caller goes on without trials
  }
}

struct Kept {
  std::mutex mutex;
  std::map<std::vector<std::string>, std::string> digests;  // by variant and files
};

}  // namespace

std::vector<EmbeddedFile> host_files(std::string_view variant) {
  std::vector<EmbeddedFile> out;
  const std::string folder = folder_of(variant);
  if (folder.empty()) return out;
  std::ranges::copy_if(host_source_digests(), std::back_inserter(out),
                       [&](const auto& file) { return is_part(file.path, folder, variant); });
  return out;
}

std::string source_digest(std::string_view variant, std::span<const std::string> device_files,
                          const void* code) {
  static Kept& kept = *new Kept;  // threads may outlive main
  const std::set<std::string> files(device_files.begin(), device_files.end());
  std::vector<std::string> key{std::string(variant)};
  key.insert(key.end(), files.begin(), files.end());
  {
    const std::lock_guard lock(kept.mutex);
    if (const auto found = kept.digests.find(key); found != kept.digests.end()) {
      return found->second;
    }
  }
  const std::string digest = compute(variant, files, code);
  const std::lock_guard lock(kept.mutex);
  return kept.digests.emplace(std::move(key), digest).first->second;
}

}  // namespace einkorn::trials
