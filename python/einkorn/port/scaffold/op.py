"""The files of a scaffolded op's folder: those that `einkorn new op` makes, for its own arguments,
and where they came from.
"""

from einkorn.port.scaffold.contract import contract_header, contract_source, source_of
from einkorn.port.scaffold.plan import CPU, OpPlan
from einkorn.port.scaffold.texts import TODO, comment, fill

_REFERENCE = """\
// The contract of @op@ in double: what every variant is held against.

#include <einkorn/error.h>

#include "@folder@/contract.h"

namespace einkorn {

// TODO(you): slow and obvious, with the contract's rounding points.
void @Op@::reference(const Args&) {
  throw_error(ErrorKind::kNotImplemented,
              "@op@: its reference is not written yet\\n  hint: @folder@/reference.cc");
}

}  // namespace einkorn
"""

_CASES = """\
// The cases of @op@ and the tensors that stand for them.

#include <einkorn/error.h>

#include "@folder@/contract.h"

namespace einkorn {

std::span<const Case> @Op@::cases() {
#define EK_CASE(name, level, keys) {#name, level, keys},
  static constexpr Case kCases[] = {
#include "@folder@/cases.inc"
  };
#undef EK_CASE
  return kCases;
}

// TODO(you): values such that a forgotten term shows.
Inputs<@Op@::Args> @Op@::make_inputs(const Problem&, Rng&) {
  throw_error(ErrorKind::kNotImplemented,
              "@op@: the inputs of its cases are not written yet\\n  hint: @folder@/cases.cc");
}

}  // namespace einkorn
"""


def case_list(plan: OpPlan) -> str:
    """The problems of the found tests at each required dtype once, or one of each size."""
    dtypes = plan.migration.texts("support.dtypes") or ["f32"]
    lines = [
        "// Levels: 0 on every change on the CPU, 1 in CI, 2 on a GPU, 3 when asked for.",
        comment(f"{TODO}: shapes of real models, and the odd ones: EK_CASE(name, level, keys)."),
    ]
    test = ""
    for i, case in enumerate(plan.cases):
        if case.test != test:
            test = case.test
            lines.append(comment(f"Of {test}:"))
        keys = " ".join(f"{name}={size}" for name, size in case.sizes.items())
        dtype = dtypes[i % len(dtypes)]
        lines.append(f'EK_CASE({case.name}, {case.level}, "{keys} dtype={dtype}")')
    silent = [one for one in plan.migration.texts("proof.tests") if one not in _told(plan)]
    if silent:
        lines.append(comment("Without sizes that can be read off: " + ", ".join(silent)))
    if not plan.cases:
        for i, dtype in enumerate(dtypes):
            lines.append(f'EK_CASE(small_{dtype}, 0, "{plan.fields[0]}={8 + i} dtype={dtype}")')
    return "\n".join(lines) + "\n"


def _told(plan: OpPlan) -> set[str]:
    return {case.test for case in plan.cases}


def variant_list(plan: OpPlan) -> str:
    lines = [f"EK_OP({plan.op})"]
    for arch, stem in plan.variants:
        design, version = stem.rsplit("_v", 1)
        lines.append(f"EK_VARIANT({plan.op}, {arch}, {design}, {version})")
    head = f"// {plan.op}: variants in order of preference; the first that agrees serves.\n"
    return head + "\n".join(lines) + "\n"


def readme(plan: OpPlan) -> str:
    migration = plan.migration
    dtypes = ", ".join(migration.texts("support.dtypes")) or TODO
    out = [f"# {plan.op}", "", migration.text("behaviour.essential"), "", "## Arguments", ""]
    out += ["| argument | shape | dtype | |", "|---|---|---|---|"]
    for one in plan.tensors:
        note = "out" + (f"; may be exactly `{one.over}`" if one.inout else "")
        out.append(f"| `{one.name}` | {TODO} | {dtypes} | {note if one.output else ''} |")
    out += [f"| `{one.name}` | | {_kind(one.cpp)} | {TODO} |" for one in plan.scalars]
    out += ["", "## Rounding", "", migration.text("behaviour.rounding"), "", "## Limits", ""]
    out += [f"- Not validated: {one}" for one in migration.texts("limits.not_validated")]
    out += [f"- Kept from the original: {one}" for one in migration.texts("behaviour.quirks")]
    out += ["", "## Provenance", "", source_of(plan), "", "## Variants", ""]
    out += ["In order of preference; the first that agrees serves.", "", "<!-- variants -->"]
    out += ["| variant, in order of preference | language | what it is |", "|---|---|---|"]
    for arch, stem in plan.variants:
        language = "cpp" if arch == CPU else "cuda"
        out.append(f"| `{arch}/{stem}` | {language} | not written yet |")
    out.append("| `cpu/reference_v1` | cpp | the contract's own reference, in double |")
    return "\n".join([*out, "<!-- /variants -->"]) + "\n"


def _kind(cpp: str) -> str:
    return {"double": "number", "bool": "true or false"}.get(cpp, "integer")


def op_files(plan: OpPlan) -> dict[str, str]:
    """By path from the tree's root."""
    names = {"folder": plan.folder, "Op": plan.type, "op": plan.op}
    texts = {
        "contract.h": contract_header(plan),
        "contract.cc": contract_source(plan),
        "reference.cc": fill(_REFERENCE, **names),
        "cases.cc": fill(_CASES, **names),
        "cases.inc": case_list(plan),
        "variants.inc": variant_list(plan),
        "README.md": readme(plan),
        "provenance.json": plan.provenance.to_json(),
    }
    return {f"{plan.folder}/{name}": text for name, text in texts.items()}
