"""Arguments that a conversion takes apart: what view_of(x) puts into the struct it returns."""

from einkorn.port.conditions.expressions import Expr, with_name
from einkorn.port.conditions.parse import from_cpp
from einkorn.port.conditions.scope_names import Structs, cpp_scope
from einkorn.port.conditions.scope_values import substituted
from einkorn.port.contracts.lambdas import Lambda
from einkorn.port.cpp.index import Function, plain_symbol
from einkorn.port.sources.syntax import line_of, text_of, walk

_DEEPEST = 4  # conversions of conversions


class Views:
    """Conversions among the functions of a chain that return a struct made at once."""

    def __init__(self, functions: dict[str, list[Function]], structs: Structs) -> None:
        self._functions = functions
        self._structs = structs

    def seen_through(self, argument: Expr, lambdas: list[Lambda], depth: int = 0) -> Expr:
        """`view(x)` as {data = x.data_ptr(), rows = x.size(0)}; `argument` itself where unknown."""
        if depth > _DEEPEST or argument.op != "call" or argument.parts[0].op != "name":
            return argument
        word, given = argument.parts[0].word, argument.parts[1:]
        for one in lambdas:
            if one.name == word and one.returns is not None and len(given) == len(one.parameters):
                inner = _with_names(one.returns, one.parameters, given)
                return self.seen_through(inner, lambdas, depth + 1)
        for function in self._functions.get(plain_symbol(word).rsplit("::", 1)[-1], []):
            names = tuple(parameter.name for parameter in function.parameters)
            if len(names) == len(given) and (made := self._made_by(function)) is not None:
                return _with_names(made, names, given)
        return argument

    def _made_by(self, function: Function) -> Expr | None:
        """The fields of the struct that the function's only return makes, in its own names."""
        returns = list(walk(function.node, {"return_statement"}, frozenset({"lambda_expression"})))
        values = [one for one in returns[0].children if one.is_named] if len(returns) == 1 else []
        if len(values) != 1:
            return None
        kind, made = function.returns, values[0]
        if made.type == "compound_literal_expression":
            named, inner = made.child_by_field_name("type"), made.child_by_field_name("value")
            if named is None or inner is None:
                return None
            kind, made = text_of(named), inner
        fields = self._structs.fields_of(kind)
        listed = from_cpp(made)
        if listed.op != "list" or not fields:
            return None
        scope = cpp_scope(function, self._structs)
        parts = []
        for i, one in enumerate(listed.parts):
            word = one.word if one.op == "keyword" else fields[i] if i < len(fields) else ""
            value = one.parts[0] if one.op == "keyword" else one
            parts.append(Expr("keyword", (substituted(value, scope, line_of(returns[0])),), word))
        return Expr("list", tuple(parts))


def _with_names(expr: Expr, names: tuple[str, ...], values: tuple[Expr, ...]) -> Expr:
    for word, value in zip(names, values, strict=True):
        expr = with_name(expr, word, value)
    return expr
