import sys

import pytest
from einkorn.port.errors import PortError
from einkorn.port.sources import syntax

CODE = "int f() { return g(1 + h(2)); }\nint x = g(3);\n"
CALLS = frozenset(("call_expression", "identifier"))


def test_walk_is_in_the_order_of_the_text_and_stops():
    root = syntax.parse_cpp(CODE)
    calls = [syntax.text_of(one) for one in syntax.walk(root, {"call_expression"})]
    assert calls == ["g(1 + h(2))", "h(2)", "g(3)"]
    outer = syntax.walk(root, {"call_expression"}, {"call_expression"})
    assert [syntax.text_of(one) for one in outer] == ["g(1 + h(2))", "g(3)"]


def test_walk_and_find_take_deep_trees():
    root = syntax.parse_cpp("int x = " + "(" * 5000 + "1" + ")" * 5000 + ";")
    assert len(list(syntax.walk(root, {"parenthesized_expression"}))) > 4000


def test_find_is_walk():
    root = syntax.parse_cpp(CODE * 20)
    assert syntax.find_cpp(root, CALLS) == list(syntax.walk(root, set(CALLS)))
    inner = next(syntax.walk(root, {"compound_statement"}))
    assert syntax.find_cpp(inner, CALLS) == list(syntax.walk(inner, set(CALLS)))


def test_text_of_collapses_white_space_and_leaves_comments_out():
    root = syntax.parse_cpp("f(a, // why\n   b /* and */,\\\n c);")
    call = next(syntax.walk(root, {"call_expression"}))
    assert syntax.text_of(call) == "f(a, b , c)"
    assert syntax.line_of(call) == 1


def test_python_is_parsed():
    root = syntax.parse_python("@d\ndef f(x): return x\n")
    assert [one.type for one in syntax.walk(root, {"function_definition"})]


@pytest.mark.parametrize("text", ["", "}}}((", "\x00", "é" * 100, "#if\n#define\n"])
def test_odd_texts_are_parsed(text):
    assert syntax.parse_cpp(text).type == "translation_unit"


def test_missing_parsers_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "tree_sitter_cuda", None)
    syntax._parser.cache_clear()
    with pytest.raises(PortError, match=r"pip install 'einkorn\[port\]'"):
        syntax.parse_cpp("int x;")
    syntax._parser.cache_clear()
