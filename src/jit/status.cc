#include "src/jit/status.h"

#include <utility>

#include <einkorn/error.h>

#include "src/jit/service.h"
#include "src/jit/store_content.h"

namespace einkorn::jit {
namespace {

std::string_view text_of(Mode mode) {
  switch (mode) {
    case Mode::kOn:
      return "on";
    case Mode::kCacheOnly:
      return "cache-only";
    case Mode::kOff:
      return "off";
  }
  return "unknown";
}

}  // namespace

std::string cache_root() {
  const Store* store = service().store();
  return store == nullptr ? std::string() : store->root();
}

CacheStatus cache_status() {
  CacheStatus out;
  const Settings& settings = service().settings();
  out.mode = text_of(settings.mode);
  out.max_bytes = settings.max_bytes;
  out.packs = settings.packs;
  const Store* store = service().store();
  if (store == nullptr) return out;
  out.root = store->root();
  out.read_only = store->read_only();
  out.also_read = store->also_read();
  StoreContent content = look_over(out.root);
  out.entries = content.entries.size();
  out.bytes = content.bytes;
  out.unreadable = std::move(content.unreadable);
  return out;
}

std::vector<CompilerStatus> compiler_status() {
  std::vector<CompilerStatus> out;
  for (Compiler* compiler : compilers()) {
    CompilerStatus status{std::string(compiler->name()), {}, {}};
    // Each is asked for what it is made for.
    CompileInputs inputs;
    inputs.target = compiler->target();
    inputs.sources.files.emplace_back();
    try {
      if (const auto reason = compiler->refusal(inputs)) {
        status.reason = *reason;
      } else {
        status.identity = compiler->identity();
      }
    } catch (const Error& error) {  // a variable that makes no sense keeps it from compiling
      status.reason = error.what();
    }
    out.push_back(std::move(status));
  }
  return out;
}

}  // namespace einkorn::jit
