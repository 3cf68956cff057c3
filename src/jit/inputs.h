#pragma once

// What decides the result of a compilation, and the keys made of it.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <einkorn/jit.h>

#include "src/jit/digest.h"
#include "src/jit/source_set.h"

namespace einkorn::jit {

/// A request with its sources read. Equal `content`, equal result by one compiler.
struct CompileInputs {
  Target target = Target::kCuda;
  std::string arch;  ///< "sm_90a"; "x86-64-v3"-like for the CPU
  std::vector<std::string> options;
  std::vector<std::string> entries;
  SourceSet sources;                         ///< the first file is the one to compile
  std::vector<std::string> include_folders;  ///< for compilers that read the disk; in no key
  double time_limit = 0;                     ///< seconds, 0: none; in no key
  std::vector<std::pair<std::string, Digest>> files;  ///< name and content of each source
  Digest content;                                     ///< of all that is in a key, compiler aside

  const SourceFile& main() const { return sources.files.front(); }
};

/// Reads the sources and computes `content`. ValueError: an unknown embedded file, no entries;
/// RuntimeError: an unreadable file.
CompileInputs resolve_inputs(const Request& request);

/// What a key was made of, kept beside an artifact so that two keys can be compared.
struct KeyParts {
  std::string compiler;  ///< identity, exact
  std::string target;
  std::string arch;
  std::vector<std::string> options;
  std::vector<std::string> entries;
  std::vector<std::pair<std::string, Digest>> files;         ///< name and content
  std::vector<std::pair<std::string, Digest>> dependencies;  ///< found by the compiler itself
};

KeyParts key_parts(const CompileInputs& inputs, std::string_view compiler);
Digest key_of(const KeyParts& parts);

/// What differs, one line each: "header src/x.cuh: content differs". Empty when nothing does.
std::vector<std::string> differences(const KeyParts& a, const KeyParts& b);

}  // namespace einkorn::jit
