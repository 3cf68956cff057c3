"""Named lambdas of a function that stand between its caller's arguments and what they reach."""

import dataclasses

from einkorn.port.conditions.expressions import Expr
from einkorn.port.conditions.parse import from_cpp, of_text
from einkorn.port.cpp.index import Call, CppIndex, Function
from einkorn.port.sources.syntax import text_of, walk

# A lambda that is called more often converts every argument; its checks are about none of them.
_MOST_CALLS = 8
_BODY = frozenset({"compound_statement"})


@dataclasses.dataclass(frozen=True)
class Lambda:
    """A lambda with a name, such as one that converts each argument."""

    name: str
    lines: range
    parameters: tuple[str, ...]
    calls: tuple[Call, ...]
    returns: Expr | None  # the value, where it does nothing but return one


def lambdas_of(function: Function, index: CppIndex) -> list[Lambda]:
    """The lambdas that a function names and calls itself."""
    found = []
    for node in walk(function.node, {"init_declarator"}):
        declarator, value = (node.child_by_field_name(one) for one in ("declarator", "value"))
        if declarator is None or value is None or value.type != "lambda_expression":
            continue
        parameters = tuple(
            text_of(one)
            for parameter in walk(value, {"parameter_declaration"}, _BODY)
            for one in list(walk(parameter, {"identifier"}))[-1:]
        )
        calls = tuple(one for one in index.calls(function) if one.callee == text_of(declarator))
        value_of = from_cpp(value)
        returns = value_of.parts[0] if value_of.op == "lambda" else None
        lines = range(value.start_point[0] + 1, value.end_point[0] + 2)
        if parameters and 0 < len(calls) <= _MOST_CALLS:
            found.append(Lambda(text_of(declarator), lines, parameters, calls, returns))
    return found


def in_lambda(lambdas: list[Lambda], call: Call) -> list[tuple[Expr, ...]]:
    """The arguments of a call; in a lambda, once for each call of that, with what it is given."""
    written = tuple(of_text(one) for one in call.arguments)
    for one in lambdas:
        if call.line in one.lines and call not in one.calls:
            return [
                tuple(
                    given.get(argument.word, argument) if argument.op == "name" else argument
                    for argument in written
                )
                for outer in one.calls
                for given in [
                    {
                        word: of_text(text)
                        for word, text in zip(one.parameters, outer.arguments, strict=False)
                    }
                ]
            ]
    return [written]
