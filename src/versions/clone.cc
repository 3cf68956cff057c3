#include "src/versions/clone.h"

#include <algorithm>
#include <charconv>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/versions/lexer.h"
#include "src/versions/rename.h"

namespace einkorn::versions {
namespace {

int highest_version(const std::vector<ListedVariant>& listed, const ListedVariant& of) {
  int highest = 0;
  for (const ListedVariant& one : listed) {
    if (one.arch == of.arch && one.design == of.design) highest = std::max(highest, one.version);
  }
  return highest;
}

Rename rename_of(const SourceTree& tree, const ListedVariant& from, int to) {
  Rename rename{from.op, from.arch, from.design, from.version, to};
  for (const ArchRow& arch : tree.arches()) {
    if (arch.name != from.arch) rename.other_arches.push_back(arch.name);
  }
  for (const OpFolder& op : tree.ops()) {
    if (op.op != from.op) rename.other_ops.push_back(op.op);
  }
  return rename;
}

/// The file that tells the idea: the kernel where there is one, otherwise the only source.
bool tells_the_idea(const std::string& path, const std::vector<std::string>& files) {
  const auto is_kernel = [](const std::string& name) { return name.ends_with(".cu"); };
  return std::ranges::any_of(files, is_kernel) ? is_kernel(path) : path.ends_with(".cc");
}

FileChange clone_file(const SourceTree& tree, const std::string& path, const Rename& rename,
                      bool restart) {
  const std::string old = stem(rename.design, rename.from);
  const auto slash = path.rfind('/');
  const std::string target = path.substr(0, slash + 1) + stem(rename.design, rename.to) +
                             path.substr(slash + 1 + old.size());
  EK_CHECK(!tree.has(target), ErrorKind::kValue,
           fmt::format("clone: {}: expected no such file, got one that exists", target));
  std::string text = rename_source(tree.read(path), path, rename);
  if (restart) text = restart_head(text, rename.from);
  return {target, std::nullopt, std::move(text)};
}

}  // namespace

int parse_version(std::string_view text) {
  const std::string_view digits = text.starts_with('v') ? text.substr(1) : text;
  int value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  EK_CHECK(error == std::errc() && end == digits.data() + digits.size() && value > 0,
           ErrorKind::kValue, fmt::format("version: expected v1, v2, ..., got '{}'", text));
  return value;
}

std::string with_line(std::string_view list, const ListedVariant* after,
                      const ListedVariant& added) {
  const std::string line = fmt::format("EK_VARIANT({}, {}, {}, {})\n", added.op, added.arch,
                                       added.design, added.version);
  std::string out(list);
  if (!out.empty() && !out.ends_with('\n')) out += '\n';
  std::size_t at = out.size();
  const std::vector<Token> code = code_of(lex(list, "variants.inc"));
  for (std::size_t i = 0; after != nullptr && i + 8 < code.size(); ++i) {
    if (code[i].text == "EK_VARIANT" && code[i + 2].text == after->op &&
        code[i + 4].text == after->arch && code[i + 6].text == after->design &&
        code[i + 8].text == std::to_string(after->version)) {
      at = std::min(out.find('\n', code[i + 8].offset), out.size() - 1) + 1;
      break;
    }
  }
  return out.insert(at, line);
}

Clone plan_clone(const SourceTree& tree, std::string_view id, std::optional<int> version) {
  const ListedVariant from = tree.find_variant(id);
  const OpFolder op = tree.find_op(from.op);
  const int highest = highest_version(tree.variants(op), from);
  const int number = version.value_or(highest + 1);
  EK_CHECK(number > highest, ErrorKind::kValue,
           fmt::format("clone: version: expected one newer than v{}, the highest of {}/{}/{}, got "
                       "v{}",
                       highest, from.op, from.arch, from.design, number));
  Clone out{from, from, {}};
  out.to.version = number;
  const auto files = tree.files_of_stem(fmt::format("{}/{}", op.path(), from.arch),
                                        stem(from.design, from.version));
  const Rename rename = rename_of(tree, from, number);
  int registrations = 0;
  for (const std::string& path : files) {
    out.changes.push_back(clone_file(tree, path, rename, tells_the_idea(path, files)));
    registrations += count_registrations(out.changes.back().after, path, rename, number);
  }
  EK_CHECK(registrations == 1, ErrorKind::kValue,
           fmt::format("clone: {}: expected one make_variant<...>(\"{}\", \"{}\", {}, ...) in its "
                       "files ({}), got {}",
                       from.id(), from.arch, from.design, from.version, fmt::join(files, ", "),
                       registrations));
  const std::string list = tree.read(op.list());
  out.changes.push_back({op.list(), list, with_line(list, &from, out.to)});
  return out;
}

}  // namespace einkorn::versions
