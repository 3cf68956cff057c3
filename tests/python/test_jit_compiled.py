"""einkorn.jit inside of functions that torch.compile traces, with either order of the imports."""

import pytest
from interpreter import works
from jit_sources import ADD_CONSTANT, jit  # noqa: F401  (skips where the package is not)

pytest.importorskip("torch")

FUNCTIONS = r"""
import warnings
jit = einkorn.jit
SOURCE = "template <class T> void k(T* x) { *x = 7; }"

def loads(x):
    y = x + 1
    jit.load("k", cpp_source=SOURCE, entry="k", template=(x.dtype,))(y)
    return y + 1

def loads_a_file(x):  # asks for the file, which a trace cannot
    kernel = jit.load("add", cuda=FILE, entry="add_constant<int, 4>", arch="sm_90a")
    return x + len(kernel.parameters)

def compiles(x):
    one = jit.compile("add", cuda=FILE, entry="add_constant<int, 4>", arch="sm_90a")
    return x + len(one.parameters()) + (len(one.image) > 0)

def counts(x):
    jit.forget()
    return x + (jit.compile_count() >= 0)

def registered(x):
    kernel = jit.load("k", cpp_source=SOURCE, entry="k<float>")
    operator = kernel.as_custom_op("einkorn_test::seven", arguments=("x",))
    y = x + 1
    operator(y)
    return y

def names(x):
    return x + len(jit.template("k", x.dtype, 4, "f32", None))  # k<float, 4, float, einkorn::none>

def fails(x):  # its error is its own, which the function may catch
    try:
        jit.load("k", cpp_source=SOURCE, entry="k", template=(0.5,))
    except TypeError as error:
        assert "template argument 1 of k" in str(error)
        return x + 1
    return x

def compiled(function, **settings):
    torch._dynamo.reset()
    return torch.compile(function, backend="aot_eager", **settings)(torch.zeros(2)).tolist()

warnings.filterwarnings("error", message="(?s).*Dynamo")  # PyTorch has warnings of its own
expected = {loads: [8, 2], loads_a_file: [3, 3], compiles: [4, 4], counts: [1, 1],
            registered: [7, 1], names: [33, 33],
            fails: [1, 1]}
for function, result in expected.items():
    assert compiled(function) == result, function
for function in (loads, compiles, counts, names):
    try:
        compiled(function, fullgraph=True)
    except Exception as error:
        assert "outside of the compiled function" in str(error), error
    else:
        raise AssertionError(function)
"""


@pytest.mark.parametrize("first", ["torch", "einkorn.jit", "einkorn"])
def test_what_a_compiled_function_may_use(first: str) -> None:
    imports = "import torch, einkorn" if first == "torch" else f"import {first}; import torch"
    works("-c", f"{imports}\nimport einkorn\nFILE = {str(ADD_CONSTANT)!r}\n{FUNCTIONS}")


PLAIN_CALL = r"""
import sys
sys.modules["torch"] = None  # not to be found while einkorn loads
import einkorn.jit
kernel = einkorn.jit.load("k", cpp_source="void k(float* x) { *x = 7; }", entry="k")
del sys.modules["torch"]
import warnings, torch

def step(x):
    y = x + 1
    kernel(y)
    return y + 1

warnings.filterwarnings("error", message="(?s).*Dynamo")  # PyTorch has warnings of its own
compiled = torch.compile(step, backend="aot_eager")
assert compiled(torch.zeros(2)).tolist() == [8, 2]
torch._dynamo.reset()
try:
    torch.compile(step, backend="aot_eager", fullgraph=True)(torch.zeros(2))
except Exception as error:
    assert "as_custom_op" in str(error), error
else:
    raise AssertionError("traced whole")
"""


def test_a_kernel_that_was_loaded_before_pytorch() -> None:
    works("-c", PLAIN_CALL)
