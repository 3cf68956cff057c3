"""Namespaces renamed token by token: what is one, and what only looks so."""

import textwrap

import pytest
from einkorn.port.emit.rename import Renamer, Source, parse_names
from einkorn.port.errors import PortError


def renamed(text: str, *names: str, others: tuple[str, ...] = ()) -> tuple[str, list[str]]:
    """The text after the renaming, "old=new" each, and the gaps."""
    texts = [textwrap.dedent(one) for one in (text, *others)]
    sources = [Source.read(f"f{at}.cuh", one) for at, one in enumerate(texts)]
    renamer = Renamer(sources, parse_names(dict(one.split("=") for one in names)))
    return renamer.renamed(sources[0]), [one.what for one in renamer.gaps]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("namespace a { int f(); }", "namespace x { int f(); }"),
        ("namespace a::b { }  // a::b", "namespace x::b { }  // a::b"),
        ("inline namespace a { }", "inline namespace x { }"),
        ("namespace [[deprecated]] a { }", "namespace [[deprecated]] x { }"),
        ("namespace a {} int v = a::f();", "namespace x {} int v = x::f();"),
        ("namespace a {} int v = ::a::f();", "namespace x {} int v = ::x::f();"),
        ("namespace a {} using namespace a;", "namespace x {} using namespace x;"),
        ("namespace a {} using a::f;", "namespace x {} using x::f;"),
        ("namespace a {} namespace z = a;", "namespace x {} namespace z = x;"),
        ("namespace a {} a::T<a::U>* p;", "namespace x {} x::T<x::U>* p;"),
        ("namespace a {} k<a::N><<<a::g, 1>>>();", "namespace x {} k<x::N><<<x::g, 1>>>();"),
        ("namespace a { int f() { return a::g; } }", "namespace x { int f() { return x::g; } }"),
        ("namespace a {}\n#define M(y) a::f(y)", "namespace x {}\n#define M(y) x::f(y)"),
        (
            "namespace a {}\n#if 0\nint v = a::f;\n#endif",
            "namespace x {}\n#if 0\nint v = x::f;\n#endif",
        ),
    ],
)
def test_is_renamed(before: str, after: str) -> None:
    assert renamed(before, "a=x")[0] == after


@pytest.mark.parametrize(
    "text",
    [
        "int a; int v = a + 1;",
        "struct S { int a; }; int v = s.a + p->a;",
        "int aa = 1, a_b = 2; namespace aab {}",
        "// a::f\n/* namespace a { */",
        'const char* s = "namespace a { a::f }";',
        'const char* s = R"(a::f)";',
        '#include <a/f.h>\n#include "a::f"',
        "int v = b::a::f;",
        "int v = T<int>::a::f;",
        "int v = s.a::f();",
    ],
)
def test_is_left_alone(text: str) -> None:
    assert renamed(text, "a=x", others=("namespace a {}",))[0] == text


def test_what_a_path_means_where_it_stands() -> None:
    text = """
    namespace a { namespace b { int f(); } int g() { return b::f(); } }
    namespace b { int f(); }
    namespace c { int h() { return b::f() + a::b::f(); } }
    """
    after, gaps = renamed(text, "a::b=a::n")
    assert after == textwrap.dedent(
        """
    namespace a { namespace n { int f(); } int g() { return n::f(); } }
    namespace b { int f(); }
    namespace c { int h() { return b::f() + a::n::f(); } }
    """
    )
    assert not gaps


def test_through_a_using_directive() -> None:
    text = "using namespace a;\nint v = b::f();\n"
    assert renamed(text, "a::b=a::n", others=("namespace a::b {}",))[0] == text.replace(
        "b::", "n::"
    )


def test_to_more_and_fewer_names() -> None:
    text = "namespace a { namespace b { } }\nint v = a::b::f + a::g;\n"
    after, _ = renamed(text, "a=x::y")
    assert after == "namespace x::y { namespace b { } }\nint v = x::y::b::f + x::y::g;\n"
    text = "namespace a::b { }\nint v = a::b::f;\n"
    assert renamed(text, "a::b=x")[0] == "namespace x { }\nint v = x::f;\n"


def test_out_of_what_is_around_it() -> None:
    text = "namespace a {\nint g;\nnamespace b {\nint f;\n}\nint h = b::f;\n}\n"
    after, gaps = renamed(text, "a::b=x::y")
    assert after == (
        "namespace a {\nint g;\n} namespace x::y {\nint f;\n} namespace a {\nint h = x::y::f;\n}\n"
    )
    assert not gaps


def test_what_cannot_be_moved_is_told() -> None:
    text = "namespace a {\nnamespace {\nnamespace b { int f; }\n}\n}\n"
    after, gaps = renamed(text, "a::b=x", others=("namespace a::b {}",))
    assert after == text
    text = "inline namespace a {\nnamespace b { int f; }\n}\n"
    after, gaps = renamed(text, "a::b=x")
    assert after == text and "cannot be moved" in gaps[0]


def test_branches_of_an_if_open_one_block() -> None:
    text = """
    #if defined(A)
    namespace a {
    #else
    namespace a { inline
    #endif
    namespace b { }
    }
    int v = a::b::f;
    """
    after, _ = renamed(text, "a=x")
    assert after == textwrap.dedent(text).replace(" a {", " x {").replace("= a::", "= x::")


def test_a_macro_that_names_a_namespace() -> None:
    text = "#define NS a\nnamespace NS { int f(); }\nint v = a::f();\n"
    after, gaps = renamed(text, "a=x::y")
    assert after == "#define NS x::y\nnamespace NS { int f(); }\nint v = x::y::f();\n"
    assert not gaps


def test_gaps() -> None:
    text = '#define CALL b::f()\n#define WORD a\nconst char* s = "a::f";\n'
    after, gaps = renamed(text, "a=x", "a::b=x::c", others=("namespace a::b {}",))
    assert after == text
    assert sorted(gaps) == [
        "a string names a: left as it is",
        "macro WORD stands for a: not renamed",
        "macro names b::f: not renamed, its scope is not known",
    ]


def test_again_changes_nothing() -> None:
    text = "namespace a { namespace b { } }\nint v = a::b::f;\n"
    once, _ = renamed(text, "a=x::y")
    assert renamed(once, "a=x::y")[0] == once


def test_not_ascii() -> None:
    text = 'namespace a {} // é\nconst char* s = "é"; int v = a::f; // é\n'
    assert renamed(text, "a=x")[0] == text.replace("a {", "x {").replace("a::", "x::")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ({"a": "1x"}, "names as a::b"),
        ({"a::": "x"}, "names as a::b"),
        ({"": "x"}, "names as a::b"),
        ({"a": "a::b"}, "a new name outside of a"),
        ({"a::b": "a"}, "a new name outside of a::b"),
        ({"a": "b", "b": "c"}, "a new name outside of b"),
    ],
)
def test_refused_names(names: dict[str, str], expected: str) -> None:
    with pytest.raises(PortError, match=expected):
        parse_names(names)


def test_a_namespace_that_is_none() -> None:
    with pytest.raises(
        PortError, match=r"one that the closure defines, got 'q'\n.*defined are: a, a::b"
    ):
        renamed("namespace a::b {}", "q=x")
