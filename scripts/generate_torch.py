"""The texts of python/einkorn/torch/_kernels/ for scripts/generate_python.py: a module for each op,
and what collects them.

A form of an op is a PyTorch operator that returns certain outputs: those that every call has, and
of the others a chosen few, which end its name: rms_norm, rms_norm_rstd, rms_norm_residual_out_rstd,
silu_mul_bwd_dpacked. One more, rms_norm_out, writes to tensors of the caller. They are not
overloads of one name: choosing among overloads takes PyTorch 3 us a call, and 2.15 aborts at exit
when it takes back some that differ in their results alone.
"""

import ast
import itertools
import json

from generated_code import Arguments, group, literal, models_of, names, operand, scalar_type

WRITTEN = "Written by scripts/generate_python.py from the ops' declarations: do not edit."

INIT_HEAD = f'''"""The forms of each op: what PyTorch's dispatcher calls, a module for each op.

`_<form>` runs a form on tensors with memory. `_<form>_autograd` is what a call from outside meets:
where nothing but CPU or CUDA is involved and no gradient is asked for, it runs the form at once;
the rest goes by _autograd.py. `_fake_<form>` is for tensors without memory, fake or meta,
and goes by _fakes.py.

{WRITTEN}
"""

from .._forms import Form
'''

# What a module may import, as an import sorter has it: from where, and the names.
_IMPORTS = [
    ("...", ("ops",)),
    ("..._dispatch", ("missing",)),
    (".._allocation", ("CONTIGUOUS", "PLAIN", "empty_like", "f32_plus", "shaped")),
    (".._autograd", ("increment_version", "through", "through_out")),
    (".._fakes", ("fake", "fake_out")),
    (".._forms", ("Form",)),
]
_GIVEN = {"torch", "Tensor", "forward_ad", "is_grad_enabled"}
# What an op's argument must not hide.
_TAKEN = _GIVEN | {name for _, imported in _IMPORTS for name in imported} | {"keyset", "shape"}

# An output's dtype by what its rule names; Like of include/einkorn/signature.h.
_DTYPES = {"f32": "torch.float32", "f32+": "f32_plus({model})"}

_KEYSET = "keyset: torch.DispatchKeySet"
_MAX_CHOSEN = 4


class _Ways:
    """Which outputs a call of an op may have, by the inputs that it has: one way for each of the
    alternatives, or one for all calls."""

    def __init__(self, arguments: Arguments) -> None:
        self.inputs, self.outputs = arguments.inputs, arguments.outputs
        numbers = {one["alternative"] for one in self.inputs} - {None}
        ways = [self._way(number) for number in sorted(numbers) or [None]]
        for _, chosen in ways:
            if len(chosen) > _MAX_CHOSEN:
                raise SystemExit(
                    f"{arguments.op}: more than {_MAX_CHOSEN} optional outputs make too many forms"
                )
        #: Names of the outputs that every call has.
        self.always = set.intersection(*(always for always, _ in ways))
        #: Those that each form returns, in the op's order.
        self.forms = list(dict.fromkeys(form for way in ways for form in self._forms(*way)))

    def _way(self, number: int | None) -> tuple[set[str], list[str]]:
        """Outputs that each of its calls has, and those that some have."""
        of_way = [one for one in self.inputs if one["alternative"] in (None, number)]
        possible = set(names(of_way))
        sure = {
            one["name"] for one in of_way if not one["optional"] or one["alternative"] is not None
        }
        always, chosen = set(), []
        for one in self.outputs:
            models = possible.intersection(models_of(one))
            if models and not one["optional"] and models & sure:
                always.add(one["name"])
            elif models:
                chosen.append(one["name"])
        return always, chosen

    def _forms(self, always: set[str], chosen: list[str]) -> list[tuple[str, ...]]:
        return [
            tuple(name for name in names(self.outputs) if name in always.union(some))
            for count in range(len(chosen) + 1)
            for some in itertools.combinations(chosen, count)
            if always or some
        ]


class TorchOp:
    """One op's module."""

    def __init__(self, op: dict) -> None:
        arguments = Arguments(op)
        self.name = arguments.op
        self.inputs, self.outputs = arguments.inputs, arguments.outputs
        self.inouts, self.scalars = arguments.inouts, arguments.scalars
        tensors = self.inputs + self.outputs
        if hidden := _TAKEN.intersection(names(tensors + self.scalars)):
            raise SystemExit(f"{self.name}: {sorted(hidden)}: names of the generated code")
        ways = _Ways(arguments)
        #: Names of the arguments that may be None.
        self.lacking = {one["name"] for one in self.inputs if one["optional"]}
        self.lacking |= set(names(self.outputs)) - ways.always
        #: The outputs that each form returns, by what the form's name ends in.
        self.forms = {
            "".join(f"_{name}" for name in form if name in self.lacking): [
                one for one in self.outputs if one["name"] in form
            ]
            for form in ways.forms
        }

    def schema(self, returns: list[dict] | None) -> str:
        """As Python has it, a line an argument. `returns`: None for the form that writes to given
        tensors."""
        letters = iter("abcdefgh")
        parts = [
            self._declared(f"Tensor({next(letters)}!)" if one in self.inouts else "Tensor", one)
            for one in self.inputs
        ]
        parts.append("*")
        if returns is None:
            parts += [self._declared(f"Tensor({next(letters)}!)", one) for one in self.outputs]
        parts += [f"{scalar_type(one)} {one['name']}={literal(one)}" for one in self.scalars]
        parts.append("str? variant=None")
        count = len(returns or ())
        result = "Tensor" if count == 1 else f"({', '.join(['Tensor'] * count)})"
        lines = [f"{part}, " for part in parts[:-1]] + [f"{parts[-1]}) -> {result}"]
        return "(" + "\n".join(repr(line) for line in ["(" + lines[0], *lines[1:]]) + ")"

    def _declared(self, kind: str, tensor: dict) -> str:
        name = tensor["name"]
        return f"{kind}? {name}=None" if name in self.lacking else f"{kind} {name}"

    def parameters(
        self, returns: list[dict] | None, *, first: str = "", scalars: bool = True
    ) -> str:
        def typed(tensor: dict) -> str:
            lacking = " | None = None" if tensor["name"] in self.lacking else ""
            return f"{tensor['name']}: Tensor{lacking}"

        parts = [first] if first else []
        parts += map(typed, self.inputs)
        if returns is None:
            # The dispatcher names them; a required one may follow an optional input only so.
            parts += ["*", *map(typed, self.outputs)]
        if scalars:
            parts += [f"{one['name']}: {scalar_type(one)} = {literal(one)}" for one in self.scalars]
            parts.append("variant: str | None = None")
        else:
            parts.append("**_: object")
        count = len(returns or ())
        result = {0: "None", 1: "Tensor"}.get(count, f"tuple[{', '.join(['Tensor'] * count)}]")
        return f"({', '.join(parts)}) -> {result}:\n"

    def allocation(self, output: dict) -> str:
        name, like = output["name"], output["like"]
        model, shape, dtype = like["tensor"], like["shape"], like["dtype"]
        text = ""
        if not self.lacking.isdisjoint(models_of(output)):
            text = f'    if {operand(model)} is None:\n        raise missing(_op, "{name}")\n'
        if dtype:
            shape = shape or f"{operand(model)}.shape"
            rule = _DTYPES[dtype].format(model=model)
            made = f"{operand(model)}.new_empty({shape}, dtype={rule})"
        elif not shape:
            made = f"empty_like({model}, memory_format=CONTIGUOUS)"
        else:
            # A model without dimensions, which the contract refuses in words.
            text += (
                f"    try:\n        shape = {shape}\n    except IndexError:\n        shape = ()\n"
            )
            made = f"shaped({model}, shape)"
        return text + f"    {name} = {made}\n"

    def run(self, returns: list[dict] | None) -> str:
        """The library's call, after the outputs that nobody gave are made."""
        made = self.outputs if returns is None else returns
        text = "".join(self.allocation(one) for one in returns or ())
        given = [one["name"] if one in made else "None" for one in self.outputs]
        values = [*names(self.inputs), *given, *names(self.scalars), "variant"]
        # Op.torch_function is a property, which takes 0.1 us.
        return text + f"    (_op._torch_function or _op.torch_function)({', '.join(values)})\n"

    def kernel(self, suffix: str, returns: list[dict] | None) -> str:
        text = f"def _{self.name}{suffix}{self.parameters(returns)}{self.run(returns)}"
        return text + self.result(returns)

    def result(self, returns: list[dict] | None) -> str:
        return f"    return {', '.join(names(returns))}\n" if returns else ""

    def autograd(self, suffix: str, returns: list[dict] | None) -> str:
        # The kernel once more rather than a call of it, which takes 0.4 us.
        form, inputs = self.form_name(suffix), group(names(self.inputs))
        keywords = self.keywords([*names(self.scalars), "variant"])
        text = (
            f"def _{self.name}{suffix}_autograd{self.parameters(returns, first=_KEYSET)}"
            f"{self.is_not_plain(self.inputs + (self.outputs if returns is None else []))}"
        )
        if returns is not None:
            text += f"        return through({form}, keyset, {inputs}, {keywords})\n"
            text += self.run(returns)
            if self.inouts:
                text += f"    increment_version({group(names(self.inouts))})\n"
            return text + self.result(returns)
        outputs = self.keywords(names(self.outputs))
        written = group(names(self.outputs + self.inouts))
        if not self.lacking.isdisjoint(names(self.outputs)):
            written = f"[one for one in {written} if one is not None]"
        return (
            f"{text}        through_out({form}, keyset, {inputs}, {outputs}, {keywords})\n"
            f"        return\n{self.run(None)}    increment_version({written})\n"
        )

    def keywords(self, given: list[str]) -> str:
        return "{" + ", ".join(f'"{name}": {name}' for name in given) + "}"

    def is_not_plain(self, tensors: list[dict]) -> str:
        needs_grad = " or ".join(
            f"({name} is not None and {name}.requires_grad)"
            if name in self.lacking
            else f"{name}.requires_grad"
            for name in names(tensors)
        )
        return (
            "    if (keyset.raw_repr() not in PLAIN or forward_ad._current_level >= 0 or ("
            f"is_grad_enabled() and ({needs_grad}))):\n"
        )

    def fake(self, suffix: str, returns: list[dict] | None) -> str:
        form, inputs = self.form_name(suffix), names(self.inputs)
        text = f"def _fake_{self.name}{suffix}{self.parameters(returns, scalars=False)}"
        if returns is not None:
            return f"{text}    return fake({form}, {', '.join(inputs)})\n"
        return f"{text}    fake_out({form}, {group(inputs)}, {group(names(self.outputs))})\n"

    def form_name(self, suffix: str) -> str:
        return f"{self.name}{suffix}_form".upper()

    def form(self, suffix: str, returns: list[dict] | None) -> str:
        return (
            f"{self.form_name(suffix)} = Form(\n"
            f"_op,\n"
            f'name="{self.name}{suffix}",\n'
            f"returns={tuple(names(returns or []))!r},\n"
            f"schema={self.schema(returns)},\n"
            f"kernel=_{self.name}{suffix},\n"
            f"autograd=_{self.name}{suffix}_autograd,\n"
            f"fake=_fake_{self.name}{suffix},\n"
            ")\n\n"
        )

    def text(self) -> str:
        forms = [*self.forms.items(), ("_out", None)]
        body = f"_op = ops.TABLE[{json.dumps(self.name)}]\n\n"
        for suffix, returns in forms:
            body += self.kernel(suffix, returns) + "\n" + self.autograd(suffix, returns) + "\n"
            body += self.fake(suffix, returns) + "\n"
        body += "".join(self.form(suffix, returns) for suffix, returns in forms)
        listed = group([self.form_name(suffix) for suffix, _ in forms])
        body += f"FORMS: tuple[Form, ...] = {listed}\n"
        return _head(self.name, body) + body


def _head(op: str, body: str) -> str:
    """Docstring and imports, of which only those that the body needs."""
    used = {one.id for one in ast.walk(ast.parse(body)) if isinstance(one, ast.Name)}
    text = f'"""The forms of {op}.\n\n{WRITTEN}\n"""\n\n'
    # union-attr: whether an input may be None is the checks' business, which it does not follow.
    text += '# mypy: disable-error-code="union-attr"\n\n'
    text += "import torch\nfrom torch import Tensor, is_grad_enabled\n"
    text += "from torch.autograd import forward_ad\n\n"
    for module, imported in _IMPORTS:
        if wanted := [name for name in imported if name in used]:
            text += f"from {module} import {', '.join(wanted)}\n"
    return text + "\n"


def texts(ops: list[dict]) -> dict[str, str]:
    """By the names of files."""
    made = [TorchOp(op) for op in ops]
    forms = [f"{op.name}{suffix}" for op in made for suffix in (*op.forms, "_out")]
    if twice := {name for name in forms if forms.count(name) > 1}:
        raise SystemExit(f"forms of the same name: {sorted(twice)}")
    modules = sorted(op.name for op in made)
    init = INIT_HEAD + f"from . import {', '.join(modules)}\n\n"
    collected = group([f"*{op.name}.FORMS" for op in made])
    init += f"#: Every form of every op.\nFORMS: tuple[Form, ...] = {collected}\n"
    return {"__init__.py": init, **{f"{op.name}.py": op.text() for op in made}}
