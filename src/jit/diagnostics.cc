#include "src/jit/diagnostics.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace einkorn::jit {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// The number that ends right before `unit` in a line such as "24 bytes stack frame, 8 bytes ...".
std::int64_t number_before(std::string_view line, std::string_view unit) {
  const std::size_t end = line.find(unit);
  if (end == std::string_view::npos) return 0;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  std::int64_t value = 0;
  std::from_chars(line.data() + begin, line.data() + end, value);
  return value;
}

std::string_view between(std::string_view line, std::string_view open, std::string_view close) {
  const std::size_t begin = line.find(open);
  if (begin == std::string_view::npos) return {};
  const std::size_t start = begin + open.size();
  const std::size_t end = line.find(close, start);
  return end == std::string_view::npos ? std::string_view() : line.substr(start, end - start);
}

/// "path(12): error: text", with "catastrophic error" and "error #20" as well.
std::optional<FirstError> front_end_error(std::string_view line) {
  const std::size_t colon = line.find("): ");
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(colon + 3);
  const bool catastrophic = rest.starts_with("catastrophic error");
  if (!catastrophic && !rest.starts_with("error")) return std::nullopt;
  const std::size_t open = line.rfind('(', colon);
  const std::size_t text = rest.find(": ");
  if (open == std::string_view::npos || text == std::string_view::npos) return std::nullopt;
  FirstError error;
  error.file = line.substr(0, open);
  std::from_chars(line.data() + open + 1, line.data() + colon, error.line);
  error.message = trim(rest.substr(text + 2));
  return error;
}

/// "ptxas application ptx input, line 23; error   : text", "ptxas error   : text" and "ptxas
/// fatal".
std::optional<FirstError> assembler_error(std::string_view line) {
  if (!line.starts_with("ptxas")) return std::nullopt;
  for (std::string_view severity : {"error", "fatal"}) {
    const std::size_t at = line.find(severity);
    if (at == std::string_view::npos) continue;
    const std::size_t colon = line.find(':', at);
    if (colon == std::string_view::npos) continue;
    return FirstError{std::string(kAssemblerFile), static_cast<int>(number_before(line, ";")),
                      std::string(trim(line.substr(colon + 1)))};
  }
  return std::nullopt;
}

std::optional<FirstError> option_error(std::string_view line) {
  for (std::string_view prefix : {"nvrtc: error: ", "nvrtc: fatal : ", "Command-line error: ",
                                  "nvcc fatal   : ", "nvcc error   : "}) {
    if (line.starts_with(prefix)) {
      return FirstError{"", 0, std::string(trim(line.substr(prefix.size())))};
    }
  }
  return std::nullopt;
}

/// Takes ":<number>" off the end of `text`; nothing when it does not end so.
std::optional<int> take_number(std::string_view& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return std::nullopt;
  int value = 0;
  const auto [end, error] =
      std::from_chars(text.data() + colon + 1, text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  text = text.substr(0, colon);
  return value;
}

/// Of GCC and Clang: "path:12:3: error: text", "path:12: fatal error: text", and "g++: error: text"
/// of their drivers, which name no file.
std::optional<FirstError> host_error(std::string_view line) {
  for (std::string_view severity : {": error: ", ": fatal error: "}) {
    const std::size_t at = line.find(severity);
    if (at == std::string_view::npos) continue;
    std::string_view place = line.substr(0, at);
    FirstError error;
    error.message = trim(line.substr(at + severity.size()));
    if (const auto last = take_number(place)) {
      error.line = take_number(place).value_or(*last);  // the last of two is the column
      error.file = place;
      return error;
    }
    if (place.find_first_of(" :") == std::string_view::npos) return error;
  }
  return std::nullopt;
}

/// "path:(.text+0x5): undefined reference to `f'" and "/usr/bin/ld: cannot find -lf: ...".
std::optional<FirstError> link_error(std::string_view line) {
  for (std::string_view reason : {"undefined reference to ", "undefined symbol: ",
                                  "multiple definition of ", "ld: cannot find "}) {
    const std::size_t at = line.find(reason);
    if (at == std::string_view::npos) continue;
    const std::size_t start = reason.starts_with("ld: ") ? at + 4 : at;
    return FirstError{"", 0, std::string(trim(line.substr(start)))};
  }
  return std::nullopt;
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Embedded headers that may have been meant: those of that file name in any folder.
std::vector<std::string_view> like_named(std::string_view missing,
                                         std::span<const EmbeddedSource> embedded) {
  std::vector<std::string_view> same;
  for (const EmbeddedSource& source : embedded) {
    const bool header = !source.path.ends_with(".cu");
    if (header && file_name(source.path) == file_name(missing)) same.push_back(source.path);
  }
  return same;
}

std::string missing_header(std::string_view missing, const HeaderSearch& search) {
  std::string out =
      "it was looked for in, one after the other:\n"
      "    the folder of the file that includes it, when it is quoted\n";
  for (const std::string& folder : search.folders) out += fmt::format("    {}\n", folder);
  if (search.folders.empty()) out += "    Request::include_dirs (-I), of which none is given\n";
  out += "    einkorn's device headers, by their path in the tree";
  for (const std::string& folder : search.toolkits) out += fmt::format("\n    {}", folder);
  const std::vector<std::string_view> near = like_named(missing, search.embedded);
  if (!near.empty()) out += fmt::format("\n  hint: did you mean {}?", fmt::join(near, ", "));
  return out;
}

struct Hint {
  std::string_view pattern;
  std::string_view text;
};

// First match wins.
constexpr std::array kHints = {
    Hint{"\"__half",
         "half precision comes from einkorn's device headers, see src/cuda/device/common"},
    Hint{"\"half",
         "half precision comes from einkorn's device headers, see src/cuda/device/common"},
    Hint{"\"__nv_bfloat",
         "bfloat16 comes from einkorn's device headers, see src/cuda/device/common"},
    Hint{"\"cudaGridDependencySynchronize",
         "the runtime's device functions are not there under NVRTC: use the PTX wrappers of "
         "src/cuda/device"},
    Hint{"is undefined",
         "include the header that declares it: nothing is included on its own, not even the "
         "standard library"},
    Hint{"function without execution space annotations",
         "mark the function __device__, or compile with -default-device; code for the host is "
         "compiled with --cpu, Request::target kCpu"},
    Hint{"--nv_arch", R"(only sm_90 and newer have the suffixes "a" and, from sm_100 on, "f")"},
    Hint{"gpu-architecture",
         R"(only sm_90 and newer have the suffixes "a" and, from sm_100 on, "f")"},
    Hint{"unrecognized option",
         "Request::options go to the compiler as they are; see its option list"},
    Hint{"Unknown option", "Request::options go to the compiler as they are; see its option list"},
    Hint{"unrecognized command", "Request::options go to the compiler as they are"},
    Hint{"is not exported",
         "declare it extern \"C\", not static, in no anonymous namespace, and visible"},
    Hint{"cannot find -l", "add the library's folder to Request::options: \"-L<folder>\""},
    Hint{"was not declared in this scope", "include the header that declares it"},
    Hint{"undefined reference to",
         "define it, or name the library that does in Request::options: \"-l<name>\""},
    Hint{"not supported on .target",
         "the instruction needs an architecture with suffix, such as sm_90a"},
    Hint{"requires .target",
         "the instruction needs a newer architecture, or one with suffix, such as sm_90a"},
    Hint{"too much shared data",
         "static shared memory ends at 48 KiB a block: use dynamic shared memory"},
};

}  // namespace

std::optional<FirstError> first_error(std::string_view log) {
  for (std::string_view line : lines_of(log)) {
    if (auto error = front_end_error(line)) return error;
    if (auto error = assembler_error(line)) return error;
    if (auto error = option_error(line)) return error;
    if (auto error = host_error(line)) return error;
    if (auto error = link_error(line)) return error;
  }
  return std::nullopt;
}

std::string hint_for(const FirstError& error, const HeaderSearch& search) {
  const std::string_view message = error.message;
  if (error.file == kEntryFile) {
    return "the entry has to name a kernel of the source, fully qualified, with template arguments "
           "that fit";
  }
  if (message.find("open source file") != std::string_view::npos) {
    const std::string_view missing = between(message, "\"", "\"");
    if (missing.find("cuda_fp16") != std::string_view::npos ||
        missing.find("cuda_bf16") != std::string_view::npos ||
        missing.find("cuda_fp8") != std::string_view::npos) {
      return "no CUDA toolkit with headers was found: set CUDA_HOME, or take the half-precision "
             "types "
             "of einkorn's device headers, see src/cuda/device/common";
    }
    return missing_header(missing, search);
  }
  for (const Hint& hint : kHints) {
    if (message.find(hint.pattern) != std::string_view::npos) return std::string(hint.text);
  }
  // As GCC and Clang say it; they look where they are made to, besides.
  if (const std::size_t at = message.find(": No such file or directory");
      at != std::string_view::npos) {
    return missing_header(message.substr(0, at), search) +
           "\n  then where the compiler looks by itself";
  }
  return {};
}

std::vector<KernelResources> parse_resources(std::string_view log) {
  std::vector<KernelResources> found;
  bool in_entry = false;  // functions that are not inlined have properties of their own
  for (std::string_view line : lines_of(log)) {
    if (!line.starts_with("ptxas") && !line.starts_with(" ")) continue;
    if (line.find("Compiling entry function '") != std::string_view::npos) {
      found.push_back({std::string(between(line, "Compiling entry function '", "'")), {}});
      in_entry = false;
    } else if (const std::size_t at = line.find("Function properties for ");
               at != std::string_view::npos) {
      const std::string_view name = trim(line.substr(at + 24));
      in_entry = !found.empty() && name == found.back().lowered;
    } else if (found.empty()) {
      continue;
    } else if (in_entry && line.find(" bytes stack frame") != std::string_view::npos) {
      Resources& resources = found.back().resources;
      resources.stack_bytes = number_before(line, " bytes stack frame");
      resources.spill_stores = number_before(line, " bytes spill stores");
      resources.spill_loads = number_before(line, " bytes spill loads");
    } else if (line.find("Used ") != std::string_view::npos) {
      Resources& resources = found.back().resources;
      resources.registers = static_cast<int>(number_before(line, " registers"));
      resources.static_smem = number_before(line, " bytes smem");
    }
  }
  return found;
}

std::vector<EntryPoint> entry_points(std::span<const std::string> expressions,
                                     std::span<const std::string> lowered, std::string_view log) {
  const std::vector<KernelResources> reported = parse_resources(log);
  std::vector<EntryPoint> out;
  out.reserve(expressions.size());
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    EntryPoint& entry = out.emplace_back(EntryPoint{expressions[i], lowered[i], {}});
    for (const KernelResources& kernel : reported) {
      if (kernel.lowered == entry.lowered) entry.resources = kernel.resources;
    }
  }
  return out;
}

}  // namespace einkorn::jit
