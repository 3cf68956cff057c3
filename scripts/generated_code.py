"""What the generators of the Python package share: an op's arguments, and the text of values and
expressions."""

import ast
import json

#: Of scalars, by kind.
_TYPES = {"bool": "bool", "int": "int", "number": "float", "one of": "str"}


class Arguments:
    """An op's arguments as `einkorn list --json` has them, by role."""

    def __init__(self, op: dict) -> None:
        self.op: str = op["op"]
        every = op["arguments"]
        self.inputs = [one for one in every if one["kind"] in ("input", "inout")]
        self.inouts = [one for one in every if one["kind"] == "inout"]
        self.outputs = [one for one in every if one["kind"] == "output"]
        self.scalars = [one for one in every if one["kind"] in _TYPES]
        known = set(names(self.inputs))
        for one in self.outputs:
            like = one["like"]
            if like is None:
                continue
            used = identifiers(like["tensor"]) | identifiers(like["shape"] or "()")
            if unknown := used - known:
                raise SystemExit(f"{self.op}: {one['name']}: Like names {sorted(unknown)}")


def names(arguments: list[dict]) -> list[str]:
    return [one["name"] for one in arguments]


def scalar_type(argument: dict) -> str:
    return _TYPES[argument["kind"]]


def literal(argument: dict) -> str:
    """The default of a scalar as Python writes it."""
    kind, value = argument["kind"], argument["default"]
    if kind == "bool":
        return "True" if value == "true" else "False"
    if kind == "number":
        return repr(float(value))
    return value if kind == "int" else json.dumps(value)


def group(parts: list[str]) -> str:
    """A tuple of expressions."""
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def identifiers(expression: str) -> set[str]:
    return {one.id for one in ast.walk(ast.parse(expression)) if isinstance(one, ast.Name)}


def models_of(output: dict) -> tuple[str, ...]:
    """The inputs that it may be like; none: only the caller makes it."""
    return () if output["like"] is None else tuple(sorted(identifiers(output["like"]["tensor"])))


def operand(expression: str) -> str:
    """The expression as part of another: in parentheses where it needs them."""
    body = ast.parse(expression, mode="eval").body
    whole = isinstance(body, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.Tuple)
    return expression if whole else f"({expression})"
