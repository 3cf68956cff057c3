"""The texts of python/einkorn/torch/_kernels.py and _fakes.py for scripts/generate_python.py.

A form of an op is a PyTorch operator that returns certain outputs: the required ones always, and of
the others (optional, or like a tensor that may be left out) a chosen few, which end its name:
rms_norm, rms_norm_rstd, rms_norm_residual_out_rstd. One more, rms_norm_out, writes to tensors of
the caller. They are not overloads of one name: choosing among overloads takes PyTorch 3 us a
call, and 2.15 aborts at exit when it takes back some that differ in their results alone.
"""

import ast
import itertools
import json

KERNELS_HEAD = '''"""The kernels of each form of each op, as PyTorch's dispatcher calls them.

`_<form>` runs a form on tensors with memory. `_<form>_autograd` is what a call from outside meets:
where nothing but CPU or CUDA is involved and no gradient is asked for, it runs the form at once;
the rest goes by _autograd.py.

Written by scripts/generate_python.py from the ops' declarations: do not edit.
"""

# Whether an input may be None is the checks' business, which a type checker does not follow.
# mypy: disable-error-code="union-attr"

import torch
from torch import Tensor
from torch.autograd import forward_ad as _forward

from .. import ops as _ops
from . import _fakes
from ._allocation import (
    PLAIN as _PLAIN,
)
from ._allocation import (
    f32_plus as _f32_plus,
)
from ._allocation import (
    missing as _missing,
)
from ._allocation import (
    shaped as _shaped,
)
from ._autograd import through as _through
from ._autograd import through_out as _through_out
from ._forms import Form

_CONTIGUOUS = torch.contiguous_format
_empty_like = torch.empty_like
_increment_version = torch._C._increment_version
_is_grad_enabled = torch.is_grad_enabled

'''

FAKES_HEAD = '''"""What each form of each op gives back for tensors without memory, fake or meta.

Written by scripts/generate_python.py from the ops' declarations: do not edit.
"""

# Whether an input may be None is the checks' business, which a type checker does not follow.
# mypy: disable-error-code="union-attr"

from torch import Tensor

from ._allocation import f32_plus as _f32_plus
from ._allocation import like as _like
from ._allocation import missing as _missing
from ._checks import check as _check
from ._checks import check_output as _check_output

'''

_MAX_CHOSEN = 4


def _python_default(argument: dict) -> str:
    kind, value = argument["kind"], argument["default"]
    if kind == "bool":
        return "True" if value == "true" else "False"
    if kind == "number":
        return repr(float(value))
    return value if kind == "int" else json.dumps(value)


class TorchOp:
    """One op's forms."""

    def __init__(self, op: dict) -> None:
        self.name = op["op"]
        arguments = op["arguments"]
        self.inputs = [one for one in arguments if one["kind"] == "input"]
        self.outputs = [one for one in arguments if one["kind"] == "output"]
        self.scalars = [one for one in arguments if one["kind"] not in ("input", "output")]
        optional_inputs = {one["name"] for one in self.inputs if one["optional"]}
        chosen = [
            one
            for one in self.outputs
            if one["optional"] or one["like"]["tensor"] in optional_inputs
        ]
        if len(chosen) > _MAX_CHOSEN:
            raise SystemExit(
                f"{self.name}: more than {_MAX_CHOSEN} optional outputs make too many forms"
            )
        always = [one for one in self.outputs if one not in chosen]
        self.forms = [
            (
                "".join(f"_{one['name']}" for one in some),
                [one for one in self.outputs if one in always + list(some)],
            )
            for count in range(len(chosen) + 1)
            for some in itertools.combinations(chosen, count)
            if always or some
        ]

    def schema(self, returns: list[dict] | None) -> str:
        """As Python has it, a line an argument. `returns`: None for the form that writes to given
        tensors."""
        parts = ["Tensor? {}=None" if a["optional"] else "Tensor {}" for a in self.inputs]
        parts = [text.format(a["name"]) for text, a in zip(parts, self.inputs, strict=True)]
        parts.append("*")
        if returns is None:
            for letter, one in zip("abcdefgh", self.outputs, strict=False):
                kind = f"Tensor({letter}!)"
                parts.append(
                    f"{kind}? {one['name']}=None" if self.may_lack(one) else f"{kind} {one['name']}"
                )
        types = {"bool": "bool", "int": "int", "number": "float", "one of": "str"}
        parts += [f"{types[a['kind']]} {a['name']}={_python_default(a)}" for a in self.scalars]
        parts.append("str? variant=None")
        count = len(returns or ())
        result = "Tensor" if count == 1 else f"({', '.join(['Tensor'] * count)})"
        lines = [f"{part}, " for part in parts[:-1]] + [f"{parts[-1]}) -> {result}"]
        return "(" + "\n".join(repr(line) for line in ["(" + lines[0], *lines[1:]]) + ")"

    def may_lack(self, output: dict) -> bool:
        return output["optional"] or any(
            output["like"]["tensor"] == one["name"] and one["optional"] for one in self.inputs
        )

    def parameters(self, returns: list[dict] | None, first: str = "") -> str:
        parts = [first] if first else []
        parts += [
            f"{a['name']}: Tensor" + (" | None = None" if a["optional"] else "")
            for a in self.inputs
        ]
        if returns is None:
            # The dispatcher names them; a required one may follow an optional input only so.
            parts.append("*")
            parts += [
                f"{a['name']}: Tensor" + (" | None = None" if self.may_lack(a) else "")
                for a in self.outputs
            ]
        types = {"bool": "bool", "int": "int", "number": "float", "one of": "str"}
        parts += [f"{a['name']}: {types[a['kind']]} = {_python_default(a)}" for a in self.scalars]
        parts.append("variant: str | None = None")
        count = len(returns or ())
        result = {0: "None", 1: "Tensor"}.get(count, f"tuple[{', '.join(['Tensor'] * count)}]")
        return f"({', '.join(parts)},) -> {result}:\n"

    def allocation(self, output: dict, *, fake: bool) -> str:
        like = output["like"]
        model, shape, dtype = like["tensor"], like["shape"], like["dtype"]
        names = {node.id for node in ast.walk(ast.parse(model)) if isinstance(node, ast.Name)}
        text = ""
        if any(one["optional"] and one["name"] in names for one in self.inputs):
            # With more than one model to choose from, something required was left out.
            text += f"    if ({model}) is None:\n"
            text += (
                f'        raise _missing("{self.name}", "{output["name"]}", {sorted(names)!r})\n'
            )
        if dtype not in (None, "f32+"):
            raise SystemExit(f"{self.name}: {output['name']}: dtype {dtype} has no rule here")
        if not shape and not dtype:
            made = f"_like({model})" if fake else f"_empty_like({model}, memory_format=_CONTIGUOUS)"
        elif not dtype and fake:
            made = f"({model}).new_empty({shape})"
        elif not dtype:
            # A model without dimensions, which the contract refuses in words.
            text += (
                f"    try:\n        shape = {shape}\n    except IndexError:\n        shape = ()\n"
            )
            made = f"_shaped({model}, shape)"
        else:
            shape = shape or f"({model}).shape"
            made = f"({model}).new_empty({shape}, dtype=_f32_plus({model}))"
        return text + f"    {output['name']} = {made}\n"

    def names(self, arguments: list[dict]) -> str:
        return ", ".join(one["name"] for one in arguments)

    def keywords(self, arguments: list[dict]) -> str:
        return "".join(f'"{one["name"]}": {one["name"]}, ' for one in arguments)

    def group(self, arguments: list[dict]) -> str:
        return f"({self.names(arguments)},)"

    def run(self, returns: list[dict] | None) -> str:
        """The library's call, after the outputs that nobody gave are made."""
        made = self.outputs if returns is None else returns
        text = "".join(self.allocation(one, fake=False) for one in returns or ())
        given = [one["name"] if one in made else "None" for one in self.outputs]
        values = [*(a["name"] for a in self.inputs), *given, *(a["name"] for a in self.scalars)]
        # Op.function is a property, which takes 0.1 us.
        function = f"(_{self.name}_op._function or _{self.name}_op.function)"
        return text + f"    {function}({', '.join(values)}, variant)\n"

    def kernel(self, suffix: str, returns: list[dict]) -> str:
        return (
            f"def _{self.name}{suffix}{self.parameters(returns)}"
            f"{self.run(returns)}    return {self.names(returns)}\n"
        )

    def kernel_out(self) -> str:
        return f"def _{self.name}_out{self.parameters(None)}{self.run(None)}"

    def needs_grad(self, arguments: list[dict], may_lack: list[bool]) -> str:
        tests = [
            f"({a['name']} is not None and {a['name']}.requires_grad)"
            if lack
            else f"{a['name']}.requires_grad"
            for a, lack in zip(arguments, may_lack, strict=True)
        ]
        return " or ".join(tests)

    def is_not_plain(self, *, outputs: bool) -> str:
        arguments = self.inputs + (self.outputs if outputs else [])
        lack = [a["optional"] for a in self.inputs]
        lack += [self.may_lack(a) for a in self.outputs] if outputs else []
        return (
            "    if (keyset.raw_repr() not in _PLAIN or _forward._current_level >= 0 or ("
            f"_is_grad_enabled() and ({self.needs_grad(arguments, lack)}))):\n"
        )

    def autograd(self, suffix: str, returns: list[dict]) -> str:
        # The kernel once more rather than a call of it, which takes 0.4 us.
        first = "keyset: torch.DispatchKeySet"
        return (
            f"def _{self.name}{suffix}_autograd{self.parameters(returns, first)}"
            f"{self.is_not_plain(outputs=False)}"
            f"        return _through({self.form_name(suffix)}, keyset, {self.group(self.inputs)}, "
            f'{{{self.keywords(self.scalars)}"variant": variant}})\n'
            f"{self.run(returns)}    return {self.names(returns)}\n"
        )

    def autograd_out(self) -> str:
        first = "keyset: torch.DispatchKeySet"
        written = (
            self.group(self.outputs)
            if not any(self.may_lack(one) for one in self.outputs)
            else f"[one for one in {self.group(self.outputs)} if one is not None]"
        )
        return (
            f"def _{self.name}_out_autograd{self.parameters(None, first)}"
            f"{self.is_not_plain(outputs=True)}"
            f"        _through_out({self.form_name('_out')}, keyset, {self.group(self.inputs)}, "
            f"{{{self.keywords(self.outputs)}}}, "
            f'{{{self.keywords(self.scalars)}"variant": variant}})\n'
            f"        return\n"
            f"{self.run(None)}    _increment_version({written})\n"
        )

    def form_name(self, suffix: str) -> str:
        return f"{self.name}{suffix}_form".upper()

    def form(self, suffix: str, returns: list[dict] | None) -> str:
        names = [one["name"] for one in returns or ()]
        return (
            f"{self.form_name(suffix)} = Form(\n"
            f"_{self.name}_op,\n"
            f'name="{self.name}{suffix}",\n'
            f"returns={tuple(names)!r},\n"
            f"schema={self.schema(returns)},\n"
            f"kernel=_{self.name}{suffix},\n"
            f"autograd=_{self.name}{suffix}_autograd,\n"
            f"fake=_fakes._fake_{self.name}{suffix},\n"
            ")\n\n"
        )

    def fake(self, suffix: str, returns: list[dict]) -> str:
        return (
            f"def _fake_{self.name}{suffix}{self.parameters(returns)}"
            f'    _check("{self.name}", {self.names(self.inputs)})\n'
            + "".join(self.allocation(one, fake=True) for one in returns)
            + f"    return {self.names(returns)}\n"
        )

    def fake_out(self) -> str:
        text = (
            f"def _fake_{self.name}_out{self.parameters(None)}"
            f'    _check("{self.name}", {self.names(self.inputs)})\n'
        )
        for one in self.outputs:
            like = one["like"]
            name, model = one["name"], like["tensor"]
            shape = like["shape"] or f"({model}).shape"
            names = {node.id for node in ast.walk(ast.parse(model)) if isinstance(node, ast.Name)}
            indent = "    "
            if self.may_lack(one):
                text += f"    if {name} is not None:\n"
                indent = "        "
            if any(a["optional"] and a["name"] in names for a in self.inputs):
                text += f"{indent}if ({model}) is None:\n"
                text += f'{indent}    raise _missing("{self.name}", "{name}", {sorted(names)!r})\n'
            text += f'{indent}_check_output("{self.name}", "{name}", {name}, {model}, {shape})\n'
        return text

    def kernels_text(self) -> str:
        text = f"_{self.name}_op = _ops.TABLE[{json.dumps(self.name)}]\n\n"
        for suffix, returns in self.forms:
            text += self.kernel(suffix, returns) + "\n" + self.autograd(suffix, returns) + "\n"
        text += self.kernel_out() + "\n" + self.autograd_out() + "\n"
        for suffix, returns in self.forms:
            text += self.form(suffix, returns)
        return text + self.form("_out", None)

    def fakes_text(self) -> str:
        text = "".join(self.fake(suffix, returns) + "\n" for suffix, returns in self.forms)
        return text + self.fake_out() + "\n"

    def form_names(self) -> list[str]:
        return [self.form_name(suffix) for suffix, _ in self.forms] + [self.form_name("_out")]


def kernels_text(ops: list[dict]) -> str:
    made = [TorchOp(op) for op in ops]
    forms = [name for op in made for name in op.form_names()]
    if twice := {name for name in forms if forms.count(name) > 1}:
        raise SystemExit(f"forms of the same name: {sorted(twice)}")
    names = "".join(f"{name},\n" for name in forms)
    return (
        KERNELS_HEAD
        + "\n".join(op.kernels_text() for op in made)
        + f"\n#: Every form of every op.\nFORMS: tuple[Form, ...] = ({names})\n"
    )


def fakes_text(ops: list[dict]) -> str:
    return FAKES_HEAD + "\n".join(TorchOp(op).fakes_text() for op in ops)
