#include "src/cuda/dynamic_library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <utility>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/core/environment.h"

namespace einkorn::cuda {
namespace {

namespace fs = std::filesystem;

// Folders looked at above an anchor: build/tests/<binary> is two below the checkout's .venv, a
// Python package's library three below site-packages.
constexpr int kAncestors = 5;

std::vector<fs::path> sorted_entries(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().starts_with(prefix)) found.push_back(it->path());
  }
  std::sort(found.rbegin(), found.rend());
  return found;
}

std::vector<fs::path> site_packages_of(const fs::path& environment_root) {
  std::vector<fs::path> found;
  for (const fs::path& python : sorted_entries(environment_root / "lib", "python3")) {
    found.push_back(python / "site-packages");
  }
  return found;
}

std::vector<fs::path> all_site_packages(const SearchRoots& roots) {
  std::vector<fs::path> found;
  const auto add = [&found](const fs::path& path) {
    if (std::find(found.begin(), found.end(), path) == found.end()) found.push_back(path);
  };
  if (!roots.virtual_env.empty()) {
    for (const fs::path& path : site_packages_of(roots.virtual_env)) add(path);
  }
  for (fs::path folder : roots.anchors) {
    for (int level = 0; level < kAncestors && !folder.empty(); ++level) {
      // Debian's own Python has its packages in dist-packages.
      const fs::path name = folder.filename();
      if (name == "site-packages" || name == "dist-packages") add(folder);
      for (const fs::path& path : site_packages_of(folder / ".venv")) add(path);
      if (folder == folder.parent_path()) break;
      folder = folder.parent_path();
    }
  }
  return found;
}

void add_files(const LibrarySpec& spec, const fs::path& folder, std::vector<Candidate>& out) {
  for (std::string_view soname : spec.sonames) {
    std::error_code error;
    fs::path file = folder / soname;
    if (fs::exists(file, error)) out.push_back({file.string()});
  }
}

std::string mapped_path(void* handle, const std::string& asked) {
  // The loader's own record, so that a soname is reported as the file behind it.
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 && map != nullptr &&
      map->l_name != nullptr && map->l_name[0] != '\0') {
    return map->l_name;
  }
  return asked;
}

/// The loader's reason, which mostly begins with the path that stands before it already.
std::string_view without_path(const char* reason, const Candidate& candidate) {
  if (reason == nullptr) return "no reason given";
  std::string_view text = reason;
  if (text.starts_with(candidate.path + ": ")) text.remove_prefix(candidate.path.size() + 2);
  return text;
}

std::string not_found_message(const LibrarySpec& spec, const SearchRoots& roots,
                              const std::vector<std::string>& tried) {
  std::string message =
      roots.override_path
          ? fmt::format("{}: missing: {}={} could not be opened", spec.name, spec.variable,
                        *roots.override_path)
          : fmt::format("{}: missing: found in none of {} places", spec.name, tried.size());
  for (const std::string& place : tried) message += fmt::format("\n  tried: {}", place);
  if (roots.override_path) {
    message +=
        fmt::format("\n  hint: correct {} or unset it to search the usual places", spec.variable);
  } else {
    message += fmt::format("\n  hint: {}, or set {} to its full path", spec.hint, spec.variable);
  }
  return message;
}

}  // namespace

const LibrarySpec& libcuda_spec() {
  static const LibrarySpec kSpec{.name = "libcuda",
                                 .variable = "EINKORN_LIBCUDA",
                                 .sonames = {"libcuda.so.1"},
                                 .wheel_folders = {},
                                 .in_toolkit = false,
                                 .last_folders = {"/usr/lib/wsl/lib"},
                                 .hint = "install the NVIDIA driver"};
  return kSpec;
}

const LibrarySpec& nvrtc_spec() {
  static const LibrarySpec kSpec{.name = "libnvrtc",
                                 .variable = "EINKORN_NVRTC",
                                 .sonames = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"},
                                 .wheel_folders = {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"},
                                 .in_toolkit = true,
                                 .last_folders = {"/usr/local/cuda/lib64"},
                                 .hint = "pip install nvidia-cuda-nvrtc"};
  return kSpec;
}

const LibrarySpec& nvml_spec() {
  static const LibrarySpec kSpec{.name = "libnvidia-ml",
                                 .variable = "EINKORN_NVML",
                                 .sonames = {"libnvidia-ml.so.1"},
                                 .wheel_folders = {},
                                 .in_toolkit = false,
                                 .last_folders = {"/usr/lib/wsl/lib"},
                                 .hint = "install the NVIDIA driver"};
  return kSpec;
}

const LibrarySpec& cublaslt_spec() {
  static const LibrarySpec kSpec{
      .name = "libcublasLt",
      .variable = "EINKORN_CUBLASLT",
      .sonames = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"},
      .wheel_folders = {"nvidia/cu13/lib", "nvidia/cublas/lib"},
      .in_toolkit = true,
      .last_folders = {"/usr/local/cuda/lib64"},
      .hint = "pip install nvidia-cublas"};
  return kSpec;
}

const LibrarySpec& cupti_spec() {
  static const LibrarySpec kSpec{
      .name = "libcupti",
      .variable = "EINKORN_CUPTI",
      .sonames = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"},
      .wheel_folders = {"nvidia/cu13/lib", "nvidia/cuda_cupti/lib"},
      .in_toolkit = true,
      .last_folders = {"/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64"},
      .hint = "pip install nvidia-cuda-cupti"};
  return kSpec;
}

SearchRoots SearchRoots::of_process(const LibrarySpec& spec) {
  SearchRoots roots;
  if (std::string path = environment(spec.variable); !path.empty()) {
    roots.override_path = std::move(path);
  }
  roots.virtual_env = environment("VIRTUAL_ENV");
  std::error_code error;
  if (fs::path executable = fs::read_symlink("/proc/self/exe", error); !error) {
    roots.anchors.push_back(executable.parent_path());
  }
  Dl_info own{};
  if (dladdr(reinterpret_cast<void*>(&search_order), &own) != 0 && own.dli_fname != nullptr) {
    if (fs::path path = fs::absolute(own.dli_fname, error).parent_path(); !error) {
      roots.anchors.push_back(std::move(path));
    }
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (std::string path = environment(variable); !path.empty()) {
      roots.toolkits.push_back(std::move(path));
    }
  }
  return roots;
}

std::vector<Candidate> search_order(const LibrarySpec& spec, const SearchRoots& roots) {
  std::vector<Candidate> out;
  if (roots.override_path) {
    out.push_back({*roots.override_path});
    return out;
  }
  for (std::string_view soname : spec.sonames) out.push_back({std::string(soname), true});
  if (!spec.wheel_folders.empty()) {
    for (const fs::path& site : all_site_packages(roots)) {
      for (std::string_view folder : spec.wheel_folders) add_files(spec, site / folder, out);
    }
  }
  if (spec.in_toolkit) {
    for (const fs::path toolkit : roots.toolkits) {
      for (const char* folder : {"lib64", "lib"}) add_files(spec, toolkit / folder, out);
    }
  }
  for (std::string_view soname : spec.sonames) out.push_back({std::string(soname)});
  for (std::string_view folder : spec.last_folders) add_files(spec, folder, out);
  return out;
}

OpenAttempt try_open(const LibrarySpec& spec, const SearchRoots& roots) {
  OpenAttempt attempt;
  for (const Candidate& candidate : search_order(spec, roots)) {
    const int mode = RTLD_NOW | RTLD_LOCAL | (candidate.only_loaded ? RTLD_NOLOAD : 0);
    dlerror();  // NOLINT(concurrency-mt-unsafe): thread-local in glibc
    if (void* handle = dlopen(candidate.path.c_str(), mode)) {
      attempt.library = DynamicLibrary(handle, mapped_path(handle, candidate.path), spec.name);
      attempt.tried.push_back(fmt::format("{} (opened)", candidate.path));
      return attempt;
    }
    const char* reason = dlerror();  // NOLINT(concurrency-mt-unsafe): thread-local in glibc
    attempt.tried.push_back(fmt::format(
        "{} ({})", candidate.path,
        candidate.only_loaded ? "not loaded in this process" : without_path(reason, candidate)));
  }
  return attempt;
}

std::optional<std::string> locate(const LibrarySpec& spec, const SearchRoots& roots) {
  for (const Candidate& candidate : search_order(spec, roots)) {
    std::error_code error;
    const bool is_file = candidate.path.find('/') != std::string::npos;
    if (is_file && fs::exists(candidate.path, error)) return candidate.path;
    if (is_file) continue;
    const int mode = RTLD_NOW | RTLD_LOCAL | (candidate.only_loaded ? RTLD_NOLOAD : 0);
    if (void* handle = dlopen(candidate.path.c_str(), mode)) {
      return mapped_path(handle, candidate.path);
    }
  }
  return std::nullopt;
}

DynamicLibrary DynamicLibrary::open(const LibrarySpec& spec, const SearchRoots& roots) {
  OpenAttempt attempt = try_open(spec, roots);
  if (attempt.library) return *std::move(attempt.library);
  throw_error(ErrorKind::kRuntime, not_found_message(spec, roots, attempt.tried));
}

void DynamicLibrary::throw_missing(const char* name, std::string_view hint) const {
  throw_error(ErrorKind::kRuntime,
              fmt::format("{}: function {} is missing from {}{}{}", name_, name, path_,
                          hint.empty() ? "" : "\n  hint: ", hint));
}

void* DynamicLibrary::symbol(const char* name) const { return dlsym(handle_, name); }

}  // namespace einkorn::cuda
