#pragma once

// einkorn's own sources on disk: what the lists say, read as text. A variant that was just written
// is here and not yet in the registry.

#include <string>
#include <string_view>
#include <vector>

namespace einkorn::versions {

/// One EK_VARIANT line.
struct ListedVariant {
  std::string op, arch, design;
  int version = 0;

  std::string name() const;  ///< "cpu/rows_v1"
  std::string id() const;    ///< "rms_norm/cpu/rows_v1"
  bool operator==(const ListedVariant&) const = default;
};

/// One folder of an op.
struct OpFolder {
  std::string family, op;

  std::string path() const;  ///< "ops/norm/rms_norm", from the root
  std::string list() const;  ///< "ops/norm/rms_norm/variants.inc"
};

/// One row of ops/arches.inc.
struct ArchRow {
  std::string name;
  bool cuda = false;
};

/// The lines of a list. A line that is none of ours is passed over.
std::vector<ListedVariant> parse_variant_list(std::string_view text, std::string_view file);

class SourceTree {
 public:
  /// ValueError: `root` is not the root of einkorn's sources.
  explicit SourceTree(std::string root);
  /// The tree that `folder` lies in, however deep. ValueError: it lies in none.
  static SourceTree around(const std::string& folder);

  const std::string& root() const { return root_; }
  std::string full(std::string_view path) const;
  bool has(std::string_view path) const;
  /// RuntimeError: it cannot be read.
  std::string read(std::string_view path) const;

  /// In the order of ops/variants.inc.
  std::vector<OpFolder> ops() const;
  std::vector<ArchRow> arches() const;
  /// In order of preference; the reference, which has no line, is not among them.
  std::vector<ListedVariant> variants(const OpFolder& op) const;

  /// ValueError naming the nearest: no such op, or no such arch.
  OpFolder find_op(std::string_view op) const;
  ArchRow find_arch(std::string_view arch) const;
  /// By id, "rms_norm/cpu/rows_v1". ValueError naming the nearest.
  ListedVariant find_variant(std::string_view id) const;

  /// Files of the folder `path` named <stem>.<ending>, by path from the root, in order.
  std::vector<std::string> files_of_stem(std::string_view path, std::string_view stem) const;

  /// What git says is changed or new, one line each; empty when nothing is. RuntimeError: git is
  /// missing or says nothing about this tree.
  std::vector<std::string> changes() const;

 private:
  std::string root_;
};

}  // namespace einkorn::versions
