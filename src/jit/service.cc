#include "src/jit/service.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <set>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/core/file.h"
#include "src/core/warning.h"
#include "src/jit/cache_root.h"
#include "src/jit/failure.h"
#include "src/jit/include_options.h"
#include "src/jit/key_lock.h"
#include "src/jit/program_version.h"
#include "src/jit/service_job.h"
#include "src/jit/time_limit.h"

namespace einkorn::jit {
namespace {

// Seconds that another process's compile of the same key is waited for, where no time limit says
// how long one may take. Then the work is done twice, which is only slow.
constexpr double kLockWait = 300;
constexpr double kLongestLockWait = 24 * 3600;

/// No longer than a compilation may take.
std::chrono::milliseconds lock_wait(const CompileInputs& inputs) {
  const double seconds = std::min(time_limit_of(inputs, kLockWait), kLongestLockWait);
  return std::chrono::milliseconds(std::llround(seconds * 1000));
}

KeyLock::Tell tell_of_wait(const CompileInputs& inputs) {
  return [&inputs](pid_t holder) {
    const std::string who =
        holder > 0 ? fmt::format("process {}", holder) : std::string("another process");
    warn_once(fmt::format("jit: {}: {} compiles the same kernel; waiting for it, at most {:g} s",
                          shown_name(inputs), who,
                          std::chrono::duration<double>(lock_wait(inputs)).count()));
  };
}

/// The key of an artifact by a compiler that also read these files. Nothing when one is gone.
std::optional<KeyParts> with_dependencies(KeyParts parts, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const FileContent content = read_file(path);
    if (content.error) return std::nullopt;
    parts.dependencies.emplace_back(path, digest_of(std::as_bytes(std::span(content.text))));
  }
  return parts;
}

/// What a compiler read is kept by what it was given and where it searches, whatever its version:
/// the paths are only where to look, and an upgraded one has another key all the same.
Digest dependency_key(const CompileInputs& inputs, const Compiler& compiler) {
  return key_of(key_parts(inputs, std::string(compiler.name()) + search_variables()));
}

}  // namespace

std::shared_ptr<const Artifact> Service::answer(const CompileInputs& inputs,
                                                const std::string& compiler, Trace* trace,
                                                Beside beside) {
  const Clock::time_point start = Clock::now();
  Hasher hasher;
  const Digest key = hasher.add(inputs.content).add(compiler).finish();
  bool hit = false;
  const auto artifact =
      memory_.get(key, [&] { return build(inputs, compiler, trace, beside); }, &hit);
  if (hit && trace != nullptr) trace->steps.push_back({"memory", "hit", ms_since(start)});
  return artifact;
}

Outcome Service::build(const CompileInputs& inputs, const std::string& compiler, Trace* trace,
                       Beside beside) {
  Job job{.inputs = inputs, .trace = trace};
  job.note("memory", "miss", Clock::now());
  if (ask_packs(job)) return job.outcome;
  if (settings_.mode == Mode::kOff) throw_nothing_serves(job);
  find_compilers(job, compiler);
  if (beside == Beside::kOthers) drop_serialising(job);
  if (ask_store(job, false)) return job.outcome;
  if (settings_.mode == Mode::kCacheOnly || job.usable.empty()) throw_nothing_serves(job);
  compile(job);
  return job.outcome;
}

void Service::find_compilers(Job& job, const std::string& compiler) {
  bool known = compiler.empty();
  for (Compiler* one : compilers_) {
    if (compiler.empty() ? one->target() != job.inputs.target : one->name() != compiler) continue;
    known = true;
    const Clock::time_point start = Clock::now();
    if (const auto reason = one->refusal(job.inputs)) {
      job.note(std::string(one->name()), "skipped: " + *reason, start);
      job.absent.push_back(one);
      job.refusals.push_back(fmt::format("{}: {}", one->name(), *reason));
    } else {
      job.usable.push_back(one);
    }
  }
  if (known) return;
  std::string names;
  for (const Compiler* one : compilers_) names += fmt::format(" {}", one->name());
  throw_error(ErrorKind::kValue,
              fmt::format("jit: compiler: expected one of{}, got \"{}\"", names, compiler));
}

/// Drops those that would hold up the others where the same compiler serves in another way.
void Service::drop_serialising(Job& job) {
  std::erase_if(job.usable, [&](Compiler* one) {
    return one->serialises() && std::ranges::any_of(job.usable, [&](Compiler* other) {
             return !other->serialises() && other->identity() == one->identity();
           });
  });
}

bool Service::ask_store(Job& job, bool again) {
  Store* disk = store();
  if (disk == nullptr) {
    if (!again) job.note("store", "skipped: no usable folder", Clock::now());
    return false;
  }
  std::string last_identity;
  for (Compiler* one : job.usable) {
    const Clock::time_point start = Clock::now();
    Store::Found found;
    found.reason = "miss";
    std::optional<std::vector<std::string>> paths = std::vector<std::string>();
    // Asked before the identity, for which some compilers have to be run.
    if (one->reads_disk()) paths = disk->dependencies(dependency_key(job.inputs, *one));
    if (paths) {
      const std::string identity = one->identity();
      if (identity == last_identity) continue;  // the same artifacts
      last_identity = identity;
      if (const auto parts = with_dependencies(key_parts(job.inputs, identity), *paths)) {
        found = disk->lookup(key_of(*parts), job.inputs.arch);
      }
    }
    if (!again || found.artifact != nullptr) {
      job.note(fmt::format("store, by {}", one->name()), found.artifact ? "hit" : found.reason,
               start);
    }
    job.outcome.artifact = std::move(found.artifact);
    if (job.outcome.artifact != nullptr) return true;
  }
  return !again && ask_store_for_absent(job, *disk);
}

/// What compilers that are not here have published: an image may ship a filled cache without them.
bool Service::ask_store_for_absent(Job& job, Store& disk) {
  std::set<std::string> asked;
  for (Compiler* one : job.absent) {
    std::optional<std::vector<std::string>> paths = std::vector<std::string>();
    if (one->reads_disk()) paths = disk.dependencies(dependency_key(job.inputs, *one));
    if (!paths) continue;
    for (const std::string& identity : disk.identities(one->name())) {
      if (!asked.insert(identity).second) continue;
      const Clock::time_point start = Clock::now();
      const auto parts = with_dependencies(key_parts(job.inputs, identity), *paths);
      if (!parts) continue;
      Store::Found found = disk.lookup(key_of(*parts), job.inputs.arch);
      if (found.artifact == nullptr) continue;
      job.note(fmt::format("store, by {}, which is not here", one->name()), "hit", start);
      job.outcome.artifact = std::move(found.artifact);
      return true;
    }
  }
  return false;
}

void Service::compile(Job& job) {
  std::string rejected;  // what the last one that rejected it is
  for (std::size_t i = 0; i < job.usable.size(); ++i) {
    const std::string identity = job.usable[i]->identity();
    if (identity == rejected) continue;  // it would say the same
    if (compile_with(job, i)) return;
    rejected = identity;
  }
}

/// True when the outcome stands, false when the next compiler is to be tried.
bool Service::compile_with(Job& job, std::size_t index) {
  Compiler& compiler = *job.usable[index];
  Store* disk = store();
  std::optional<KeyLock> lock;
  if (disk != nullptr && disk->read_only().empty()) {
    const Clock::time_point start = Clock::now();
    lock.emplace(disk->lock_file(), key_of(key_parts(job.inputs, compiler.identity())),
                 lock_wait(job.inputs), tell_of_wait(job.inputs));
    if (lock->waited()) {
      job.note("lock", lock->held() ? "waited for another process" : "waited in vain", start);
    }
    // Somebody may have published between our look and our lock.
    if (ask_store(job, true)) return true;
  }
  const Clock::time_point start = Clock::now();
  Outcome outcome = compiler.compile(job.inputs);
  if (outcome.failure) {
    job.note(std::string(compiler.name()),
             fmt::format("failed: {}", first_line_of(outcome.failure->what())), start);
    const bool first = !job.outcome.failure.has_value();
    const bool go_on = outcome.other_compiler_may && index + 1 < job.usable.size();
    // The first compiler's message stays when the others say no as well.
    if (first) job.outcome = std::move(outcome);
    return !go_on;
  }
  job.note(std::string(compiler.name()), "compiled", start);
  publish(job, compiler, outcome);
  return true;
}

void Service::publish(Job& job, Compiler& compiler, const Outcome& outcome) {
  // Asked again: a compiler knows exactly what it is once it was loaded.
  KeyParts parts = key_parts(job.inputs, compiler.identity());
  Store* disk = store();
  std::string trouble;
  if (compiler.reads_disk()) {
    if (auto all = with_dependencies(parts, outcome.dependencies)) parts = *std::move(all);
  }
  const Digest key = key_of(parts);
  auto artifact = std::make_shared<Artifact>(*outcome.artifact);
  artifact->key = key.hex();
  job.outcome = {.artifact = artifact};
  if (disk == nullptr) return;
  const Clock::time_point start = Clock::now();
  if (!disk->read_only().empty()) {
    job.note("store", "not published: only read from: " + disk->read_only(), start);
    warn_once(
        fmt::format("the cache {} is only read from, what it lacks is kept in memory: {}\n"
                    "  hint: EINKORN_CACHE_DIR names another",
                    disk->root(), disk->read_only()));
    return;
  }
  trouble = disk->publish(key, job.inputs.arch, *artifact, parts);
  if (trouble.empty() && compiler.reads_disk()) {
    trouble = disk->set_dependencies(dependency_key(job.inputs, compiler), outcome.dependencies);
  }
  job.note("store", trouble.empty() ? "published" : "not published: " + trouble, start);
  if (const std::string lost = disk->set_identity(compiler.name(), parts.compiler); !lost.empty()) {
    job.note("store", "it will not be found without its compiler: " + lost, start);
  }
  if (!trouble.empty()) {
    warn_once(fmt::format("the cache {} takes no more artifacts, they are kept in memory: {}",
                          disk->root(), trouble));
  }
}

Store* Service::store() {
  std::call_once(store_once_, [&] {
    const CacheRoot found = find_cache_root(settings_, /*make=*/true);
    if (!found.path.empty()) {
      store_ = std::make_unique<Store>(StoreOptions{.root = found.path,
                                                    .max_bytes = settings_.max_bytes,
                                                    .trust = settings_.trust,
                                                    .read_only = found.read_only,
                                                    .also_read = found.also_read});
      return;
    }
    warn_once(fmt::format(
        "no cache folder can be used, artifacts are kept in memory only:\n  {}\n  hint: "
        "EINKORN_CACHE_DIR names another; chmod 700 closes one to others; EINKORN_CACHE_TRUST=1 "
        "takes it as it is",
        fmt::join(found.refused, "\n  ")));
  });
  return store_.get();
}

Service& service() {
  static Service& instance = *new Service(Settings::from_environment(), compilers());
  return instance;
}

}  // namespace einkorn::jit
