#pragma once

// A source with every header it can reach, read before anything is compiled.
//
// Include directives are followed whatever the conditions around them, so the set holds at least
// what a compiler reads. Each file gets a name that does not depend on where the tree is, and the
// directives are rewritten to those names: a compiler that is given the set in memory reads nothing
// else, and equal content gives equal names.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/jit/embedded.h"

namespace einkorn::jit {

struct SourceFile {
  std::string name;  ///< in include directives and in the compiler's messages
  std::string text;  ///< as the compiler gets it
  std::string path;  ///< for people: where it lies, "<embedded>/..." or "<memory>"; in no key
};

/// Where a header is looked for: beside the file that includes it (quotes only), in the folders in
/// order, among the embedded ones, in the toolkits, in the working folder (where NVRTC looks too).
struct IncludeSearch {
  std::vector<std::filesystem::path> folders;
  std::span<const EmbeddedSource> embedded;
  std::vector<std::filesystem::path> toolkits;
};

struct SourceSet {
  std::vector<SourceFile> files;        ///< the source, then its headers, sorted by name
  std::vector<std::string> unresolved;  ///< as written; in no place searched, sorted
  /// Folders of files that include what a macro names, which only a compiler can tell: where one
  /// that reads the disk, and says what it read, looks for it. Sorted; none of a toolkit's.
  std::vector<std::string> computed_in;
};

/// A source on disk. RuntimeError: it or one of its headers cannot be read.
SourceSet collect_file(const std::filesystem::path& path, const IncludeSearch& search);
/// A source in memory, whose quoted includes start in the working folder.
SourceSet collect_text(std::string_view name, std::string_view text, const IncludeSearch& search);
/// An embedded source. ValueError for an unknown one; `near` lists what its folder has.
SourceSet collect_embedded(const EmbeddedSource& source, const IncludeSearch& search);

/// The embedded file of that path, null when there is none.
const EmbeddedSource* find_embedded(std::string_view path);

/// Places in `text` where an include directive or __has_include names a file.
struct IncludeMention {
  std::size_t begin, end;  ///< of the name, without its delimiters
  bool quoted;             ///< "name", not <name>
};
struct Includes {
  std::vector<IncludeMention> named;
  bool computed = false;  ///< some directive has a macro in the place of a name
};
Includes find_includes(std::string_view text);

}  // namespace einkorn::jit
