"""Python as it is read: functions, imports, calls, and what names stand for."""

from chain_support import of_files, repo
from einkorn.port.python.index import PythonIndex, call_nodes, module_name
from einkorn.port.python.names import PythonNames
from einkorn.port.sources.tree import SourceTree


def index_of(root, **files):
    return of_files(root, {f"{name}.py": text for name, text in files.items()}).python


def called(index, function):
    """The dotted names of what each call in a function runs."""
    names = PythonNames(index)
    (one,) = index.named(function)
    return [
        [target.full for target in names.callee(call, one.file, one)]
        for call in call_nodes(one.node)
    ]


def test_functions_with_parameters_and_decorators(tmp_path):
    index = index_of(
        tmp_path,
        a="""
class A(Base):
    @staticmethod
    def f(x: int, *rest, y=2, z: float = 1.0, **more):
        def inner():
            pass
        return inner

@first
@second(1, two=2)
async def g(): ...
""",
    )
    functions = index.functions_in("a.py")
    assert [(one.symbol, one.line, one.end_line) for one in functions] == [
        ("a.A.f", 4, 7),
        ("a.A.f.inner", 5, 6),
        ("a.g", 11, 11),
    ]
    assert [(one.name, one.type, one.default) for one in functions[0].parameters] == [
        ("x", "int", ""),
        ("*rest", "", ""),
        ("y", "", "2"),
        ("z", "float", "1.0"),
        ("**more", "", ""),
    ]
    assert functions[2].decorators == ["first", "second(1, two=2)"]
    assert functions[0].is_method()
    assert not functions[1].is_method()


def test_calls_as_written():
    index = repo("triton").python
    (function,) = index.named("rms_scale_forward")
    calls = index.calls(function)
    assert [(one.callee, one.name, one.line) for one in calls] == [
        ("x.numel", "numel", 42),
        ("torch.empty_like", "empty_like", 43),
        ("block_of", "block_of", 44),
        ("_forward_kernel[(rows,)]", "_forward_kernel", 45),
    ]
    assert calls[-1].arguments[-2:] == ("block=block", "num_warps=warps")


def test_named_by_the_end_of_the_symbol():
    index = repo("triton").python
    assert len(index.named("forward")) == 2
    assert [one.line for one in index.named("RmsScaleFunction.forward")] == [58]
    assert index.named("Function.forward") == []


def test_module_names():
    assert module_name("src/package/ops/gemm.py") == "package.ops.gemm"
    assert module_name("package/__init__.py") == "package"


def test_imports_are_absolute(tmp_path):
    surveyed = of_files(
        tmp_path,
        {
            "pkg/sub/m.py": "from . import a\nfrom ..b import c as d, e\nimport x.y, x.z as w\n"
            "def f():\n    from .late import g\n",
        },
    )
    assert surveyed.python.imports("pkg/sub/m.py") == {
        "a": "pkg.sub.a",
        "d": "pkg.b.c",
        "e": "pkg.b.e",
        "x": "x",
        "w": "x.z",
        "g": "pkg.sub.late.g",
    }


def test_names_through_imports_and_stars(tmp_path):
    surveyed = of_files(
        tmp_path,
        {
            "pkg/__init__.py": "from .impl import *\nfrom .same import same\n",
            "pkg/impl.py": "def f(): ...\n",
            "pkg/same.py": "def same(): ...\n",
            "use.py": "import pkg\nfrom pkg import same\n\ndef run():\n    pkg.f()\n    same()\n",
        },
    )
    assert called(surveyed.python, "run") == [["pkg.impl.f"], ["pkg.same.same"]]


def test_names_through_assignments_and_returns(tmp_path):
    index = index_of(
        tmp_path,
        a="""
import lib

def one(): ...
def two(): ...
def choose(which):
    return one if which else two
def run(which, other=one):
    f = choose(which)
    f()
    other()
    g, h = two, lib.three
    g()
    h()
    lib.open("x").four()
    which()
""",
    )
    assert called(index, "run") == [
        ["a.choose"],
        ["a.one", "a.two"],
        ["a.one"],
        ["a.two"],
        ["lib.three"],
        ["lib.open.four"],
        ["lib.open"],
        [],
    ]


def test_methods_and_fields_of_self(tmp_path):
    index = index_of(
        tmp_path,
        a="""
class Part:
    def __call__(self): ...
class Base:
    def inherited(self): ...
class Whole(Base):
    def __init__(self):
        self.part = Part()
    def run(self):
        self.part()
        self.inherited()
        self.unknown()
""",
    )
    assert called(index, "run") == [["a.Part.__call__"], ["a.Base.inherited"], []]


def test_a_name_that_is_made_of_itself_ends(tmp_path):
    index = index_of(
        tmp_path,
        a="def run(x):\n    y = x\n    y = y.a\n    y = y.b if y else y()\n    y()\n",
    )
    assert called(index, "run")[-1] == []


def test_no_file_is_refused(tmp_path):
    (tmp_path / "latin.py").write_bytes(b"# \xe9\ndef f():\n    return 1\n")
    (tmp_path / "broken.py").write_text("def g(:\n    return (\n\ndef h():\n    pass\n")
    (tmp_path / "empty.py").write_text("")
    sources = SourceTree(tmp_path)
    index = PythonIndex(sources)
    assert [one.name for one in index.functions_in("latin.py")] == ["f"]
    assert "h" in [one.name for one in index.functions_in("broken.py")]
    assert index.functions_in("empty.py") == []
    assert [gap.file for gap in sources.gaps] == ["latin.py"]
