#pragma once

// Shared objects that are loaded out of memory.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace einkorn::jit {

/// A shared object in this process; never unloaded, because nobody knows who still has its
/// functions. Copies are the same object.
class LoadedObject {
 public:
  /// Loads the bytes (RTLD_NOW, RTLD_LOCAL); the same object when `key` was loaded before. An empty
  /// key: the digest of the bytes. `name` is for messages and debuggers. Thread-safe.
  /// RuntimeError with the loader's reason: not a shared object, undefined symbols.
  static LoadedObject load(std::string_view key, std::span<const std::byte> image,
                           std::string_view name);

  /// ValueError: no such symbol, with those there are.
  void* symbol(const std::string& symbol_name) const;
  /// Null when there is none.
  void* find(const std::string& symbol_name) const;

  const std::vector<std::string>& exports() const;
  /// As the loader knows the file: equal for objects that are the same.
  void* handle() const;

 private:
  struct State;
  explicit LoadedObject(const State* state) : state_(state) {}

  const State* state_;  // lives as long as the process
};

}  // namespace einkorn::jit
