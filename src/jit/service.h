#pragma once

// Answers requests: memory, packs, the store, compilers, in this order.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "src/jit/compiler.h"
#include "src/jit/memory_cache.h"
#include "src/jit/settings.h"
#include "src/jit/store.h"

namespace einkorn::jit {

/// One compilation beside others: by NVRTC in a worker rather than in this process, which does one
/// at a time. The artifacts are the same.
enum class Beside { kNothing, kOthers };

class Service {
 public:
  /// `compilers` are tried in order. Nothing on disk is touched before the first request.
  Service(Settings settings, std::vector<Compiler*> compilers)
      : settings_(std::move(settings)), compilers_(std::move(compilers)) {}

  /// See jit::compile(). `trace` takes every place asked.
  std::shared_ptr<const Artifact> answer(const CompileInputs& inputs, const std::string& compiler,
                                         Trace* trace, Beside beside = Beside::kNothing);

  /// Null when no root is usable, which was said once.
  Store* store();
  const Settings& settings() const { return settings_; }
  void forget() { memory_.clear(); }

 private:
  struct Job;  // one request on its way

  Outcome build(const CompileInputs& inputs, const std::string& compiler, Trace* trace,
                Beside beside);
  bool ask_packs(Job& job);
  void find_compilers(Job& job, const std::string& compiler);
  static void drop_serialising(Job& job);
  bool ask_store(Job& job, bool again);
  static bool ask_store_for_absent(Job& job, Store& disk);
  void compile(Job& job);
  bool compile_with(Job& job, std::size_t index);
  void publish(Job& job, Compiler& compiler, const Outcome& outcome);
  [[noreturn]] void throw_nothing_serves(const Job& job) const;

  const Settings settings_;
  const std::vector<Compiler*> compilers_;
  MemoryCache memory_;
  std::once_flag store_once_;
  std::unique_ptr<Store> store_;
};

/// The process's, by its environment when first asked for. ValueError: a variable that makes no
/// sense.
Service& service();

}  // namespace einkorn::jit
