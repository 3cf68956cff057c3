#pragma once

// The verbs that write into einkorn's own sources: new ops and variants, next versions, their log.

#include <string>
#include <string_view>
#include <vector>

namespace einkorn::cli {

/// What all verbs that write sources can be told.
struct TreeOptions {
  bool json = false;
  bool dry_run = false;
  bool allow_dirty = false;
  std::string tree;  ///< root of the sources; empty: the ones around the working folder
};

struct CloneOptions {
  TreeOptions tree;
  std::string variant;  ///< id
  std::string version;  ///< "v3"; empty: the next
};

struct NewOptions {
  TreeOptions tree;
  std::string name;
};

struct DevlogOptions {
  bool json = false;
  bool write = false;
  std::string variant;               ///< id
  std::vector<std::string> results;  ///< files; empty: bench/results
  std::string tree;
};

int clone_variant(const CloneOptions& options);
int new_op(const NewOptions& options);
int new_variant(const NewOptions& options);
int devlog(const DevlogOptions& options);

}  // namespace einkorn::cli
