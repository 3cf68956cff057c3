// A new variant: it builds, is listed, and refuses every problem by saying that it is not written.

#include "src/versions/templates.h"

namespace einkorn::versions {

constexpr std::string_view kCpuVariant = R"(// @op@/@arch@/@stem@: TODO(you): the idea in a line.
//
// Idea: TODO(you)

@include@ <optional>
@include@ <tuple>
@include@ <vector>

@include@ <einkorn/error.h>
@include@ <einkorn/op.h>

@include@ "@folder@/contract.h"

namespace einkorn::@op@::@arch@ {
// Two versions can be in one program: what they share by name is unnamed, or named as the file.
namespace {

struct @Stem@ {
  using Problem = @Op@::Problem;

  struct Tiling {
    // TODO(you): what can be tuned, each with a field; a tiling of nothing has one candidate.
    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() { return std::tuple{}; }
  };

  // TODO(you): nothing for a problem that it serves, otherwise what was met and what is needed.
  static std::optional<Refusal> supports(const Problem&, const DeviceInfo&) {
    return Refusal{"@op@/@arch@/@stem@ is not written yet"};
  }

  // TODO(you): why a tiling cannot serve: shared memory, registers, sizes that do not divide.
  static std::optional<Refusal> validate(const Problem&, const Tiling&, const DeviceInfo&) {
    return std::nullopt;
  }

  // TODO(you): candidates, the heuristic's choice first.
  static std::vector<Tiling> tilings(const Problem&, const DeviceInfo&) { return {Tiling{}}; }

  // TODO(you): host_stage<@Op@::Args, State>("@stem@", state, &run)
  static Plan plan(const Problem&, const Tiling&, const DeviceInfo&) {
    throw_error(ErrorKind::kNotImplemented, "@op@/@arch@/@stem@ is not written yet");
  }
};

}  // namespace

extern const Variant @stem@;
// TODO(you): what it is, in a line.
constexpr Variant @stem@ =
    make_variant<@Op@, @Stem@>("@arch@", "@design@", 1, "cpp", "not written yet");

}  // namespace einkorn::@op@::@arch@
)";

constexpr std::string_view kCudaVariantHost =
    R"(// Host side of @op@/@arch@/@stem@; the idea is told in @stem@.cu.

@include@ <optional>
@include@ <tuple>
@include@ <vector>

@include@ <einkorn/error.h>
@include@ <einkorn/op.h>
@include@ <fmt/format.h>

@include@ "@folder@/contract.h"

namespace einkorn::@op@::@arch@ {
// Two versions can be in one program: what they share by name is unnamed, or named as the file.
namespace {

constexpr std::string_view kFile = "@folder@/@arch@/@stem@.cu";
constexpr std::string_view kEntry = "einkorn::@op@::@arch@::@stem@";

struct @Stem@ {
  using Problem = @Op@::Problem;

  struct Tiling {
    // TODO(you): what can be tuned, each with a field; a tiling of nothing has one candidate.
    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() { return std::tuple{}; }
  };

  // TODO(you): nothing for a problem that it serves, otherwise what was met and what is needed.
  static std::optional<Refusal> supports(const Problem&, const DeviceInfo&) {
    return Refusal{"@op@/@arch@/@stem@ is not written yet"};
  }

  // TODO(you): why a tiling cannot serve: shared memory, registers, sizes that do not divide.
  static std::optional<Refusal> validate(const Problem&, const Tiling&, const DeviceInfo&) {
    return std::nullopt;
  }

  // TODO(you): candidates, the heuristic's choice first.
  static std::vector<Tiling> tilings(const Problem&, const DeviceInfo&) { return {Tiling{}}; }

  // TODO(you): launch_stage<@Op@::Args, Params>("@stem@", kFile,
  // jit::instantiate(kEntry, {...}), launch, params, bind)
  static Plan plan(const Problem&, const Tiling&, const DeviceInfo&) {
    throw_error(ErrorKind::kNotImplemented,
                fmt::format("{} of {} is not written yet", kEntry, kFile));
  }
};

}  // namespace

extern const Variant @stem@;
// TODO(you): what it is, in a line.
constexpr Variant @stem@ =
    make_variant<@Op@, @Stem@>("@arch@", "@design@", 1, "cuda", "not written yet");

}  // namespace einkorn::@op@::@arch@
)";

constexpr std::string_view kCudaVariantKernel =
    R"(// @op@/@arch@/@stem@: TODO(you): the idea in a line.
//
// Idea: TODO(you)

@include@ "src/cuda/device/common/all.cuh"

namespace einkorn::@op@::@arch@ {

// TODO(you): one `const __grid_constant__ Params p`, shared with the host in params.h of the op.
/// Grid: TODO(you)
__global__ void @stem@() {}

}  // namespace einkorn::@op@::@arch@
)";

}  // namespace einkorn::versions
