#include "src/jit/ptx_entries.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "src/jit/diagnostics.h"
#include "src/jit/source_folder.h"

namespace einkorn::jit {
namespace {

// Two underscores: no user's name.
constexpr std::string_view kVariable = "__einkorn_entry_";

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

/// "name" of ".visible .entry name(" and ".entry name".
std::string_view entry_declared(std::string_view line) {
  constexpr std::string_view kMark = ".entry ";
  const std::size_t at = line.find(kMark);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = line.substr(at + kMark.size());
  return rest.substr(0, rest.find_first_of("( \t\r"));
}

struct Variable {
  std::size_t index;
  std::string_view target;
};

/// Of a line ".global .align 8 .u64 __einkorn_entry_0 = name;".
std::optional<Variable> variable_defined(std::string_view line) {
  if (line.find(".global") == std::string_view::npos) return std::nullopt;
  const std::size_t at = line.find(kVariable);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(at + kVariable.size());
  std::size_t index = 0;
  std::size_t digits = 0;
  for (; digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9' && digits < 9; ++digits)
    index = index * 10 + static_cast<std::size_t>(rest[digits] - '0');
  rest.remove_prefix(digits);
  constexpr std::string_view kAssign = " = ";
  if (digits == 0 || !rest.starts_with(kAssign)) return std::nullopt;
  rest.remove_prefix(kAssign.size());
  return Variable{index, rest.substr(0, rest.find(';'))};
}

std::size_t count(std::string_view text, std::string_view word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + word.size())) {
    ++found;
  }
  return found;
}

}  // namespace

std::string entry_table(std::span<const std::string> entries) {
  // Empty lines first: the source may end in a backslash.
  std::string out = fmt::format("\n\n#line 1 \"{}\"\n", kEntryFile);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::string expression = entries[i];
    std::replace(expression.begin(), expression.end(), '\n', ' ');
    // The bracket on a line of its own, behind a comment in the expression.
    out += fmt::format("extern \"C\" __device__ auto {}{} = ({}\n);\n", kVariable, i, expression);
  }
  return out;
}

PtxEntries take_entry_table(std::string_view ptx, std::span<const std::string> entries) {
  PtxEntries out;
  out.lowered.resize(entries.size());
  std::set<std::string_view> kernels;
  // With debugging information (-G) it refers to the variables: then they have to stay.
  const bool referred = count(ptx, kVariable) != entries.size();
  for (std::size_t at = 0; at < ptx.size();) {
    const std::size_t end = std::min(ptx.find('\n', at), ptx.size() - 1) + 1;
    const std::string_view line = ptx.substr(at, end - at);
    at = end;
    if (const auto variable = variable_defined(line)) {
      if (variable->index < entries.size()) {
        out.lowered[variable->index] = std::string(variable->target);
      }
      if (!referred) continue;
    } else if (const std::string_view name = entry_declared(line); !name.empty()) {
      kernels.insert(name.back() == '\n' ? name.substr(0, name.size() - 1) : name);
    }
    out.ptx += line;
  }
  for (std::size_t i = 0; i < entries.size() && !out.error; ++i) {
    if (kernels.contains(out.lowered[i])) continue;
    out.error = fmt::format("{}({}): error: \"{}\" is no __global__ function", kEntryFile,
                            2 * i + 1, entries[i]);
  }
  return out;
}

std::string without_place(std::string ptx, std::string_view folder) {
  // Not relative: the assembler would put its working folder before it.
  replace_all(ptx, fmt::format("{}/", folder), "/einkorn/");
  constexpr std::size_t kDigits = 8;
  for (std::string_view mark : {"_GLOBAL__N__", "_INTERNAL_"}) {
    for (std::size_t at = ptx.find(mark); at != std::string::npos; at = ptx.find(mark, at + 1)) {
      const std::size_t begin = at + mark.size();
      const std::size_t end = begin + kDigits;
      if (end >= ptx.size() || ptx[end] != '_') continue;
      const auto first = ptx.begin() + static_cast<std::ptrdiff_t>(begin);
      if (std::all_of(first, first + kDigits, is_hex)) std::fill(first, first + kDigits, '0');
    }
  }
  return ptx;
}

}  // namespace einkorn::jit
