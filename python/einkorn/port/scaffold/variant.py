"""A variant's files for each required arch, as `einkorn new variant` makes them: they build, are
listed, and refuse every problem by saying that they are not written.
"""

from einkorn.port.scaffold.plan import CPU, DESIGN, OpPlan, camel
from einkorn.port.scaffold.texts import comment, fill

_HOST = """\
@about@

#include <optional>
#include <tuple>
#include <vector>

#include <einkorn/error.h>
#include <einkorn/op.h>

#include "@folder@/contract.h"

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

  // TODO(you): @how@
  static Plan plan(const Problem&, const Tiling&, const DeviceInfo&) {
    throw_error(ErrorKind::kNotImplemented, @unwritten@);
  }
};

}  // namespace

extern const Variant @stem@;
// TODO(you): what it is, in a line.
constexpr Variant @stem@ =
    make_variant<@Op@, @Stem@>("@arch@", "@design@", 1, "@language@", "not written yet");

}  // namespace einkorn::@op@::@arch@
"""

_KERNEL = """\
@about@

#include "src/cuda/device/common/all.cuh"

namespace einkorn::@op@::@arch@ {

// TODO(you): one `const __grid_constant__ Params p`, shared with the host in params.h of the op.
/// Grid: TODO(you)
__global__ void @stem@() {}

}  // namespace einkorn::@op@::@arch@
"""


def variant_files(plan: OpPlan) -> dict[str, str]:
    """By path from the tree's root: one file for cpu, a pair for the others."""
    out = {}
    for arch, stem in plan.variants:
        names = {
            "folder": plan.folder,
            "op": plan.op,
            "Op": plan.type,
            "arch": arch,
            "stem": stem,
            "Stem": camel(stem),
            "design": DESIGN,
        }
        base = f"{plan.folder}/{arch}/{stem}"
        idea = comment(
            f"{plan.op}/{arch}/{stem}: TODO(you): the idea in a line.\n\n"
            f"Idea: TODO(you). The original's entry is {plan.provenance.entry}; what of it is "
            f"taken up, and what differs."
        )
        if arch == CPU:
            how = f'host_stage<{plan.type}::Args, State>("{stem}", state, &run)'
            unwritten = f'"{plan.op}/{arch}/{stem} is not written yet"'
            out[f"{base}.cc"] = fill(
                _HOST, about=idea, how=how, unwritten=unwritten, language="cpp", **names
            )
            continue
        host = f"// Host side of {plan.op}/{arch}/{stem}; the idea is told in {stem}.cu."
        text = fill(
            _HOST,
            about=host,
            how=f'launch_stage<{plan.type}::Args, Params>("{stem}", kFile,\n'
            "  // jit::instantiate(kEntry, {...}), launch, params, bind)",
            unwritten='fmt::format("{} of {} is not written yet", kEntry, kFile)',
            language="cuda",
            **names,
        )
        constants = (
            f'constexpr std::string_view kFile = "{base}.cu";\n'
            f'constexpr std::string_view kEntry = "einkorn::{plan.op}::{arch}::{stem}";\n\n'
        )
        text = text.replace(f"struct {camel(stem)} {{", constants + f"struct {camel(stem)} {{", 1)
        text = text.replace("<einkorn/op.h>\n", "<einkorn/op.h>\n#include <fmt/format.h>\n", 1)
        out[f"{base}.cc"] = text
        out[f"{base}.cu"] = fill(_KERNEL, about=idea, **names)
    return out
