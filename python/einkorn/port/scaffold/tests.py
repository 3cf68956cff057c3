"""Tests of a scaffolded op in all six layers. What is not filled in fails, and says what it wants.

The layers: import safety, smoke, correctness, module, round trip, and boundary, which is one test
for each requirement of the original. `verify` counts no test that still says NOT_FILLED.
"""

import json

from einkorn.port.scaffold.contract import row_text
from einkorn.port.scaffold.plan import OpPlan, camel
from einkorn.port.scaffold.texts import comment, fill, literal

NOT_FILLED = "not filled: "

_BOUNDARY = """\
// What the original asks of a call of @op@, one test each.

#include <einkorn/error.h>
#include <gtest/gtest.h>

#include "@folder@/contract.h"

namespace einkorn {
namespace {

TEST(@Op@Contract, CasesComeBackFromTheirKeys) {
  for (const Case& one : @Op@::cases()) {
    const auto problem = @Op@::parse(split_key_values(one.keys));
    EXPECT_EQ(@Op@::parse(split_key_values(@Op@::print(problem))), problem) << one.name;
  }
}

@tests@
}  // namespace
}  // namespace einkorn
"""

_CORRECTNESS = """\
// The reference of @op@ against values computed by hand.

#include <gtest/gtest.h>

#include "@folder@/contract.h"
#include "tests/unit/ops/op_test.h"

namespace einkorn {
namespace {

@why@
TEST(@Op@Reference, HandComputed) {
  FAIL() << @says@;
}

}  // namespace
}  // namespace einkorn
"""

_PYTHON = '''\
"""@op@ from Python: import safety, smoke, module and round trip.

Every variant is held against the reference by tests/ops/op_test.cc; beside it are the reference
itself and the boundaries: tests/unit/ops/@op@_reference_test.cc and @op@_contract_test.cc.
"""

@imports@import subprocess
import sys

import pytest

HEAVY = ("torch", "jax", "numpy", "triton", "cupy")

IMPORT = f"""
import sys
import einkorn
assert hasattr(einkorn.ops, "@op@"), (
    "no einkorn.ops.@op@: build, then run scripts/generate_python.py")
heavy = [name for name in {HEAVY!r} if name in sys.modules]
assert not heavy, heavy
"""


def test_import_safety():
    """The op is there, and nothing heavy is needed to find it."""
    done = subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_smoke():
    pytest.fail(
        "@unfilled@smoke: call einkorn.ops.@op@ once on small arrays of one framework and "
        "look at shape and dtype of @outputs@"
    )


def test_module():
    pytest.fail(
        "@unfilled@module: build the module that calls @op@ and compare it with the "
        "original's; without such a module take this test away"
    )


@round_trip@
'''

_KEYS_ROUND_TRIP = '''\
STATE_KEYS = pathlib.Path(__file__).resolve().parents[2] / "@folder@/state_keys.py"


def test_round_trip():
    """Stored weights come back as they were, each under a name of its own."""
    spec = importlib.util.spec_from_file_location("state_keys", STATE_KEYS)
    state_keys = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(state_keys)
    theirs = {name: object() for name in state_keys.KEYS}
    ours = state_keys.to_ours(theirs)
    assert set(ours) == set(state_keys.KEYS.values())
    assert state_keys.to_theirs(ours) == theirs
    with pytest.raises(KeyError, match="bias_of_nothing"):
        state_keys.to_ours({**theirs, "bias_of_nothing": object()})
    pytest.fail(
        "@unfilled@round trip: load a stored state of the original, translate it, and compare "
        "the results of both modules"
    )
'''

_STATE_ROUND_TRIP = """\
def test_round_trip():
    pytest.fail(
        "@unfilled@round trip: what goes in and out of storage (a state dict, packed weights, "
        "keys of a problem) comes back as it was"
    )
"""

_STATE_KEYS = '''\
"""Names of stored weights of the original, and what they are called here."""

from collections.abc import Mapping

KEYS = {
@pairs@}


def to_ours(state: Mapping[str, object]) -> dict[str, object]:
    """`state` under this library's names. KeyError for a name that is not known, or missing."""
    return _renamed(state, KEYS)


def to_theirs(state: Mapping[str, object]) -> dict[str, object]:
    """The inverse of to_ours."""
    return _renamed(state, {ours: theirs for theirs, ours in KEYS.items()})


def _renamed(state: Mapping[str, object], names: Mapping[str, str]) -> dict[str, object]:
    unknown = sorted(set(state) - set(names))
    missing = sorted(set(names) - set(state))
    if unknown or missing:
        raise KeyError(f"@op@: unknown keys {unknown}, missing keys {missing}")
    return {names[name]: value for name, value in state.items()}
'''


def _boundaries(plan: OpPlan) -> str:
    out = []
    for row in plan.provenance.rows:
        wants = (
            f"{NOT_FILLED}{row.id}: take valid arguments, spoil them so that this does not hold, "
            f"and expect a typed error that names {row.argument or 'what is wrong'}: "
            f"{row.condition}"
        )
        out.append(
            f"{comment(row_text(row))}\n"
            f"TEST({plan.type}Contract, {camel(row.id)}) {{\n  FAIL() << {literal(wants)};\n}}\n"
        )
    if not out:
        wants = (
            f"{NOT_FILLED}boundary: the survey found no requirement; read the launcher, and test "
            f"each that it has"
        )
        out.append(f"TEST({plan.type}Contract, Boundaries) {{\n  FAIL() << {literal(wants)};\n}}\n")
    return "\n".join(out)


def layer_files(plan: OpPlan) -> dict[str, str]:
    """By path from the tree's root."""
    keys = plan.migration.pairs("surface.state_keys")
    names = {"op": plan.op, "Op": plan.type, "folder": plan.folder, "unfilled": NOT_FILLED}
    proven = ", ".join(plan.migration.texts("proof.tests"))
    says = (
        f"{NOT_FILLED}correctness: small inputs whose result can be computed by hand, such that "
        f"each term of the formula shows"
    )
    why = f"TODO(you): what proves the original: {proven or 'no test of it was named'}"
    round_trip = fill(_KEYS_ROUND_TRIP if keys else _STATE_ROUND_TRIP, **names)
    unit = f"tests/unit/ops/{plan.op}"
    out = {
        f"{unit}_contract_test.cc": fill(_BOUNDARY, tests=_boundaries(plan), **names),
        f"{unit}_reference_test.cc": fill(
            _CORRECTNESS, why=comment(why), says=literal(says), **names
        ),
        f"tests/python/test_{plan.op}.py": fill(
            _PYTHON,
            imports="import importlib.util\nimport pathlib\n" if keys else "",
            outputs=", ".join(one.name for one in plan.outputs),
            round_trip=round_trip.rstrip("\n"),
            **names,
        ),
    }
    if keys:
        pairs = "".join(f"    {json.dumps(old)}: {json.dumps(new)},\n" for old, new in keys.items())
        out[f"{plan.folder}/state_keys.py"] = fill(_STATE_KEYS, pairs=pairs, **names)
    return out
