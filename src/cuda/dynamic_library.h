#pragma once

// Shared libraries that are opened at run time, and where they are looked for.
//
// Order, first hit wins:
//   1. the environment variable of the library (a full path). When it is set nothing else is tried:
//      a wrong path is an error, not a reason to take another copy;
//   2. a copy that this process has loaded already (so that one process holds one NVRTC);
//   3. CUDA wheels of Python environments: $VIRTUAL_ENV, then each folder from the executable and
//      from einkorn's own library upwards, as site-packages itself or as the parent of a `.venv`;
//   4. $CUDA_HOME, then $CUDA_PATH: lib64, then lib;
//   5. the loader's search path, by soname;
//   6. fixed folders of the library: /usr/local/cuda/lib64, /usr/lib/wsl/lib.

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace einkorn::cuda {

/// One library that einkorn opens at run time.
struct LibrarySpec {
  std::string_view name;                        ///< "libnvrtc"
  const char* variable;                         ///< environment variable with a full path
  std::vector<std::string_view> sonames;        ///< newest first
  std::vector<std::string_view> wheel_folders;  ///< below site-packages; empty: not in wheels
  bool in_toolkit = false;                      ///< $CUDA_HOME and $CUDA_PATH may hold it
  std::vector<std::string_view> last_folders;
  std::string_view hint;  ///< how to get it
};

const LibrarySpec& libcuda_spec();
const LibrarySpec& nvrtc_spec();
const LibrarySpec& nvml_spec();
const LibrarySpec& cublaslt_spec();
const LibrarySpec& cupti_spec();

/// What the process contributes to the search; a value, so that tests can make one up.
struct SearchRoots {
  std::optional<std::string> override_path;    ///< value of the library's variable, when set
  std::string virtual_env;                     ///< $VIRTUAL_ENV, or empty
  std::vector<std::filesystem::path> anchors;  ///< the executable's folder, einkorn's own folder
  std::vector<std::string> toolkits;           ///< $CUDA_HOME, $CUDA_PATH where set

  static SearchRoots of_process(const LibrarySpec& spec);
};

struct Candidate {
  std::string path;          ///< a file, or a bare soname for the loader to find
  bool only_loaded = false;  ///< take it only when the process has it already
};

/// Candidates in search order. Files that do not exist are left out, except the override.
std::vector<Candidate> search_order(const LibrarySpec& spec, const SearchRoots& roots);

/// A library that was opened. Never closed again: CUDA libraries keep threads and exit handlers
/// that outlive their users.
class DynamicLibrary {
 public:
  /// RuntimeError that lists every place tried, with the loader's reason.
  static DynamicLibrary open(const LibrarySpec& spec, const SearchRoots& roots);
  static DynamicLibrary open(const LibrarySpec& spec) {
    return open(spec, SearchRoots::of_process(spec));
  }

  DynamicLibrary(void* handle, std::string path, std::string_view name)
      : handle_(handle), path_(std::move(path)), name_(name) {}

  /// Null when the library does not export it.
  void* symbol(const char* name) const;

  /// Fills `out` with a function. RuntimeError "<library>: function <name> is missing from <path>",
  /// with `hint` behind it when there is one.
  template <class Function>
  void resolve(const char* name, Function& out, std::string_view hint = {}) const {
    out = reinterpret_cast<Function>(symbol(name));
    if (out == nullptr) throw_missing(name, hint);
  }

  /// File that the loader mapped.
  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void throw_missing(const char* name, std::string_view hint) const;

  void* handle_;
  std::string path_;
  std::string name_;  // for messages, "libnvrtc"
};

struct OpenAttempt {
  std::optional<DynamicLibrary> library;  ///< nothing when no place had it
  std::vector<std::string> tried;  ///< in search order, each with the loader's reason or "opened"
};
OpenAttempt try_open(const LibrarySpec& spec, const SearchRoots& roots);

/// The file that open() maps, found without mapping it where the search allows: the first candidate
/// that exists. A candidate that only the loader can find is opened. Nothing when there is none.
std::optional<std::string> locate(const LibrarySpec& spec, const SearchRoots& roots);

/// A table of functions from a library, built on first use by one thread and kept for the process.
/// A failure is thrown to whoever asked, and the next call tries again.
template <class Table>
class LazyTable {
 public:
  const Table& get() {
    if (const Table* table = ready_.load(std::memory_order_acquire)) return *table;
    const std::lock_guard lock(mutex_);
    if (!table_) table_ = std::make_unique<Table>();
    ready_.store(table_.get(), std::memory_order_release);
    return *table_;
  }

 private:
  std::atomic<const Table*> ready_{nullptr};
  std::mutex mutex_;
  std::unique_ptr<Table> table_;
};

}  // namespace einkorn::cuda
