#pragma once

// The path of one call: match, look up the plan, bind pointers, launch.

#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>

#include <einkorn/batch_invariant.h>
#include <einkorn/error.h>
#include <einkorn/fields.h>
#include <einkorn/op.h>
#include <einkorn/registry.h>

namespace einkorn {

namespace detail {

/// Selects, compiles and loads; everything that is not the hot path.
std::shared_ptr<const Executable> build_executable(std::string_view op, const void* problem,
                                                   Stream stream, std::string_view choice);
[[noreturn]] void throw_wrong_stream(std::string_view op, Device tensors, Stream stream);

}  // namespace detail

/// Plans by problem, device, choice and mode. Bounded: past kCapacity problems it starts afresh,
/// which costs one selection for each problem still in use and no compilation.
template <Contract C>
class PlanCache {
 public:
  static constexpr std::size_t kCapacity = 4096;

  static PlanCache& instance() {
    static PlanCache cache;
    return cache;
  }

  std::shared_ptr<const Executable> get(const typename C::Problem& problem, Stream stream,
                                        std::string_view choice) {
    const std::uint64_t generation = registry_generation();
    Key key{problem, stream.device, std::string(choice), batch_invariant_mode()};
    {
      const std::shared_lock lock(mutex_);
      if (generation == generation_) {
        if (const auto it = plans_.find(key); it != plans_.end()) return it->second;
      }
    }
    // Built outside the lock: a compile must not hold up other problems. Two threads may build the
    // same plan; the compiler is asked once and either plan is right.
    auto built = detail::build_executable(C::kName, &problem, stream, choice);
    const std::unique_lock lock(mutex_);
    if (generation != generation_ || plans_.size() >= kCapacity) {
      plans_.clear();
      generation_ = generation;
    }
    return plans_.try_emplace(std::move(key), std::move(built)).first->second;
  }

 private:
  struct Key {
    typename C::Problem problem;
    Device device;
    std::string choice;
    bool batch_invariant;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::size_t seed = hash_fields(key.problem);
      seed = detail::hash_mix(seed, static_cast<std::size_t>(key.device.index));
      seed = detail::hash_mix(seed, std::hash<std::string>{}(key.choice));
      return detail::hash_mix(seed, key.batch_invariant ? 1 : 0);
    }
  };

  std::shared_mutex mutex_;
  std::uint64_t generation_ = 0;
  std::unordered_map<Key, std::shared_ptr<const Executable>, Hash> plans_;
};

namespace detail {

/// C::match, with the stream where it asks for that.
template <Contract C>
typename C::Problem match_on(const typename C::Args& args, Stream stream) {
  if constexpr (requires { C::match(args, stream); }) {
    return C::match(args, stream);
  } else {
    return C::match(args);
  }
}

/// C::match, or its last answer to this thread when the arguments are the same to the byte, as in a
/// loop over static buffers: matching is most of what a call costs besides the launch.
template <Contract C>
const typename C::Problem& match_call(const typename C::Args& args, Stream stream) {
  static_assert(std::is_trivially_copyable_v<typename C::Args>);
  struct Last {
    alignas(typename C::Args) std::byte args[sizeof(typename C::Args)];
    typename C::Problem problem;
    bool valid = false;
  };
  thread_local Last last;
  // What a problem takes from elements may have changed behind the same address.
  if constexpr (requires { C::reads_elements(args); }) {
    if (C::reads_elements(args)) last.valid = false;
  }
  // Padding is compared as well: it can make equal arguments differ, never the other way round.
  // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
  if (!last.valid || std::memcmp(last.args, &args, sizeof(args)) != 0) {
    last.problem = match_on<C>(args, stream);
    std::memcpy(last.args, &args, sizeof(args));
    last.valid = true;
  }
  return last.problem;
}

/// The plan for a call, from the thread's last one when the problem repeats: a model's layers call
/// the same problem many times in a row, and comparing a problem costs less than hashing it.
template <Contract C>
const Executable& plan_for(const typename C::Problem& problem, Stream stream,
                           std::string_view choice) {
  struct Last {
    std::uint64_t generation = ~std::uint64_t{0};
    typename C::Problem problem;
    Device device;
    std::string choice;
    bool batch_invariant = false;
    std::shared_ptr<const Executable> executable;
  };
  thread_local Last last;
  const std::uint64_t generation = registry_generation();
  const bool batch_invariant = batch_invariant_mode();
  if (last.executable == nullptr || last.generation != generation || last.device != stream.device ||
      last.batch_invariant != batch_invariant || !(last.problem == problem) ||
      last.choice != choice) {
    last.executable = PlanCache<C>::instance().get(problem, stream, choice);
    last.generation = generation;
    last.problem = problem;
    last.device = stream.device;
    last.choice = choice;
    last.batch_invariant = batch_invariant;
  }
  return *last.executable;
}

}  // namespace detail

/// Runs one call of an op. CUDA work is queued on `stream`, CPU work done on return. `choice` names
/// a variant or a pattern, as explain() takes it; empty leaves it to EINKORN_<OP> and list order.
template <Contract C>
void dispatch(const typename C::Args& args, Stream stream, std::string_view choice = {}) {
  const typename C::Problem& problem = detail::match_call<C>(args, stream);
  if (C::device(args) != stream.device) [[unlikely]] {
    detail::throw_wrong_stream(C::kName, C::device(args), stream);
  }
  detail::plan_for<C>(problem, stream, choice).run(&args, stream);
}

/// Does all of a call but the launch, so that a later one may be captured into a graph.
template <Contract C>
void prepare(const typename C::Args& args, Stream stream, std::string_view choice = {}) {
  const typename C::Problem problem = detail::match_on<C>(args, stream);
  if (C::device(args) != stream.device) [[unlikely]] {
    detail::throw_wrong_stream(C::kName, C::device(args), stream);
  }
  static_cast<void>(detail::plan_for<C>(problem, stream, choice));
}

}  // namespace einkorn
