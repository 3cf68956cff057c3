#include "src/jit/source_set.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <system_error>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/core/file.h"

namespace einkorn::jit {
namespace {

namespace fs = std::filesystem;

/// One file of the set while it is being put together.
struct Node {
  std::string name;
  std::string text;
  fs::path path;  // empty when the text is not on disk
  bool embedded = false;
  bool toolkit = false;
};

class Collector {
 public:
  explicit Collector(const IncludeSearch& search) : search_(search) {}

  SourceSet run(Node main) {
    const std::string identity = identity_of(main);
    add(identity, std::move(main));
    while (!pending_.empty()) {
      const std::size_t index = pending_.front();
      pending_.pop_front();
      follow(index);
    }
    SourceSet out;
    for (const Node& node : nodes_) {
      const std::string path = node.embedded       ? "<embedded>/" + node.name
                               : node.path.empty() ? "<memory>"
                                                   : node.path.string();
      out.files.push_back({node.name, node.text, path});
    }
    std::sort(out.files.begin() + 1, out.files.end(),
              [](const SourceFile& a, const SourceFile& b) { return a.name < b.name; });
    out.unresolved.assign(unresolved_.begin(), unresolved_.end());
    out.computed_in.assign(computed_in_.begin(), computed_in_.end());
    return out;
  }

 private:
  static std::string identity_of(const Node& node) {
    return node.embedded ? "<embedded>/" + node.name : node.path.string();
  }

  std::size_t add(const std::string& identity, Node node) {
    const std::string wanted = node.name;
    for (int copy = 2; !names_.insert(node.name).second; ++copy) {
      node.name = fmt::format("{}~{}", wanted, copy);  // two folders have a file of that name
    }
    nodes_.push_back(std::move(node));
    known_[identity] = nodes_.size() - 1;
    pending_.push_back(nodes_.size() - 1);
    return nodes_.size() - 1;
  }

  /// Resolves every include of one file and rewrites the directives whose text is not the name.
  void follow(std::size_t index) {
    const std::string text = nodes_[index].text;
    std::string rewritten;
    std::size_t copied = 0;
    const Includes includes = find_includes(text);
    if (includes.computed && !nodes_[index].path.empty() && !nodes_[index].toolkit) {
      computed_in_.insert(nodes_[index].path.parent_path().string());
    }
    for (const IncludeMention& mention : includes.named) {
      const std::string written = text.substr(mention.begin, mention.end - mention.begin);
      const auto target = resolve(index, written, mention.quoted);
      if (!target) {
        unresolved_.insert(written);
        continue;
      }
      rewritten.append(text, copied, mention.begin - copied);
      rewritten += nodes_[*target].name;
      copied = mention.end;
    }
    if (copied == 0) return;
    rewritten.append(text, copied);
    nodes_[index].text = std::move(rewritten);
  }

  std::optional<std::size_t> resolve(std::size_t includer, const std::string& written,
                                     bool quoted) {
    if (written.empty()) return std::nullopt;
    const fs::path wanted(written);
    if (wanted.is_absolute()) return on_disk(wanted, written, nodes_[includer].toolkit);
    if (quoted) {
      const Node& from = nodes_[includer];
      const std::string beside =
          (fs::path(from.name).parent_path() / wanted).lexically_normal().string();
      if (from.embedded) {
        if (const auto found = among_embedded(beside)) return found;
      } else if (!from.path.empty()) {
        if (const auto found = on_disk(from.path.parent_path() / wanted, beside, from.toolkit)) {
          return found;
        }
      }
    }
    const std::string name = wanted.lexically_normal().string();
    for (const fs::path& folder : search_.folders) {
      if (const auto found = on_disk(folder / wanted, name)) return found;
    }
    if (const auto found = among_embedded(name)) return found;
    for (const fs::path& folder : search_.toolkits) {
      if (const auto found = on_disk(folder / wanted, name, /*toolkit=*/true)) return found;
    }
    return quoted ? on_disk(wanted, name) : std::nullopt;
  }

  std::optional<std::size_t> among_embedded(const std::string& name) {
    if (const auto found = known_.find("<embedded>/" + name); found != known_.end()) {
      return found->second;
    }
    for (const EmbeddedSource& source : search_.embedded) {
      if (source.path != name) continue;
      return add("<embedded>/" + name, {name, std::string(source.text), {}, true});
    }
    return std::nullopt;
  }

  std::optional<std::size_t> on_disk(const fs::path& path, const std::string& name,
                                     bool toolkit = false) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return std::nullopt;
    const fs::path real = fs::canonical(path, error);
    if (error) return std::nullopt;
    if (const auto found = known_.find(real.string()); found != known_.end()) return found->second;
    FileContent content = read_file(real.string());
    EK_CHECK(!content.error, ErrorKind::kRuntime,
             fmt::format("jit: header {}: expected to read it, got: {}", real.string(),
                         content.error.message()));
    return add(real.string(), {name, std::move(content.text), real, false, toolkit});
  }

  const IncludeSearch& search_;
  std::deque<Node> nodes_;  // references stay good while it grows
  std::map<std::string, std::size_t> known_;
  std::set<std::string> names_;
  std::set<std::string> unresolved_;
  std::set<std::string> computed_in_;
  std::deque<std::size_t> pending_;
};

}  // namespace

SourceSet collect_file(const fs::path& path, const IncludeSearch& search) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  FileContent content;
  content.error = error;
  if (!error) content = read_file(real.string());
  EK_CHECK(!content.error, ErrorKind::kRuntime,
           fmt::format("jit: file: expected a readable source, got \"{}\": {}", path.string(),
                       content.error.message()));
  return Collector(search).run({path.filename().string(), std::move(content.text), real, false});
}

SourceSet collect_text(std::string_view name, std::string_view text, const IncludeSearch& search) {
  return Collector(search).run({std::string(name), std::string(text), {}, false});
}

SourceSet collect_embedded(const EmbeddedSource& source, const IncludeSearch& search) {
  return Collector(search).run({std::string(source.path), std::string(source.text), {}, true});
}

const EmbeddedSource* find_embedded(std::string_view path) {
  const auto all = embedded_sources();
  const auto at = std::lower_bound(
      all.begin(), all.end(), path,
      [](const EmbeddedSource& source, std::string_view want) { return source.path < want; });
  return at != all.end() && at->path == path ? &*at : nullptr;
}

}  // namespace einkorn::jit
