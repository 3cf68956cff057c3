#pragma once

// Artifacts on disk, shared by processes.
//
//   <root>/v1/<arch>/<aa>/<key>/artifact.bin  the artifact, checksummed
//                               meta.json     what the key was made of, for people
//   <root>/v1/deps/<aa>/<key>   files that a compiler read beyond its inputs
//   <root>/v1/tmp/              what is on its way: made here, renamed into place
//   <root>/v1/quarantine/       damaged ones
//   <root>/v1/lock              one byte a key, see key_lock.h
//   <root>/v1/size              what all of it takes, see store_size.h
//   <root>/compilers/           by whom the artifacts were compiled, see known_compilers.h
//
// A published entry never changes. Readers take no lock and believe nothing but the checksum.

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/jit/disk.h"
#include "src/jit/inputs.h"

namespace einkorn::jit {

struct StoreOptions {
  std::string root;
  std::uint64_t max_bytes = 10ULL << 30;
  bool trust = false;       ///< load what other users wrote
  uid_t owner = geteuid();  ///< whose artifacts are loaded, beside user 0's
  /// Why nothing can be written to the root; empty: it can.
  std::string read_only = {};
  /// Other roots, asked for what the first lacks. Nothing is written to them.
  std::vector<std::string> also_read = {};
};

class Store {
 public:
  explicit Store(StoreOptions options);

  struct Found {
    std::shared_ptr<const Artifact> artifact;  ///< null: not there, or not usable
    std::string reason;                        ///< why not
  };
  /// Marks the entry as used. A damaged entry is moved out of the way.
  Found lookup(const Digest& key, std::string_view arch);

  /// Puts the entry in place, whole or not at all; an entry that is there already stays. Trouble is
  /// returned, empty when all went well, and costs nobody the artifact in hand.
  std::string publish(const Digest& key, std::string_view arch, const Artifact& artifact,
                      const KeyParts& parts);

  /// Files that a compiler read when it last compiled what the key stands for; nothing: unknown.
  /// Marks them as used.
  std::optional<std::vector<std::string>> dependencies(const Digest& key) const;
  std::string set_dependencies(const Digest& key, const std::vector<std::string>& paths);

  /// Identities under which compilers of that name have published, here or in also_read().
  std::vector<std::string> identities(std::string_view compiler) const;
  std::string set_identity(std::string_view compiler, const std::string& identity);

  /// For a KeyLock; its folder is made when it can be.
  std::string lock_file() const;

  const std::string& root() const { return options_.root; }
  /// Why nothing can be written; empty: it can. publish() and set_dependencies() say the same.
  const std::string& read_only() const { return options_.read_only; }
  const std::vector<std::string>& also_read() const { return options_.also_read; }

 private:
  Found lookup_here(const Digest& key, std::string_view arch);
  std::optional<std::vector<std::string>> dependencies_here(const Digest& key) const;
  disk::Modes modes() const;
  std::string move_into_place(const std::string& from, const std::string& to) const;
  std::string untrusted(int file) const;
  std::string quarantine(const std::string& folder, const Digest& key) const;
  void keep_within_cap(const std::string& path);

  StoreOptions options_;
  std::vector<std::unique_ptr<Store>> behind_;  // of also_read
  std::mutex cap_mutex_;
  bool swept_ = false;  // by this process
};

/// `<root>/v1`
std::string version_folder(std::string_view root);

/// `<root>/v1/<arch>/<aa>/<key>`
std::string entry_folder(std::string_view root, std::string_view arch, const Digest& key);

/// Reads one entry of a store that others keep: no marks, no quarantine, no question of owners.
Store::Found read_packed(std::string_view root, std::string_view arch, const Digest& key);

}  // namespace einkorn::jit
