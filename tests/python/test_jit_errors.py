"""einkorn.jit: a wrong argument is told by its name, before anything compiles."""

import pathlib
from typing import Any

import pytest
from jit_sources import ADD_CONSTANT, SOURCE, cpu, jit

ADD: dict[str, Any] = {"cuda": ADD_CONSTANT, "entry": "add_constant<int, 4>", "arch": "sm_90a"}
TEXT = "template <class T> void add(T* x) { *x = 1; }\nint give(int x) { return x; }\n"


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    (tmp_path / "add.cc").write_text(TEXT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def without(key: str, **more: Any) -> dict[str, Any]:
    return {**{one: value for one, value in ADD.items() if one != key}, **more}


@pytest.mark.parametrize(
    ("asked", "kind", "text"),
    [
        ({"cpp": "addd.cc", "entry": "k"}, ValueError, r'k: cpp: .*got "addd.cc"\n.*mean "add.cc"'),
        ({"cpp": "no/add.cc", "entry": "k"}, ValueError, r"there is no folder \".*/no\""),
        ({"cpp": ".", "entry": "k"}, ValueError, r'k: cpp: expected a file, got the folder "."'),
        (without("cuda", cuda="."), ValueError, "k: cuda: expected a file, got the folder"),
        (without("cuda", cuda=3), TypeError, "k: cuda: expected a path, got 3"),
        (without("cuda", cuda="void k() {\n}"), ValueError, r"cuda_source= takes the text"),
        (without("cuda", cuda_source="k.cu"), ValueError, "cuda_source: .*\n.*cuda= takes a file"),
        (without("cuda", cuda_source=" "), ValueError, "cuda_source: .* got an empty one"),
        (without("cuda", cuda_source=[""]), TypeError, r"k: cuda_source: expected .* got \[''\]"),
        (without("cuda", cuda_source=b"x"), TypeError, r"k: cuda_source: .* got b'x'"),
        (without("entry", entry=["q", "r"]), TypeError, r"k: entry: .*\n  hint: load gives one"),
        (without("entry", entry=3), TypeError, "k: entry: expected the expression of a kernel"),
        (without("entry", entry=" "), ValueError, "k: entry: expected the expression of a kernel"),
        (
            without("entry", entri="k"),
            TypeError,
            r"load: .* 'entri'.*\n  hint: did you mean entry=",
        ),
        ({**ADD, "template": (4,)}, ValueError, r'without arguments, got "add_constant<int, 4>"'),
        ({**ADD, "template": "f32"}, TypeError, r"k: template: .*\n  hint: template=\('f32',\)"),
        ({**ADD, "template": 4}, TypeError, r"k: template: expected a list .*\n.*template=\(4,\)"),
        ({**ADD, "time_limit": float("nan")}, ValueError, "k: time_limit: .* got nan"),
        ({**ADD, "time_limit": float("inf")}, ValueError, "k: time_limit: .* got inf"),
        ({**ADD, "time_limit": -1}, ValueError, "k: time_limit: expected seconds, 0 or more"),
        ({**ADD, "time_limit": "3"}, TypeError, "k: time_limit: expected a number of seconds"),
        ({**ADD, "include_dirs": ["/nowhere/x"]}, ValueError, "k: include_dirs: .*/nowhere/x"),
        ({**ADD, "include_dirs": ["add.cc"]}, ValueError, "k: include_dirs: .*add.cc"),
        ({**ADD, "include_dirs": "."}, TypeError, "k: include_dirs: expected a list of texts"),
        ({**ADD, "options": [3]}, TypeError, "k: options: expected a text, got 3"),
        ({**ADD, "options": None}, TypeError, "k: options: expected a list of texts, got None"),
        ({**ADD, "arch": 90}, TypeError, "k: arch: expected a text such as 'sm_90a', got 90"),
        ({**ADD, "compiler": 3}, TypeError, "k: compiler: expected a text .* got 3"),
        ({**ADD, "verbose": True}, TypeError, r"'verbose'.*\n  hint: .*\.compiled\.log"),
        ({**ADD, "functions": ["f"]}, TypeError, r"'functions'.*\n  hint: entry= names"),
    ],
)
def test_arguments_of_load(
    folder: pathlib.Path, asked: dict[str, Any], kind: type[Exception], text: str
) -> None:
    before = jit.compile_count()
    with pytest.raises(kind, match=text):
        jit.load("k", **asked)
    assert jit.compile_count() == before


def test_names_and_what_compile_takes() -> None:
    with pytest.raises(TypeError, match="name: expected a text, got 3"):
        jit.load(3, **ADD)
    with pytest.raises(ValueError, match="name: expected what messages can show"):
        jit.load("a\nb", **ADD)
    with pytest.raises(TypeError, match=r"compile: .*'template'.*\n.*entry=einkorn.jit.template"):
        jit.compile("k", template=(4,), **ADD)
    with pytest.raises(ValueError, match=r"entry: expected different .* 'k<1>' twice"):
        jit.compile("k", **without("entry", entry=["k<1>", "k<1>"]))
    with pytest.raises(TypeError, match=r"entry: .* got None"):
        jit.compile("k", **without("entry", entry=None))


@pytest.mark.parametrize("value", [1 << 70, -(1 << 63) - 1])
def test_an_integer_that_no_type_holds(value: int) -> None:
    with pytest.raises(ValueError, match=r"template argument 2 of k: .* -2\*\*63 to 2\*\*64 - 1"):
        jit.template("k", 1, value)


def test_integers_at_the_ends() -> None:
    assert jit.template("k", 2**64 - 1) == "k<18446744073709551615u>"
    assert jit.template("k", 2**63 - 1) == "k<9223372036854775807>"


def test_names_of_templates() -> None:
    with pytest.raises(TypeError, match="expected the name of one as text, got 3"):
        jit.template(3, 4)
    for name in ("", "3", "k<4>", "a b"):
        with pytest.raises(ValueError, match="template: expected the name of one"):
            jit.template(name, 4)


# Entries that a source does not have.


def test_an_entry_that_a_file_for_the_cpu_lacks(folder: pathlib.Path) -> None:
    with pytest.raises(RuntimeError) as caught:
        jit.load("k", cpp="add.cc", entry="sub<float>")
    message = str(caught.value)
    assert message.startswith(f'jit: k: entry: expected a function of {folder}/add.cc, got "sub<')
    assert "functions found there: add\n" in message and "header" not in message
    assert "einkorn_entry" not in message and "entry: sub<float>  arch" in message
    with pytest.raises(RuntimeError, match=r'got "add": .*\n.*\n  hint: a template is named with'):
        jit.load("k", cpp="add.cc", entry="add")
    with pytest.raises(RuntimeError, match=r'got "give": .*a kernel returns void'):
        jit.load("k", cpp="add.cc", entry="give")
    with pytest.raises(RuntimeError, match=r'of the source, got "missing"'):
        cpu("missing")
    with pytest.raises(RuntimeError, match=r'got "sub"') as caught:
        jit.compile("k", cpp="add.cc", entry=["add<int>", "sub"])
    assert "entry: add<int>, sub  arch" in str(caught.value)


def test_an_option_that_a_compiler_lacks_is_told_with_the_entry(folder: pathlib.Path) -> None:
    with pytest.raises(RuntimeError, match=r"--no-such") as caught:
        jit.load("k", cpp="add.cc", entry="add<int>", options=["--no-such"])
    assert "entry: add<int>  arch" in str(caught.value)


def test_an_entry_that_a_file_for_the_gpu_lacks() -> None:
    text = "hint: the entry has to name a kernel.*: add_constant.cuh has add_constant<class T, int"
    with pytest.raises(RuntimeError, match=text):
        jit.load("k", **without("entry", entry="sub<int, 4>"))
    embedded = next((SOURCE / "ops" / "norm" / "rms_norm" / "smxx").glob("*.cu"))
    name = str(embedded.relative_to(SOURCE))
    with pytest.raises(RuntimeError, match="the entry has to name a kernel"):
        jit.load("k", cuda=name, entry="nowhere", arch="sm_90a")


def test_names_of_operators() -> None:
    pytest.importorskip("torch")
    scale = cpu("scale<float, 3>")
    names = ("dst", "src", "n")
    for wrong in ("add6", "a::b::c", "a b::c", "::c"):
        with pytest.raises(ValueError, match=r'name: expected "namespace::name" of an operator'):
            scale.as_custom_op(wrong, arguments=names)
    for settings in ({"arguments": 3}, {"arguments": names, "mutates": "dst"}):
        with pytest.raises(TypeError, match="expected a list of names"):
            scale.as_custom_op("einkorn_test::no", **settings)
    with pytest.raises(TypeError, match="name: expected"):
        scale.as_custom_op(3, arguments=names)
