#include "src/core/warning.h"

#include <cstdio>
#include <mutex>
#include <set>
#include <utility>

namespace einkorn {
namespace {

struct State {
  std::mutex mutex;
  std::set<std::string, std::less<>> said;
  WarningHandler handler;
};

State& state() {
  static State& instance = *new State;  // threads may outlive main
  return instance;
}

}  // namespace

void set_warning_handler(WarningHandler handler) {
  const std::lock_guard lock(state().mutex);
  state().handler = std::move(handler);
}

void warn_once(std::string_view message) {
  const std::lock_guard lock(state().mutex);
  const auto [said, is_new] = state().said.emplace(message);
  if (!is_new) return;
  if (state().handler) return state().handler(*said);
  std::fprintf(stderr, "einkorn: warning: %s\n", said->c_str());
}

}  // namespace einkorn
