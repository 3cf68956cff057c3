#pragma once

// The toy op with a variant whose tilings are as good, and as bad, as their names say.

#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/measure/toy_op.h"

namespace einkorn::toy {

enum class Mood : std::uint8_t { kGood, kSlow, kWrong, kCrash, kHang, kThrow, kOutside, kLate };

}  // namespace einkorn::toy

template <>
struct einkorn::EnumNames<einkorn::toy::Mood> {
  static constexpr std::array<std::string_view, 8> kNames{"good", "slow",  "wrong",   "crash",
                                                          "hang", "throw", "outside", "late"};
};

namespace einkorn::toy {

struct Moody {
  struct Tiling {
    Mood mood = Mood::kGood;
    int n = 0;
    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{field("mood", &Tiling::mood, ""), field("n", &Tiling::n, "", 0, 100)};
    }
  };
  static std::optional<Refusal> supports(const Twice::Problem& problem, const DeviceInfo&) {
    if (problem.rows > 500) return Refusal{"rows 501 > 500"};
    return std::nullopt;
  }
  static std::vector<Tiling> tilings(const Twice::Problem&, const DeviceInfo&) {
    return {{Mood::kSlow, 2}, {Mood::kGood, 1},  {Mood::kWrong, 1},   {Mood::kCrash, 1},
            {Mood::kHang, 1}, {Mood::kThrow, 1}, {Mood::kOutside, 1}, {Mood::kSlow, 4}};
  }
  static Plan plan(const Twice::Problem&, const Tiling& tiling, const DeviceInfo&) {
    Plan out;
    out.stages.emplace_back(host_stage<Twice::Args, Tiling>("moody", tiling, &run));
    return out;
  }
  static void run(const Twice::Args& args, const Tiling& tiling) {
    if (tiling.mood == Mood::kCrash) std::raise(SIGSEGV);
    if (tiling.mood == Mood::kThrow) throw_error(ErrorKind::kRuntime, "no more of that");
    while (tiling.mood == Mood::kHang) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (tiling.mood == Mood::kSlow) {
      const auto until =
          std::chrono::steady_clock::now() + std::chrono::microseconds(200 * tiling.n);
      while (std::chrono::steady_clock::now() < until) {
      }
    }
    Twice::reference(args);
    float* y = args.y.data_as<float>();
    if (tiling.mood == Mood::kWrong) y[0] += 1;
    if (tiling.mood == Mood::kOutside) y[args.y.size(0) * args.y.stride(0)] = 1;
  }
};

inline constexpr Variant kMoody =
    make_variant<Twice, Moody>("cpu", "moody", 1, "cpp", "does what its tiling says");

/// Makes the op and the variant known to the registry, once.
inline void register_moody() {
  static const bool kDone = [] {
    register_op(kTwice);
    register_variant(kMoody);
    return true;
  }();
  static_cast<void>(kDone);
}

}  // namespace einkorn::toy
