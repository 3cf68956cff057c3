#include "src/jit/source_folder.h"

#include <algorithm>
#include <map>
#include <set>
#include <system_error>

#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn::jit {
namespace {

namespace fs = std::filesystem;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-' || c == '+' || c == '/';
}

/// A path below the folder that neither a shell nor a command line reads as anything else.
std::string plain_name(const std::string& name) {
  std::string out;
  for (const fs::path& part : fs::path(name)) {
    std::string text = part.string();
    if (text.empty() || text == "/" || text == ".") continue;
    if (text == "..") text = "_up_";
    std::replace_if(text.begin(), text.end(), [](char c) { return !is_plain(c); }, '_');
    if (text.front() == '-') text.front() = '_';
    if (!out.empty()) out += '/';
    out += text;
  }
  return out.empty() ? "source" : out;
}

bool is_below(const std::string& path, std::span<const fs::path> folders) {
  return std::any_of(folders.begin(), folders.end(), [&](const fs::path& folder) {
    return path.starts_with(folder.string() + "/");
  });
}

/// Names in the set to names on disk.
using Names = std::map<std::string, std::string, std::less<>>;

/// Gives out names such that none is twice there, or a file where another needs a folder.
class NameTable {
 public:
  std::string add(const std::string& wanted) {
    std::string name = wanted;
    for (int copy = 2; !fits(name); ++copy) name = fmt::format("_{}/{}", copy, wanted);
    files_.insert(name);
    for (const std::string& folder : folders_of(name)) folders_.insert(folder);
    return name;
  }

 private:
  static std::vector<std::string> folders_of(const std::string& name) {
    std::vector<std::string> out;
    for (std::size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1)) {
      out.push_back(name.substr(0, at));
    }
    return out;
  }

  bool fits(const std::string& name) const {
    const std::vector<std::string> folders = folders_of(name);
    return !files_.contains(name) && !folders_.contains(name) &&
           std::none_of(folders.begin(), folders.end(),
                        [&](const std::string& folder) { return files_.contains(folder); });
  }

  std::set<std::string> files_, folders_;
};

Names names_on_disk(const SourceSet& sources, std::span<const fs::path> excluded) {
  Names names;
  NameTable table;
  for (const SourceFile& file : sources.files) {
    const bool main = &file == &sources.files.front();
    if (!main && is_below(file.path, excluded)) continue;
    names.emplace(file.name, table.add(plain_name(file.name)));
  }
  return names;
}

std::string rewritten(const std::string& text, const Names& names) {
  std::string out;
  std::size_t copied = 0;
  for (const IncludeMention& mention : find_includes(text).named) {
    const auto found =
        names.find(std::string_view(text).substr(mention.begin, mention.end - mention.begin));
    if (found == names.end() || mention.begin == 0 || mention.end >= text.size()) continue;
    out.append(text, copied, mention.begin - 1 - copied);  // up to the delimiter
    out += fmt::format("<{}>", found->second);
    copied = mention.end + 1;
  }
  return out.append(text, copied);
}

/// Where `disk` stands as a file's name in a compiler's message.
void replace_name(std::string& text, const std::string& disk, const std::string& name) {
  std::size_t from = 0;
  for (std::size_t at = text.find(disk); at != std::string::npos; at = text.find(disk, from)) {
    const std::size_t end = at + disk.size();
    const bool begins =
        at == 0 || std::string_view("\n \"'/").find(text[at - 1]) != std::string::npos;
    const bool ends =
        end < text.size() && std::string_view("(:\"',").find(text[end]) != std::string::npos;
    from = end;
    if (!begins || !ends) continue;
    const std::size_t start =
        text.compare(at < 2 ? 0 : at - 2, 2, "./") == 0 && at >= 2 ? at - 2 : at;
    text.replace(start, end - start, name);
    from = start + name.size();
  }
}

}  // namespace

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::string out;
  std::size_t copied = 0;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, copied)) {
    out.append(text, copied, at - copied);
    out += to;
    copied = at + from.size();
  }
  if (copied == 0) return;
  text = out.append(text, copied);
}

SourceFolder::SourceFolder(const ScratchFolder& scratch, const SourceSet& sources,
                           std::string_view appended, std::span<const fs::path> excluded)
    : scratch_(scratch), path_(scratch.path() + "/src") {
  const Names names = names_on_disk(sources, excluded);
  for (const SourceFile& file : sources.files) {
    const auto found = names.find(file.name);
    if (found == names.end()) continue;
    std::string text = rewritten(file.text, names);
    if (&file == &sources.files.front()) {
      text += appended;
      main_ = found->second;
    }
    scratch.write("src/" + found->second, text);
    if (found->second != file.name) renamed_.emplace_back(found->second, file.name);
  }
}

std::string SourceFolder::include_folder(const std::string& folder) {
  std::error_code error;
  const fs::path absolute = fs::absolute(folder, error);
  std::string path = error ? folder : absolute.string();
  if (std::all_of(path.begin(), path.end(), is_plain)) return path;
  const std::string link = fmt::format("include{}", ++links_);
  fs::create_directory_symlink(path, scratch_.path() + "/" + link, error);
  EK_CHECK(!error, ErrorKind::kRuntime,
           fmt::format("jit: cannot link {} for the compiler: {}", path, error.message()));
  return "../" + link;
}

std::string SourceFolder::with_names(std::string text) const {
  replace_all(text, path_ + "/", "");
  replace_all(text, scratch_.path() + "/", "");
  for (const auto& [disk, name] : renamed_) replace_name(text, disk, name);
  return text;
}

}  // namespace einkorn::jit
