"""Which of the six layers of validation an op has tests for.

A layer is known by what a test does, not by its name: a test that calls the op is a smoke test
whatever it is called.
"""

import re

from einkorn.port.verify.model import OpFolder, Tree
from einkorn.port.verify.tests import Test, Tests

_NN = "python/einkorn/torch/nn.py"
_COMPARES = re.compile(
    r"assert_close|allclose|assert_allclose|gradcheck|approx\(|assert_array_equal|torch\.equal|"
    r"array_equal|check_grads|\bagrees?\w*\("
)
_ISOLATED = re.compile(r"sys\.modules|\bworks\(|subprocess\.run\(|interpreter\.")
NOT_APPLICABLE = "not applicable"


def modules_of(tree: Tree, op: OpFolder) -> list[str]:
    """Classes of einkorn.torch.nn that call the op."""
    out = []
    for part in re.split(r"^(?=class )", tree.text(_NN), flags=re.MULTILINE)[1:]:
        name = re.match(r"class (\w+)", part)
        if name is not None and re.search(rf"\bops\.{op.op}\b", part):
            out.append(name[1])
    return out


def _calls(test: Test, op: str) -> bool:
    return (
        re.search(rf"\b(?:ops|einkorn|{op})\.{op}(?:\.default)?\(|\b{op}\(", test.text) is not None
    )


def layers_of(
    tree: Tree, tests: Tests, op: OpFolder, boundaries: list[str]
) -> dict[str, list[str]]:
    """Names of the tests of each layer; `boundaries` are those of the contract's rows. A layer that
    an op cannot have holds NOT_APPLICABLE.
    """
    own = tests.of(op)
    kind = tree.type_of(op)
    python = [one for one in own if one.python]
    modules = modules_of(tree, op)
    of_modules = [
        one for one in tests.all if one.python and one.filled and any(map(one.names, modules))
    ]

    def those(found: list[Test]) -> list[str]:
        return [f"{one.file}::{one.name}" for one in found]

    calling = [one for one in python if _calls(one, op.op)]
    referring = [
        one
        for one in own
        if not one.python
        and "EXPECT_" in one.text
        and (f"{op.op}_reference_test" in one.file or f"{kind}::reference(" in one.text)
    ]
    keys = [
        one
        for one in own
        if not one.python and "parse(" in one.text and ("print(" in one.text or kind in one.text)
    ]
    states = [one for one in of_modules if re.search(r"state_dict|torch\.save", one.text)]
    adapter = tree.has(f"{op.path}/state_keys.py")
    if adapter:
        states += [one for one in python if "state_keys" in one.text]
    return {
        "import safety": those([one for one in python if _ISOLATED.search(one.text)]),
        "smoke": those(calling),
        "correctness": those(referring + [one for one in calling if _COMPARES.search(one.text)]),
        "module": those(of_modules) if modules else [NOT_APPLICABLE],
        "round trip": those(states if modules or adapter else keys),
        "boundary": boundaries,
    }
