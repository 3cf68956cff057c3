#include "src/jit/inputs.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/jit/cpu_arch.h"
#include "src/jit/entry_names.h"
#include "src/jit/include_options.h"
#include "src/jit/toolkit.h"

namespace einkorn::jit {
namespace {

// Raise it when the same inputs give another artifact: other fixed options, another file format.
constexpr std::uint64_t kSchema = 2;

[[noreturn]] void throw_no_such_file(const std::string& file) {
  std::string known;
  const std::string folder = file.substr(0, file.rfind('/') + 1);
  for (const EmbeddedSource& source : embedded_sources()) {
    if (source.path.ends_with(".cu") && !folder.empty() && source.path.starts_with(folder)) {
      known += fmt::format("\n    {}", source.path);
    }
  }
  throw_error(ErrorKind::kValue,
              fmt::format("jit: file: expected a file or an embedded source, got \"{}\"\n"
                          "  hint: {}{}",
                          file,
                          known.empty() ? "paths are taken from the working folder"
                                        : "embedded in that folder are:",
                          known));
}

SourceSet collect(const Request& request, const IncludeSearch& search) {
  if (!request.source.empty()) {
    return collect_text(request.file.empty() ? "source.cu" : request.file, request.source, search);
  }
  EK_CHECK(!request.file.empty(), ErrorKind::kValue,
           "jit: file: expected a path or a source text, got neither");
  if (const EmbeddedSource* source = find_embedded(request.file)) {
    return collect_embedded(*source, search);
  }
  std::error_code ignored;
  if (!std::filesystem::exists(request.file, ignored)) throw_no_such_file(request.file);
  return collect_file(request.file, search);
}

void add(Hasher& hasher, const std::vector<std::string>& texts) {
  hasher.add(std::uint64_t{texts.size()});
  for (const std::string& text : texts) hasher.add(text);
}

void add(Hasher& hasher, const std::vector<std::pair<std::string, Digest>>& files) {
  hasher.add(std::uint64_t{files.size()});
  for (const auto& [name, digest] : files) hasher.add(name).add(digest);
}

void compare(std::vector<std::string>& out, std::string_view what, std::string_view a,
             std::string_view b) {
  if (a != b) out.push_back(fmt::format("{}: {} and {}", what, a, b));
}

void compare_files(std::vector<std::string>& out, std::string_view what,
                   const std::vector<std::pair<std::string, Digest>>& a,
                   const std::vector<std::pair<std::string, Digest>>& b) {
  const std::map<std::string, Digest> first(a.begin(), a.end());
  const std::map<std::string, Digest> second(b.begin(), b.end());
  for (const auto& [name, digest] : first) {
    const auto other = second.find(name);
    if (other == second.end()) {
      out.push_back(fmt::format("{} {}: only the first reads it", what, name));
    } else if (other->second != digest) {
      out.push_back(fmt::format("{} {}: content differs", what, name));
    }
  }
  for (const auto& [name, digest] : second) {
    if (!first.contains(name)) {
      out.push_back(fmt::format("{} {}: only the second reads it", what, name));
    }
  }
}

/// Part of a path in the store, so its form is checked before anything else sees it. Whether the
/// compiler knows it is the compiler's to say.
void check_arch_form(const std::string& arch) {
  const bool ok = !arch.empty() && arch.size() <= 32 && std::ranges::all_of(arch, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  EK_CHECK(ok, ErrorKind::kValue,
           fmt::format("jit: arch: expected one such as sm_90a, got \"{}\"", arch));
}

std::string arch_of(const Request& request) {
  if (!request.arch.empty()) return request.arch;
  if (request.target == Target::kCpu) return std::string(cpu_arch());
  std::string reason;
  EK_CHECK(cuda::available(&reason), ErrorKind::kValue,
           fmt::format("jit: arch: expected one such as sm_90a where no device is, got none\n"
                       "  no device: {}",
                       reason));
  return native_arch(cuda::device_info(0).cc);
}

void check_time_limit(double seconds) {
  EK_CHECK(
      std::isfinite(seconds) && seconds >= 0, ErrorKind::kValue,
      fmt::format("jit: time_limit: expected seconds, or 0 for the default, got {:g}", seconds));
}

void check_include_dirs(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    std::error_code ignored;
    EK_CHECK(std::filesystem::is_directory(folder, ignored), ErrorKind::kValue,
             fmt::format("jit: include_dirs: expected folders, got \"{}\", which is none\n"
                         "  hint: relative ones count from the working folder, {}",
                         folder, std::filesystem::current_path(ignored).string()));
  }
}

}  // namespace

CompileInputs resolve_inputs(const Request& request) {
  check_time_limit(request.time_limit);
  check_include_dirs(request.include_dirs);
  EK_CHECK(!request.instantiate.empty() || request.target != Target::kCuda, ErrorKind::kValue,
           fmt::format("jit: instantiate of {}: expected the name of a kernel at least, got none",
                       request.file));
  CompileInputs inputs;
  inputs.target = request.target;
  inputs.arch = arch_of(request);
  check_arch_form(inputs.arch);
  inputs.options = request.options;
  inputs.entries = request.instantiate;
  if (request.target == Target::kCuda)
    std::ranges::transform(inputs.entries, inputs.entries.begin(), normal_entry);
  inputs.include_folders = request.include_dirs;
  // A key holds the headers that they lead to, not their names.
  std::ranges::move(take_include_folders(inputs.options),
                    std::back_inserter(inputs.include_folders));
  inputs.time_limit = request.time_limit;
  IncludeSearch search;
  search.folders.assign(inputs.include_folders.begin(), inputs.include_folders.end());
  search.embedded = embedded_sources();
  if (request.target == Target::kCuda) search.toolkits = toolkit_include_folders();
  inputs.sources = collect(request, search);
  for (const SourceFile& file : inputs.sources.files) {
    inputs.files.emplace_back(file.name, digest_of(std::as_bytes(std::span(file.text))));
  }
  inputs.content = key_of(key_parts(inputs, {}));
  return inputs;
}

KeyParts key_parts(const CompileInputs& inputs, std::string_view compiler) {
  KeyParts parts;
  parts.compiler = compiler;
  parts.target = to_string(inputs.target);
  parts.arch = inputs.arch;
  parts.options = inputs.options;
  parts.entries = inputs.entries;
  parts.files = inputs.files;
  return parts;
}

Digest key_of(const KeyParts& parts) {
  Hasher hasher;
  hasher.add(kSchema).add(parts.compiler).add(parts.target).add(parts.arch);
  add(hasher, parts.options);
  add(hasher, parts.entries);
  add(hasher, parts.files);
  add(hasher, parts.dependencies);
  return hasher.finish();
}

std::vector<std::string> differences(const KeyParts& a, const KeyParts& b) {
  std::vector<std::string> out;
  compare(out, "compiler", a.compiler, b.compiler);
  compare(out, "target", a.target, b.target);
  compare(out, "arch", a.arch, b.arch);
  const auto joined = [](const std::vector<std::string>& texts) {
    return fmt::format("[{}]", fmt::join(texts, ", "));
  };
  compare(out, "options", joined(a.options), joined(b.options));
  compare(out, "entries", joined(a.entries), joined(b.entries));
  compare_files(out, "file", a.files, b.files);
  compare_files(out, "dependency", a.dependencies, b.dependencies);
  return out;
}

}  // namespace einkorn::jit
