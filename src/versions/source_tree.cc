#include "src/versions/source_tree.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <span>
#include <utility>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/core/file.h"
#include "src/core/subprocess.h"
#include "src/registry/suggest.h"
#include "src/versions/lexer.h"
#include "src/versions/rename.h"

namespace einkorn::versions {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCentralList = "ops/variants.inc";
constexpr std::string_view kArches = "ops/arches.inc";

bool is_root(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(folder / kCentralList, error) &&
         fs::is_regular_file(folder / kArches, error) &&
         fs::is_regular_file(folder / "include/einkorn/op.h", error);
}

/// The arguments of each call of `macro` that are single tokens: EK_VARIANT(op, cpu, rows, 1).
std::vector<std::vector<std::string>> calls(std::string_view text, std::string_view file,
                                            std::string_view macro) {
  std::vector<std::vector<std::string>> out;
  const std::vector<Token> code = code_of(lex(text, file));
  for (std::size_t i = 0; i + 1 < code.size(); ++i) {
    if (code[i].text != macro || code[i + 1].text != "(") continue;
    auto& arguments = out.emplace_back();
    for (std::size_t at = i + 2; at < code.size() && code[at].text != ")"; ++at) {
      if (code[at].text != ",") arguments.emplace_back(code[at].text);
    }
  }
  return out;
}

int number(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

template <class Items, class Name>
std::string no_such(std::string_view what, std::string_view got, const Items& items, Name&& name) {
  std::vector<std::string> names;
  names.reserve(items.size());
  for (const auto& item : items) names.push_back(name(item));
  const std::vector<std::string_view> views(names.begin(), names.end());
  return fmt::format("{}: {}", what, expected_one_of(got, views));
}

}  // namespace

std::string ListedVariant::name() const {
  return fmt::format("{}/{}", arch, stem(design, version));
}
std::string ListedVariant::id() const { return fmt::format("{}/{}", op, name()); }
std::string OpFolder::path() const { return fmt::format("ops/{}/{}", family, op); }
std::string OpFolder::list() const { return path() + "/variants.inc"; }

std::vector<ListedVariant> parse_variant_list(std::string_view text, std::string_view file) {
  std::vector<ListedVariant> out;
  for (const auto& line : calls(text, file, "EK_VARIANT")) {
    if (line.size() == 4) out.push_back({line[0], line[1], line[2], number(line[3])});
  }
  return out;
}

SourceTree::SourceTree(std::string root) : root_(std::move(root)) {
  while (root_.size() > 1 && root_.ends_with('/')) root_.pop_back();
  EK_CHECK(is_root(root_), ErrorKind::kValue,
           fmt::format("--tree {}: expected the root of einkorn's sources, with {} and "
                       "include/einkorn/op.h, got a folder without",
                       root_, kCentralList));
}

SourceTree SourceTree::around(const std::string& folder) {
  for (fs::path at = fs::absolute(folder).lexically_normal();; at = at.parent_path()) {
    if (is_root(at)) return SourceTree(at.string());
    if (at == at.parent_path()) break;
  }
  throw_error(ErrorKind::kValue,
              fmt::format("{}: expected a folder of einkorn's sources, got one outside of them\n"
                          "  hint: change to a checkout, or name it with --tree",
                          folder));
}

std::string SourceTree::full(std::string_view path) const {
  return fmt::format("{}/{}", root_, path);
}

bool SourceTree::has(std::string_view path) const {
  std::error_code error;
  return fs::exists(full(path), error);
}

std::string SourceTree::read(std::string_view path) const {
  FileContent content = read_file(full(path));
  EK_CHECK(!content.error, ErrorKind::kRuntime,
           fmt::format("{}: could not read: {}", full(path), content.error.message()));
  return std::move(content.text);
}

std::vector<OpFolder> SourceTree::ops() const {
  std::vector<OpFolder> out;
  const std::string text = read(kCentralList);
  for (const Token& token : lex(text, kCentralList)) {
    if (token.kind != TokenKind::kString || token.text.size() < 2) continue;
    const fs::path list(token.text.substr(1, token.text.size() - 2));
    const fs::path folder = list.parent_path();
    out.push_back({folder.parent_path().filename().string(), folder.filename().string()});
  }
  return out;
}

std::vector<ArchRow> SourceTree::arches() const {
  std::vector<ArchRow> out;
  for (const auto& row : calls(read(kArches), kArches, "EK_ARCH")) {
    if (row.size() >= 2) out.push_back({row[0], row[1] == "kCuda"});
  }
  return out;
}

std::vector<ListedVariant> SourceTree::variants(const OpFolder& op) const {
  return parse_variant_list(read(op.list()), op.list());
}

OpFolder SourceTree::find_op(std::string_view op) const {
  const auto all = ops();
  const auto found = std::ranges::find(all, op, &OpFolder::op);
  EK_CHECK(found != all.end(), ErrorKind::kValue,
           no_such("op", op, all, [](const OpFolder& folder) { return folder.op; }));
  return *found;
}

ArchRow SourceTree::find_arch(std::string_view arch) const {
  const auto all = arches();
  const auto found = std::ranges::find(all, arch, &ArchRow::name);
  EK_CHECK(found != all.end(), ErrorKind::kValue,
           no_such("arch", arch, all, [](const ArchRow& row) { return row.name; }));
  return *found;
}

ListedVariant SourceTree::find_variant(std::string_view id) const {
  const auto slash = id.find('/');
  if (slash != std::string_view::npos) {
    const auto listed = variants(find_op(id.substr(0, slash)));
    const auto found =
        std::ranges::find_if(listed, [&](const ListedVariant& one) { return one.id() == id; });
    if (found != listed.end()) return *found;
  }
  std::vector<ListedVariant> all;
  for (const OpFolder& op : ops()) {
    for (ListedVariant& one : variants(op)) all.push_back(std::move(one));
  }
  throw_error(ErrorKind::kValue,
              no_such("variant", id, all, [](const ListedVariant& one) { return one.id(); }));
}

std::vector<std::string> SourceTree::files_of_stem(std::string_view path,
                                                   std::string_view stem) const {
  std::vector<std::string> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(full(path), error)) {
    const std::string name = entry.path().filename().string();
    if (name.substr(0, name.find('.')) == stem) out.push_back(fmt::format("{}/{}", path, name));
  }
  std::ranges::sort(out);
  return out;
}

std::vector<std::string> SourceTree::changes() const {
  const auto result = subprocess::run({"git", "-C", root_, "status", "--porcelain"});
  EK_CHECK(result.ok(), ErrorKind::kRuntime,
           fmt::format("{}: expected a git checkout, git says: {}\n"
                       "  hint: --allow-dirty leaves out the question",
                       root_, result.errors.substr(0, result.errors.find('\n'))));
  std::vector<std::string> out;
  for (std::string_view rest = result.output; !rest.empty();) {
    const auto end = std::min(rest.find('\n'), rest.size() - 1);
    out.emplace_back(rest.substr(0, rest[end] == '\n' ? end : end + 1));
    rest.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace einkorn::versions
