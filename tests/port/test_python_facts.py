"""State and guards of Python."""

from chain_support import of_files
from einkorn.port.closure.facts_of_python import python_guards_of, python_state_of

TEXT = """
import os, torch
import triton.language as tl

def f(x):
    global calls
    out = torch.empty_like(x)
    if os.environ["FAST"] and torch.cuda.get_device_capability()[0] >= 9:
        out = out.to(torch.float16 if x.dtype == torch.half else x.dtype)
    tl.atomic_add(out, 1)
    x.empty()
    x.seen = True
    return out
"""


def test_state_and_guards(tmp_path):
    functions = of_files(tmp_path, {"f.py": TEXT}).python.functions_in("f.py")
    assert [(one.kind, one.text, one.line) for one in python_state_of(functions)] == [
        ("static", "global calls", 6),
        ("allocation", "torch.empty_like(x)", 7),
        ("environment", 'os.environ["FAST"]', 8),
        ("atomic", "tl.atomic_add(out, 1)", 10),
        ("static", "x.seen = True", 12),
    ]
    assert [(one.kind, one.line) for one in python_guards_of(functions)] == [
        ("architecture", 8),
        ("dtype", 9),
    ]
