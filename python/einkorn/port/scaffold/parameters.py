"""The sizes that pytest.mark.parametrize gives a test, read and not run."""

import ast
import re

Constants = dict[str, object]

_MOST_CASES = 12  # of one test: a full product of parameters has hundreds


def parameters_of(text: str, module: str = "") -> list[dict[str, int]]:
    """The values of one or several pytest.mark.parametrize, as written, that are integers: one
    dict for each set that is given together. `module` is the text of the test's file, for the
    constants that it names. What is no literal is left out; nothing is guessed.
    """
    groups: list[list[dict[str, int]]] = []
    for names, values in _parametrized(text, _constants(module)):
        group = []
        for one in values:
            row = one if len(names) > 1 and isinstance(one, tuple | list) else (one,)
            if len(row) != len(names):
                continue
            sizes = {
                name: int(value)
                for name, value in zip(names, row, strict=True)
                if isinstance(value, int) and not isinstance(value, bool) and value >= 0
            }
            if sizes:
                group.append(sizes)
        if group:
            groups.append(group)
    if not groups:
        return []
    # Each value once, rather than each pair: the longest list sets the pace.
    count = max(len(group) for group in groups)
    out: list[dict[str, int]] = []
    for i in range(min(count, _MOST_CASES)):
        merged: dict[str, int] = {}
        for group in groups:
            merged.update(group[i % len(group)])
        if merged not in out:
            out.append(merged)
    return out


def _parametrized(text: str, known: Constants) -> list[tuple[list[str], list[object]]]:
    out = []
    for part in _calls(text):
        arguments = [_literal(one, known) for one in part.args[:2]]
        if len(arguments) != 2:
            continue
        names, values = arguments
        if isinstance(names, str):
            names = [one.strip() for one in names.split(",") if one.strip()]
        if isinstance(names, list | tuple) and isinstance(values, list | tuple):
            out.append(([str(one) for one in names], list(values)))
    return out


def _constants(module: str) -> Constants:
    """What a module's own assignments of literals say."""
    known: Constants = {}
    try:
        body = ast.parse(module).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return known
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            known[node.targets[0].id] = _literal(node.value, known)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            known[node.target.id] = _literal(node.value, known)
    return known


def _calls(text: str) -> list[ast.Call]:
    """Calls that hold the arguments: of decorators, or of bare argument lists, as a survey has."""
    for form in (f"f({text})", text):
        if found := _parsed(form):
            return found
    pieces = [one for one in re.split(r"\s*[;\n]\s*", text) if one]
    return [call for one in pieces if len(pieces) > 1 for call in _calls(one)]


def _parsed(text: str) -> list[ast.Call]:
    try:
        body = ast.parse(re.sub(r"^\s*@", "", text), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    if isinstance(body, ast.Call):
        inner = [one for one in body.args if isinstance(one, ast.Call)]
        return inner if inner and len(inner) == len(body.args) else [body]
    if isinstance(body, ast.Tuple | ast.List):
        return [one for one in body.elts if isinstance(one, ast.Call)]
    return []


def _literal(node: ast.expr, known: Constants) -> object:
    """Its value; lists keep those of their elements that are literals, others become None."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.List | ast.Tuple):
        return [_literal(one, known) for one in node.elts]
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute | ast.Name)
        and (node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id) == "param"
    ):
        values = [_literal(one, known) for one in node.args]
        return values if len(values) != 1 else values[0]
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return _arithmetic(node, known)


def _arithmetic(node: ast.expr, known: Constants) -> object:
    """Powers, shifts and products of literals, which is how tests write sizes."""
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _literal(node.left, known), _literal(node.right, known)
    if not isinstance(left, int) or not isinstance(right, int):
        return None
    if isinstance(node.op, ast.Mult):
        return left * right
    if isinstance(node.op, ast.Add):
        return left + right
    if isinstance(node.op, ast.Sub):
        return left - right
    if isinstance(node.op, ast.LShift | ast.Pow) and 0 <= right < 64 and abs(left) < 1 << 20:
        return left << right if isinstance(node.op, ast.LShift) else left**right
    return None
