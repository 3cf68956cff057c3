"""Conditions of C++ and Python as trees."""

import pytest
from einkorn.port.conditions.expressions import applied, conjuncts, negate, render
from einkorn.port.conditions.parse import of_text


@pytest.mark.parametrize(
    ("text", "opposite"),
    [
        ("x.shape[-1] % 4 == 0 && y.has_value()", "x.shape[-1] % 4 != 0 || !y.has_value()"),
        ("!(a < b) || c", "a < b && !c"),
        ("p->d >= 8", "p.d < 8"),
        ("ready", "!ready"),
    ],
)
def test_negation_in_cpp(text, opposite):
    assert render(negate(of_text(text))) == opposite


@pytest.mark.parametrize(
    ("text", "opposite"),
    [
        ("x.dim() != 2 or x.dtype not in (a, b)", "x.dim() == 2 and x.dtype in (a, b)"),
        ("1 <= n < 3", "1 > n or n >= 3"),
        ("w is not None", "w is None"),
        ("not x", "x"),
    ],
)
def test_negation_in_python(text, opposite):
    assert render(negate(of_text(text, python=True)), python=True) == opposite


@pytest.mark.parametrize(
    "text",
    ["(a + b) * c", "a - (b - c)", "f<int, 4>(x)[0].y", "a ? b : c", "-x", "*p", "!(a && b)"],
)
def test_rendering_keeps_the_meaning(text):
    assert render(of_text(text)) == text


def test_conjuncts():
    assert [str(one) for one in conjuncts(of_text("a && (b || c) && d == 1"))] == [
        "a",
        "b || c",
        "d == 1",
    ]


def test_a_lambda_is_applied_to_what_it_checks():
    text = "check(x, [](const Tensor& t) { return t.dim() == 2; })"
    assert str(applied(of_text(text))) == "x.dim() == 2"


def test_odd_text_stays_text():
    assert str(of_text("a @ b $")) != ""
