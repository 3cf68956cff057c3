#include "src/jit/loaded_object.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/core/file.h"
#include "src/jit/digest.h"
#include "src/jit/elf_exports.h"
#include "src/jit/scratch_folder.h"

namespace einkorn::jit {
namespace {

std::string loader_reason() {
  const char* reason = dlerror();  // NOLINT(concurrency-mt-unsafe): thread-local in glibc
  return reason == nullptr ? "no reason given" : reason;
}

void* open_file(const std::string& path) {
  dlerror();  // NOLINT(concurrency-mt-unsafe): thread-local in glibc
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

/// Loads from a file in memory. Null: see `reason`.
void* open_in_memory(std::span<const std::byte> image, const std::string& name,
                     std::string& reason) {
  const int file = memfd_create(name.substr(0, 200).c_str(), MFD_CLOEXEC);
  if (file < 0) return nullptr;
  if (!write_all(file, image)) {
    // The file stays open when all goes well: the loader knows objects by their path, and would
    // give the old one for a new one whose descriptor has the same number.
    if (void* handle = open_file(fmt::format("/proc/self/fd/{}", file))) return handle;
    reason = loader_reason();
  }
  close(file);
  return nullptr;
}

/// Where files in memory are not to be had, or must not be executed.
void* open_in_folder(std::span<const std::byte> image, std::string& reason) {
  const ScratchFolder folder;
  folder.write("object.so", {reinterpret_cast<const char*>(image.data()), image.size()});
  void* handle = open_file(folder.path() + "/object.so");
  if (handle == nullptr && reason.empty()) reason = loader_reason();
  return handle;
}

}  // namespace

struct LoadedObject::State {
  std::string name;
  void* handle = nullptr;
  std::vector<std::string> exports;
};

LoadedObject LoadedObject::load(std::string_view key, std::span<const std::byte> image,
                                std::string_view name) {
  static std::mutex mutex;
  static auto& loaded = *new std::map<std::string, std::unique_ptr<State>>;  // for the process
  const std::string id = key.empty() ? digest_of(image).hex() : std::string(key);
  const std::lock_guard lock(mutex);
  if (const auto found = loaded.find(id); found != loaded.end()) {
    return LoadedObject(found->second.get());
  }
  auto state = std::make_unique<State>();
  state->name = name;
  std::string reason;
  state->handle = open_in_memory(image, state->name, reason);
  if (state->handle == nullptr) state->handle = open_in_folder(image, reason);
  EK_CHECK(state->handle != nullptr, ErrorKind::kRuntime,
           fmt::format("jit: {}: cannot load the shared object: {}", name, reason));
  state->exports = exported_symbols(image);
  return LoadedObject(loaded.emplace(id, std::move(state)).first->second.get());
}

void* LoadedObject::find(const std::string& symbol_name) const {
  // Asked alone, the loader would answer for the object's libraries, too.
  if (!std::binary_search(state_->exports.begin(), state_->exports.end(), symbol_name)) {
    return nullptr;
  }
  return dlsym(state_->handle, symbol_name.c_str());
}

void* LoadedObject::symbol(const std::string& symbol_name) const {
  if (void* found = find(symbol_name)) return found;
  constexpr std::size_t kShown = 20;
  const std::size_t shown = std::min(state_->exports.size(), kShown);
  throw_error(
      ErrorKind::kValue,
      fmt::format("jit: {}: expected a function \"{}\", got none of that name\n"
                  "  exported: {}{}\n"
                  "  hint: declare it extern \"C\", not static",
                  state_->name, symbol_name,
                  fmt::join(state_->exports.begin(),
                            state_->exports.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                  shown < state_->exports.size() ? ", ..." : ""));
}

const std::vector<std::string>& LoadedObject::exports() const { return state_->exports; }
void* LoadedObject::handle() const { return state_->handle; }

}  // namespace einkorn::jit
