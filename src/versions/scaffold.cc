#include "src/versions/scaffold.h"

#include <algorithm>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/versions/clone.h"
#include "src/versions/lexer.h"
#include "src/versions/rename.h"
#include "src/versions/templates.h"

namespace einkorn::versions {
namespace {

constexpr std::string_view kCentralList = "ops/variants.inc";
// The templates' own includes are no includes of the file that they are in.
constexpr std::string_view kIncludeWord = "include";
constexpr std::string_view kInclude = "#include";

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t slash = text.find('/'); slash != std::string_view::npos;
       slash = text.find('/')) {
    out.push_back(text.substr(0, slash));
    text.remove_prefix(slash + 1);
  }
  out.push_back(text);
  return out;
}

void check_word(std::string_view who, std::string_view word) {
  const bool letter = !word.empty() && word[0] >= 'a' && word[0] <= 'z';
  const bool rest =
      std::ranges::all_of(word, [](char c) { return is_word(c) && (c < 'A' || c > 'Z'); });
  const bool underscores = !word.ends_with('_') && word.find("__") == std::string_view::npos;
  EK_CHECK(letter && rest && underscores, ErrorKind::kValue,
           fmt::format("{}: expected a snake_case word, such as layer_norm, got '{}'", who, word));
}

/// ops/variants.inc with one line more, in alphabetical order where it is in order.
std::string with_include(std::string_view list, const OpFolder& op) {
  const std::string line = fmt::format("#include \"{}\"\n", op.list());
  std::string out(list);
  if (!out.empty() && !out.ends_with('\n')) out += '\n';
  std::size_t at = 0;
  while (at < out.size()) {
    const auto end = std::min(out.find('\n', at), out.size() - 1) + 1;
    const std::string_view here = std::string_view(out).substr(at, end - at);
    if (here.starts_with("#include") && here > line) break;
    at = end;
  }
  return out.insert(at, line);
}

FileChange new_file(const SourceTree& tree, std::string path, std::string text) {
  EK_CHECK(!tree.has(path), ErrorKind::kValue,
           fmt::format("new: {}: expected no such file, got one that exists", path));
  return {std::move(path), std::nullopt, std::move(text)};
}

}  // namespace

std::string fill_template(std::string_view text, const Replacements& values) {
  std::string out;
  while (!text.empty()) {
    const auto at = text.find('@');
    out += text.substr(0, at);
    if (at == std::string_view::npos) break;
    text.remove_prefix(at + 1);
    const auto end = text.find('@');
    EK_ICHECK(end != std::string_view::npos, "a template's @ has no second one");
    const std::string_view name = text.substr(0, end);
    const auto value = std::ranges::find(values, name, &Replacements::value_type::first);
    EK_ICHECK(value != values.end(), "a template names a value that is not given");
    out += value->second;
    text.remove_prefix(end + 1);
  }
  return out;
}

std::string contract_struct(std::string_view source, std::string_view file) {
  const std::vector<Token> code = code_of(lex(source, file));
  std::string_view last;
  for (std::size_t i = 0; i + 2 < code.size(); ++i) {
    if (code[i].text == "struct" && code[i + 2].text == "{") last = code[i + 1].text;
    if (code[i].text == "kName") return std::string(last);
  }
  return {};
}

Scaffold plan_op(const SourceTree& tree, std::string_view name) {
  const auto parts = split(name);
  EK_CHECK(
      parts.size() == 2, ErrorKind::kValue,
      fmt::format("new op: expected <family>/<name>, such as norm/layer_norm, got '{}'", name));
  for (const std::string_view part : parts) check_word("new op", part);
  const OpFolder op{std::string(parts[0]), std::string(parts[1])};
  for (const OpFolder& known : tree.ops()) {
    EK_CHECK(known.op != op.op, ErrorKind::kValue,
             fmt::format("new op: {}: expected a name that is not taken, got that of {}", op.op,
                         known.path()));
  }
  Scaffold out{op.op, {}};
  const Replacements values{{"op", op.op},
                            {"Op", type_name(op.op)},
                            {"family", op.family},
                            {"folder", op.path()},
                            {kIncludeWord, std::string(kInclude)}};
  for (const OpTemplate* one : {&kOpContractHeader, &kOpContractSource, &kOpReference, &kOpCases,
                                &kOpCaseList, &kOpVariantList, &kOpReadme}) {
    out.changes.push_back(new_file(tree, fmt::format("{}/{}", op.path(), one->file),
                                   fill_template(one->text, values)));
  }
  const std::string list = tree.read(kCentralList);
  out.changes.push_back({std::string(kCentralList), list, with_include(list, op)});
  return out;
}

Scaffold plan_variant(const SourceTree& tree, std::string_view name) {
  const auto parts = split(name);
  EK_CHECK(
      parts.size() == 3, ErrorKind::kValue,
      fmt::format("new variant: expected <op>/<arch>/<design>, such as rms_norm/sm90/ring, got "
                  "'{}'",
                  name));
  const OpFolder op = tree.find_op(parts[0]);
  const ArchRow arch = tree.find_arch(parts[1]);
  check_word("new variant", parts[2]);
  const ListedVariant added{op.op, arch.name, std::string(parts[2]), 1};
  for (const ListedVariant& known : tree.variants(op)) {
    EK_CHECK(known.arch != added.arch || known.design != added.design, ErrorKind::kValue,
             fmt::format("new variant: {}: expected a design that is not there, got that of {}\n"
                         "  hint: einkorn clone {} makes its next version",
                         name, known.id(), known.id()));
  }
  const std::string contract = op.path() + "/contract.h";
  const std::string type = contract_struct(tree.read(contract), contract);
  EK_CHECK(!type.empty(), ErrorKind::kValue,
           fmt::format("new variant: {}: expected a struct with kName, got none", contract));
  const std::string file_stem = stem(added.design, 1);
  const Replacements values{{"op", op.op},         {"Op", type},
                            {"arch", arch.name},   {"design", added.design},
                            {"stem", file_stem},   {"Stem", type_name(file_stem)},
                            {"folder", op.path()}, {kIncludeWord, std::string(kInclude)}};
  const std::string base = fmt::format("{}/{}", op.path(), added.name());
  Scaffold out{added.id(), {}};
  out.changes.push_back(new_file(
      tree, base + ".cc", fill_template(arch.cuda ? kCudaVariantHost : kCpuVariant, values)));
  if (arch.cuda) {
    out.changes.push_back(new_file(tree, base + ".cu", fill_template(kCudaVariantKernel, values)));
  }
  const std::string list = tree.read(op.list());
  out.changes.push_back({op.list(), list, with_line(list, nullptr, added)});
  return out;
}

}  // namespace einkorn::versions
