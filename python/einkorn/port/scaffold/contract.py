"""contract.h and contract.cc of a scaffolded op.

The texts build. What only an author can write throws, and says what is to be written.
"""

import re
import textwrap

from einkorn.port.provenance.record import Row
from einkorn.port.scaffold.plan import OpPlan, Tensor
from einkorn.port.scaffold.texts import TODO, comment, fill, literal


def source_of(plan: OpPlan) -> str:
    """One sentence on where the op comes from."""
    one = plan.provenance
    where = one.url or "a repository without a known address"
    at = f" at {one.commit}" if one.commit else ""
    licence = one.licence or "without a stated licence"
    return (
        f"{one.use.capitalize()} from {where}{at}, entry {one.entry}, {licence}. "
        f"The files and their hashes are in provenance.json."
    )


def summary_of(plan: OpPlan) -> str:
    text = " ".join(plan.migration.text("behaviour.essential").split())
    first = re.split(r"(?<=[.!?]) ", text)[0].rstrip(".")
    return first if len(first) <= 90 else textwrap.shorten(first, 90, placeholder="...")


_HEADER = """\
#pragma once

@about@

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <einkorn/op.h>

namespace einkorn {

struct @Op@ {
  static constexpr std::string_view kName = "@op@";
  static constexpr std::string_view kFamily = "@family@";
  static constexpr std::string_view kSummary =
      @summary@;

  static constexpr std::int64_t kMaxSize = std::int64_t{1} << 40;  // TODO(you): of each size

  // TODO(you): shapes and dtypes of each; what is optional.
  struct Args {
@members@

    static constexpr auto arguments() {
      return std::tuple{@declarations@};
    }
  };

  // TODO(you): what a plan depends on. A scalar that only travels to the kernel is no part of it.
  struct Problem {
@sizes@
    DType dtype = @dtype@;

    bool operator==(const Problem&) const = default;

    static constexpr auto fields() {
      return std::tuple{@fields@};
    }
  };

  /// Checks every argument and says what the call is: typed errors naming the argument, nothing
  /// written.
  static Problem match(const Args& args);
  static Device device(const Args& args) { return args.@first@.device(); }

  static std::vector<Key> keys();
  static Problem parse(const KeyValues& pairs);
  static std::string print(const Problem& problem);

  static Work work(const Problem& problem);
  static Tolerance tolerance(const Problem& problem);
  /// Outputs of the contract's dtype or f64. CPU only.
  static void reference(const Args& args);
  static std::span<const Case> cases();
  static Inputs<Args> make_inputs(const Problem& problem, Rng& rng);
};

namespace @op@ {

/// Computes the outputs on `stream`. `variant` names one; empty: the best that serves. Nothing is
/// written when an argument is refused.
void run(const @Op@::Args& args, Stream stream, std::string_view variant = {});

/// Selects, compiles and loads what run() would use, so that run() can be captured in a graph.
void prepare(const @Op@::Args& args, Stream stream, std::string_view variant = {});

}  // namespace @op@
}  // namespace einkorn
"""


def _doc(one: Tensor) -> str:
    text = f"{TODO}: shape and dtype"
    if one.output and one.inout:
        return f"{text}; may be exactly {one.over}"
    return text


def _joined(items: list[str]) -> str:
    return (",\n" + " " * 24).join(items)


def contract_header(plan: OpPlan) -> str:
    migration = plan.migration
    about = [
        f"{plan.op}: {migration.text('behaviour.essential')}",
        "",
        f"Rounding: {migration.text('behaviour.rounding')}",
        "",
        *(f"Kept from the original: {one}" for one in migration.texts("behaviour.quirks")),
        f"Provenance: {source_of(plan)}",
    ]
    members = [f"    TensorView {one.name};  ///< {_doc(one)}" for one in plan.tensors]
    members += [f"    {one.cpp} {one.name} = {one.default};  ///< {TODO}" for one in plan.scalars]
    members += [f"    // {TODO}: {one}, an enum with EnumNames or a number" for one in plan.left]
    like = plan.inputs[0].name
    declared = [
        f'output("{one.name}", &Args::{one.name}, Like{{"{like}"}}, {literal(_doc(one))})'
        if one.output
        else f'input("{one.name}", &Args::{one.name}, {literal(_doc(one))})'
        for one in plan.tensors
    ]
    declared += [f'scalar("{one.name}", &Args::{one.name}, "{TODO}")' for one in plan.scalars]
    sizes = [f"    std::int64_t {name} = {_default(plan, name)};" for name in plan.fields]
    fields = [
        f'field("{name}", &Problem::{name}, "{TODO}", 0, double{{kMaxSize}})'
        for name in plan.fields
    ]
    fields.append(f'field("dtype", &Problem::dtype, {literal(_dtype_doc(plan))})')
    return fill(
        _HEADER,
        about=comment("\n".join(about)),
        Op=plan.type,
        op=plan.op,
        family=plan.family,
        summary=literal(summary_of(plan)),
        members="\n".join(members),
        declarations=_joined(declared),
        sizes="\n".join(sizes),
        fields=_joined(fields),
        first=plan.inputs[0].name,
        dtype=_dtypes(plan)[0],
    )


def _default(plan: OpPlan, name: str) -> int:
    """The largest that a found test has: what the op is measured at."""
    return max([one.sizes[name] for one in plan.cases if name in one.sizes], default=4096)


def _dtypes(plan: OpPlan) -> list[str]:
    return [f"k{one.upper()}" for one in plan.migration.texts("support.dtypes")] or ["kF32"]


def _dtype_doc(plan: OpPlan) -> str:
    return ", ".join(plan.migration.texts("support.dtypes")) or TODO


_SOURCE = """\
#include "@folder@/contract.h"

#include <einkorn/dispatch.h>
#include <einkorn/error.h>
#include <einkorn/match.h>

namespace einkorn {

// TODO(you): check everything; a message says what was expected and what came. What follows each
// tensor's name here is only what the port's plan knows.
//
@rows@
@Op@::Problem @Op@::match(const Args& args) {
  DeviceVar device;
@matches@
  throw_error(ErrorKind::kNotImplemented,
              "@op@: the checks of a call are not written yet\\n  hint: match() in @folder@");
}

std::vector<Key> @Op@::keys() { return describe_fields<Problem>(); }

@Op@::Problem @Op@::parse(const KeyValues& pairs) { return parse_fields<Problem>(kName, pairs); }

std::string @Op@::print(const Problem& problem) { return print_fields(problem, @leading@); }

// TODO(you): useful flops; every input read once, every output written once.
Work @Op@::work(const Problem&) {
  throw_error(ErrorKind::kNotImplemented,
              "@op@: its work is not counted yet\\n  hint: work() in @folder@");
}

@tolerance@
Tolerance @Op@::tolerance(const Problem&) {
  throw_error(ErrorKind::kNotImplemented,
              "@op@: its tolerance is not derived yet\\n  hint: tolerance() in @folder@");
}

namespace @op@ {

void run(const @Op@::Args& args, Stream stream, std::string_view variant) {
  dispatch<@Op@>(args, stream, variant);
}

void prepare(const @Op@::Args& args, Stream stream, std::string_view variant) {
  einkorn::prepare<@Op@>(args, stream, variant);
}

// NOLINTNEXTLINE(readability-identifier-naming): the name that ops/variants.inc expands to
extern const OpDef definition;
constexpr OpDef definition =
    make_op<@Op@>([](const void* args, Stream stream, std::string_view variant) {
      run(*static_cast<const @Op@::Args*>(args), stream, variant);
    });

}  // namespace @op@
}  // namespace einkorn
"""


def row_text(row: Row) -> str:
    """A row as a comment says it."""
    about = " ".join(filter(None, (row.argument, row.property))) or "the call"
    side = "hidden: no public function states it" if row.hidden else row.side
    shown = ", ".join(row.places[:3]) + (", ..." if len(row.places) > 3 else "")
    return f"{row.id}: {about}: {row.condition} ({side}; {shown})"


def contract_source(plan: OpPlan) -> str:
    rows = [
        "What the original asks of a call. Each row becomes a check below and a test of its name "
        f"in tests/unit/ops/{plan.op}_contract_test.cc; one that is not needed here is answered "
        "there.",
        *(f"  {row_text(one)}" for one in plan.provenance.rows),
    ]
    dtypes = ", ".join(_dtypes(plan))
    matches = []
    for one in plan.tensors:
        rules = f".dtype({dtypes}).on(device)" + (".writable()" if one.output else "")
        matches.append(f'  einkorn::match(kName, "{one.name}", args.{one.name}){rules}.verify();')
    tolerance = f"{TODO}: derive it by counting roundings. The plan says: "
    return fill(
        _SOURCE,
        folder=plan.folder,
        Op=plan.type,
        op=plan.op,
        rows=comment("\n".join(rows)),
        matches="\n".join(matches),
        leading=str(len(plan.fields) + 1),
        tolerance=comment(tolerance + plan.migration.text("proof.tolerance")),
    )
