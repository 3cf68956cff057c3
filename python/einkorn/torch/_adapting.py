"""What an adapter is, and how it tells what a module computes."""

import dis
import types
from collections.abc import Callable
from typing import Any

from torch import nn

from .._slot import OpSlot


class Adapter:
    """For one form of module, with one slot. Your own go to einkorn.bind(..., adapters=[...])."""

    #: What the form is, for messages: "y = x / rms(x) * weight".
    summary: str

    def matches(self, module: nn.Module) -> bool:
        """Whether the module computes exactly this form."""
        raise NotImplementedError

    def resembles(self, module: nn.Module) -> bool:
        """Whether a user would expect a module that no adapter matches to be of this form."""
        raise NotImplementedError

    def slot(self, module: nn.Module) -> OpSlot:
        """A new slot, with the module's mathematics as its scalars and what is known of calls."""
        raise NotImplementedError

    @staticmethod
    def forward(slot: OpSlot, module: Any, *inputs: Any, **keywords: Any) -> Any:
        """In place of the module's own; reads what that reads when it is called."""
        raise NotImplementedError


class Adapted:
    """The `forward` of one adapted module. It goes by the module, not by a bound method, so that a
    copy's is the copy's, whether by copy.deepcopy or by pickle."""

    def __init__(self, adapter: Adapter, slot: OpSlot, module: nn.Module) -> None:
        self.adapter = adapter
        self.slot = slot
        self.module = module

    def __call__(self, *inputs: Any, **keywords: Any) -> Any:
        return self.adapter.forward(self.slot, self.module, *inputs, **keywords)


def computes(function: Any, form: Callable[..., Any]) -> bool:
    """Whether a Python function is, instruction by instruction, another one: the same operations,
    names and constants, and under its global names the same objects. Annotations and comments do
    not count."""
    if not isinstance(function, types.FunctionType) or function.__closure__:
        return False
    assert isinstance(form, types.FunctionType)
    if _steps(function) != _steps(form) or function.__defaults__ != form.__defaults__:
        return False
    return all(
        function.__globals__.get(name) is form.__globals__.get(name)
        for name in form.__code__.co_names
        if name in form.__globals__
    )


def _steps(function: types.FunctionType) -> list[tuple[str, Any]]:
    return [(one.opname, one.argval) for one in dis.get_instructions(function)]


def is_form(module: nn.Module, **forms: Callable[..., Any]) -> bool:
    """Whether the module's own class, unchanged, defines these methods so."""
    kind = type(module)
    own = vars(kind)
    return (
        kind.__call__ is nn.Module.__call__
        and all(is_unchanged(module, name) for name in forms)
        and all(name in own and computes(own[name], form) for name, form in forms.items())
    )


def is_unchanged(module: nn.Module, method: str) -> bool:
    """Whether nobody but bind() gave the instance a method of its own."""
    return method not in vars(module) or isinstance(vars(module)[method], Adapted)


def has_name(module: nn.Module, part: str) -> bool:
    """Whether the name of its class, or of one that it derives from, has such a part."""
    return any(part in kind.__name__.lower() for kind in type(module).__mro__)
