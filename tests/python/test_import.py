"""`import einkorn`: what it costs, what it brings in, and what it says of parts that are missing.

Each test has an interpreter of its own, since what is imported stays.
"""

import statistics

import interpreter
import pytest
from interpreter import SOURCE

HEAVY = ("torch", "jax", "numpy", "tvm_ffi", "ml_dtypes", "triton", "cupy", "ctypes")


def works(code: str, **variables: str) -> str:
    return interpreter.works("-c", code, **variables)


# Raises with a message that holds all of `parts`.
FAILS = """
def fails(kind, *parts, call):
    try:
        call()
    except kind as error:
        for part in parts:
            assert part in str(error), (part, str(error))
    else:
        raise AssertionError("nothing raised")
"""


class TestImport:
    def test_brings_in_nothing_heavy(self):
        found = works(
            "import sys, einkorn; dir(einkorn); einkorn.__all__\n"
            f"print([name for name in {HEAVY!r} if name in sys.modules])"
        )
        assert found.strip() == "[]"

    def test_ops_bring_in_nothing_heavy(self):
        """Signatures and docstrings can be read without the library or a framework."""
        found = works(
            "import sys, einkorn; einkorn.ops.rms_norm.__doc__; einkorn.ops.TABLE\n"
            f"print([name for name in {HEAVY!r} if name in sys.modules])"
        )
        assert found.strip() == "[]"

    def test_standard_library_only(self):
        """Without site-packages and in isolation."""
        code = f"import sys; sys.path.insert(0, {str(SOURCE / 'python')!r}); import einkorn.ops"
        interpreter.works("-I", "-S", "-c", code)

    def test_under_30_ms(self):
        """On top of the interpreter: processor time, which other programs' load leaves alone."""
        code = (
            "import time; start = time.process_time(); import einkorn\n"
            "print(time.process_time() - start)"
        )
        cost = statistics.median(float(works(code)) for _ in range(7))
        assert cost < 0.030, f"{1e3 * cost:.1f} ms"

    def test_names(self):
        names = works("import einkorn; print(*dir(einkorn))").split()
        assert {"ops", "jax", "torch", "jit", "variants", "explain", "bind"} <= set(names)
        assert names == sorted(names)
        assert not [name for name in names if name.startswith("_") and name != "__version__"]

    def test_unknown_name(self):
        works(
            FAILS
            + "import einkorn\n"
            + "fails(AttributeError, \"module 'einkorn' has no attribute 'nothing'\", "
            "call=lambda: einkorn.nothing)"
        )

    def test_every_name_is_there(self):
        pytest.importorskip("torch")
        pytest.importorskip("jax")
        works("import einkorn\nfor name in dir(einkorn): getattr(einkorn, name)")


class TestMissingParts:
    def test_tvm_ffi(self):
        works(
            FAILS
            + """
import sys, numpy, einkorn
x = numpy.ones((2, 8), "f4")
sys.modules["tvm_ffi"] = None
for _ in range(2):
    fails(ImportError, "apache-tvm-ffi cannot be imported", "pip install",
          call=lambda: einkorn.ops.rms_norm(x))
del sys.modules["tvm_ffi"]
assert einkorn.ops.rms_norm(x).shape == (2, 8)
"""
        )

    def test_library(self):
        works(
            FAILS
            + """
import os, numpy, einkorn
x = numpy.ones((2, 8), "f4")
said = os.environ.get("EINKORN_LIBRARY")
os.environ["EINKORN_LIBRARY"] = "/nonexistent/libeinkorn_python.so"
for _ in range(2):
    fails(ImportError, "tried: /nonexistent/libeinkorn_python.so", "make build", "EINKORN_LIBRARY",
          call=lambda: einkorn.ops.rms_norm(x))
    fails(ImportError, "tried: /nonexistent", call=lambda: einkorn.__version__)
if said is None:
    del os.environ["EINKORN_LIBRARY"]
else:
    os.environ["EINKORN_LIBRARY"] = said
assert einkorn.ops.rms_norm(x).shape == (2, 8)
assert einkorn.__version__.count(".") == 2
"""
        )

    def test_library_that_is_none(self, tmp_path):
        """A file that cannot be loaded; the next use takes the right one."""
        wrong = tmp_path / "libeinkorn_python.so"
        wrong.write_text("no library")
        works(
            FAILS
            + """
import os, numpy, einkorn
x = numpy.ones((2, 8), "f4")
wrong = os.environ.pop("WRONG_LIBRARY")
said = os.environ.get("EINKORN_LIBRARY")
os.environ["EINKORN_LIBRARY"] = wrong
fails(Exception, wrong, call=lambda: einkorn.ops.rms_norm(x))
if said is None:
    del os.environ["EINKORN_LIBRARY"]
else:
    os.environ["EINKORN_LIBRARY"] = said
assert einkorn.ops.rms_norm(x).shape == (2, 8)
""",
            WRONG_LIBRARY=str(wrong),
        )

    def test_numpy_needs_no_other_framework(self):
        found = works(
            "import sys, numpy, einkorn\n"
            "for name in ('torch', 'jax', 'jaxlib', 'cupy'): sys.modules[name] = None\n"
            "print(einkorn.ops.rms_norm(numpy.ones((2, 8), 'f4')).shape)"
        )
        assert found.strip() == "(2, 8)"

    def test_unknown_array_needs_no_library(self):
        works(
            FAILS
            + "import sys, einkorn\n"
            + "fails(TypeError, 'x: expected an array of PyTorch, NumPy, JAX or CuPy, got list', "
            "call=lambda: einkorn.ops.rms_norm([1.0]))\n"
            "assert 'tvm_ffi' not in sys.modules"
        )
