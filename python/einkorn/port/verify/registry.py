"""Whether an op is registered in full: schema, implementation, fake, annotated writes, an explicit
function, and imports that cost nothing.

Read from the sources of the package, so that neither torch nor the built library is needed.
"""

import ast
import dataclasses
import functools
import re
import sys
from collections.abc import Callable, Iterator

from einkorn.port.verify.model import Declared, Finding, OpFolder, Tree

_PACKAGE = "python/einkorn"
_OPS = f"{_PACKAGE}/ops.py"
_TORCH = f"{_PACKAGE}/torch"

_Finding = Callable[..., Finding]


@dataclasses.dataclass(frozen=True)
class Form:
    """One `Form(...)` of the PyTorch binding."""

    op: str
    name: str
    returns: tuple[str, ...]
    schema: str
    kernel: str
    fake: str
    file: str
    line: int


@dataclasses.dataclass(frozen=True)
class Binding:
    """What the files of the binding define."""

    forms: tuple[Form, ...]
    functions: frozenset[str]
    files: tuple[str, ...]


def _files(tree: Tree, name: str) -> list[str]:
    """One generated file, or a folder of them, one an op."""
    single = [f"{_TORCH}/{name}.py"] if tree.has(f"{_TORCH}/{name}.py") else []
    return single + tree.files(f"{_TORCH}/{name}", ".py")


@functools.cache
def binding(tree: Tree) -> Binding:
    forms: list[Form] = []
    functions: set[str] = set()
    files = _files(tree, "_kernels") + _files(tree, "_fakes")
    for file in files:
        module = _parsed(tree, file)
        tables: dict[str, str] = {}  # `_x_op = _ops.TABLE["x"]`
        for node in module.body:
            if isinstance(node, ast.FunctionDef):
                functions.add(node.name)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript):
                key = node.value.slice
                if isinstance(key, ast.Constant) and isinstance(node.targets[0], ast.Name):
                    tables[node.targets[0].id] = str(key.value)
        for call in ast.walk(module):
            if isinstance(call, ast.Call) and _last(call.func) == "Form":
                forms.append(_form(call, tables, file))
    return Binding(tuple(forms), frozenset(functions), tuple(files))


def _form(call: ast.Call, tables: dict[str, str], file: str) -> Form:
    given = {one.arg: one.value for one in call.keywords}
    owner = call.args[0] if call.args else given.get("op")
    op = tables.get(_last(owner), _last(owner).strip("_").removesuffix("_op"))
    if isinstance(owner, ast.Subscript) and isinstance(owner.slice, ast.Constant):
        op = str(owner.slice.value)
    return Form(
        op,
        str(_constant(given.get("name")) or ""),
        _texts(given.get("returns")),
        str(_constant(given.get("schema")) or ""),
        _last(given.get("kernel")),
        _last(given.get("fake")),
        file,
        call.lineno,
    )


def _constant(node: ast.expr | None) -> object:
    try:
        return ast.literal_eval(node) if node is not None else None
    except (ValueError, TypeError):
        return None


def _texts(node: ast.expr | None) -> tuple[str, ...]:
    value = _constant(node)
    return tuple(str(one) for one in value) if isinstance(value, tuple | list) else ()


def _last(node: ast.expr | None) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _parsed(tree: Tree, file: str) -> ast.Module:
    try:
        return ast.parse(tree.text(file))
    except (SyntaxError, ValueError):
        return ast.Module([], [])  # the lint tells of files that do not parse


def registry_findings(tree: Tree, op: OpFolder) -> Iterator[Finding]:
    def finding(file: str, message: str, line: int = 0) -> Finding:
        return Finding(op.op, "registry", file, line, message)

    declared = tree.declared(op)
    if not tree.type_of(op):
        yield finding(f"{op.path}/contract.h", f'no struct has kName = "{op.op}"')
    if not declared:
        yield finding(f"{op.path}/contract.h", "its arguments() declares nothing")
    yield from _implementation(tree, op, finding)
    yield from _forms(tree, op, declared, finding)
    yield from _wrapper(tree, op, declared, finding)


def _implementation(tree: Tree, op: OpFolder, finding: _Finding) -> Iterator[Finding]:
    kind = tree.type_of(op)
    source = tree.text(f"{op.path}/contract.cc")
    if f"make_op<{kind}>" not in source:
        yield finding(f"{op.path}/contract.cc", f"no implementation: expected make_op<{kind}>")
    if f"void {kind}::reference(" not in "".join(
        tree.text(file) for file in tree.files(op.path, ".cc")
    ):
        yield finding(f"{op.path}/reference.cc", f"no reference: expected {kind}::reference")
    listed = tree.text(f"{op.path}/variants.inc")
    if not re.search(rf"^EK_OP\({op.op}\)", listed, re.M):
        yield finding(f"{op.path}/variants.inc", f"not listed: expected EK_OP({op.op})")
    if f'#include "{op.path}/variants.inc"' not in tree.text("ops/variants.inc"):
        yield finding("ops/variants.inc", f"does not include {op.path}/variants.inc")


def _forms(
    tree: Tree, op: OpFolder, declared: tuple[Declared, ...], finding: _Finding
) -> Iterator[Finding]:
    bound = binding(tree)
    own = [one for one in bound.forms if one.op == op.op]
    where = bound.files[0] if bound.files else f"{_TORCH}/_kernels.py"
    if not own:
        yield finding(where, "no schema: no Form of the PyTorch binding is its")
        return
    if not any(not one.returns for one in own):
        yield finding(where, "no form writes to given tensors")
    outputs = [one.name for one in declared if one.role == "output"]
    for form in own:
        if not form.schema:
            yield finding(form.file, f"{form.name}: no schema", form.line)
        if form.kernel not in bound.functions:
            got = form.kernel or "none"
            yield finding(form.file, f"{form.name}: no implementation {got}", form.line)
        fake = f"_fake_{form.name}"
        if form.fake != fake or fake not in bound.functions:
            yield finding(form.file, f"{form.name}: expected the fake {fake}", form.line)
        yield from _schema(form, declared, outputs, finding)


def _schema(
    form: Form, declared: tuple[Declared, ...], outputs: list[str], finding: _Finding
) -> Iterator[Finding]:
    """Arguments as the contract declares them, and `Tensor(a!)` for what is written, each of its
    own, and for nothing else."""
    arguments = re.findall(r"(\w+(?:\((\w+)!\))?\??) (\w+)(?:=|,|\))", form.schema)
    names = [name for _, _, name in arguments]
    written = {name: alias for _, alias, name in arguments if alias}
    wanted = {one.name for one in declared if one.role == "inout"}
    wanted |= set(outputs) if not form.returns else set()
    for name in sorted(wanted - set(written)):
        yield finding(form.file, f"{form.name}: {name} is written: expected Tensor(a!)", form.line)
    for name in sorted(set(written) - wanted):
        yield finding(form.file, f"{form.name}: {name} is annotated, but not written", form.line)
    if len(set(written.values())) < len(written):
        yield finding(form.file, f"{form.name}: outputs share an annotation", form.line)
    for one in declared:
        if one.role != "output" and one.name not in names:
            yield finding(form.file, f"{form.name}: its schema has no {one.name}", form.line)


def _wrapper(
    tree: Tree, op: OpFolder, declared: tuple[Declared, ...], finding: _Finding
) -> Iterator[Finding]:
    """A function of einkorn.ops that spells out its arguments."""
    module = _parsed(tree, _OPS)
    functions = [n for n in module.body if isinstance(n, ast.FunctionDef) and n.name == op.op]
    if not functions:
        yield finding(_OPS, f"no explicit function {op.op}")
        return
    function = functions[0]
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    if given.vararg is not None or given.kwarg is not None:
        yield finding(_OPS, "its arguments are hidden behind * or **", function.lineno)
    if not ast.get_docstring(function):
        yield finding(_OPS, "it is not documented", function.lineno)
    outputs = [one.name for one in declared if one.role == "output"]
    for one in declared:
        named = one.name in names or (outputs[:1] == [one.name] and "out" in names)
        if not named:
            yield finding(_OPS, f"it has no argument {one.name}", function.lineno)
    exported = ast.dump(ast.Module([n for n in module.body if _assigns(n, "__all__")], []))
    if f"'{op.op}'" not in exported:
        yield finding(_OPS, "it is not in __all__", function.lineno)


def _assigns(node: ast.stmt, name: str) -> bool:
    return isinstance(node, ast.Assign) and any(_last(one) == name for one in node.targets)


def import_findings(tree: Tree) -> Iterator[Finding]:
    """What `import einkorn.ops` brings in beside the standard library."""
    pending, seen = [f"{_PACKAGE}/__init__.py", _OPS], set()
    while pending:
        file = pending.pop()
        if file in seen or not tree.has(file):
            continue
        seen.add(file)
        for node in _at_import(_parsed(tree, file).body):
            modules = (
                [one.name for one in node.names] if isinstance(node, ast.Import) else [node.module]
            )
            if isinstance(node, ast.ImportFrom) and node.level:
                pending += _relative(file, node)
                continue
            for name in modules:
                top = (name or "").split(".")[0]
                if top == "einkorn":
                    pending.append(f"python/{(name or '').replace('.', '/')}.py")
                elif top not in sys.stdlib_module_names:
                    message = f"importing einkorn.ops imports {name}: expected the standard library"
                    yield Finding("einkorn", "registry", file, node.lineno, message)


def _at_import(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports that run when the module is imported."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If):
            if _last(node.test) != "TYPE_CHECKING":
                yield from _at_import(node.body)
            yield from _at_import(node.orelse)
        elif isinstance(node, ast.Try):
            for part in (node.body, node.orelse, node.finalbody):
                yield from _at_import(part)
        elif isinstance(node, ast.ClassDef | ast.With):
            yield from _at_import(node.body)


def _relative(file: str, node: ast.ImportFrom) -> list[str]:
    folder = file.split("/")[: -node.level]
    base = "/".join([*folder, *(node.module or "").split(".")]).rstrip("/")
    names = [f"{base}/{one.name}.py" for one in node.names]
    return [f"{base}.py", f"{base}/__init__.py", *names]
