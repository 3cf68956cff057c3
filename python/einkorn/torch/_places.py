"""Where a torch.nn.Module has slots, and where adapters make some."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import torch
from torch import nn

from .._native import library
from .._slot import OpSlot, Place
from ._adapting import Adapted, Adapter
from .adapters import DEFAULT, known_problems, refusal


def find(
    model: nn.Module, adapters: Iterable[Adapter] | None, leave: tuple[str, ...]
) -> tuple[list[Place], list[Callable[[], None]]]:
    """All slots of the model, with those that adapters make for it; and what else to do once all of
    them are decided.

    NotImplementedError: a module that resembles a known one but computes something else.
    ValueError: a pattern of `leave` that fits no module, a slot that two modules have.
    """
    known = DEFAULT if adapters is None else tuple(adapters)
    places: list[Place] = []
    undo: list[Callable[[], None]] = []
    refused: dict[str, list[str]] = {}
    for path, module in _modules(model):
        own = _own(path, module)
        places += own
        if own:
            continue
        left = any(library().pattern_fits(pattern, path) for pattern in leave)
        adapter = None if left else next((one for one in known if one.matches(module)), None)
        if adapter is not None:
            places.append(_made(path, module, adapter))
        elif not left and (reason := refusal(module, known)):
            refused.setdefault(reason, []).append(path)
        elif isinstance(vars(module).get("forward"), Adapted):  # bound before, with other arguments
            undo.append(partial(_restore, module))
    _check_leave(model, leave)
    _check_shared(places)
    if refused:
        told = "".join(f"\n  {', '.join(paths)}:\n    {why}" for why, paths in refused.items())
        raise NotImplementedError(
            "bind: model: expected modules that the adapters know, got some that only look like "
            f"one{told}\n  hint: leave=[pattern, ...] keeps modules as they are"
        )
    return places, undo


def present(model: nn.Module) -> list[Place]:
    """The slots that the model has."""
    places = []
    for path, module in _modules(model):
        places += _own(path, module)
        adapted = vars(module).get("forward")
        if isinstance(adapted, Adapted):
            places.append(Place(path, adapted.slot))
    return places


def restore(model: nn.Module) -> None:
    """Takes the adapters' slots out and unbinds all others."""
    for path, module in _modules(model):
        if isinstance(vars(module).get("forward"), Adapted):
            _restore(module)
        for place in _own(path, module):
            place.slot.unbind()


def _restore(module: nn.Module) -> None:
    vars(module).pop("forward", None)


def device_of(model: nn.Module, device: Any) -> str:
    """In the library's words. ValueError: parameters on several devices, or on none that is one."""
    if device is not None:
        return _text(device)
    found = sorted({_text(one.device) for one in model.parameters()})
    if len(found) == 1 and found[0] != "meta":
        return found[0]
    raise ValueError(
        f"bind: model device: expected one, got {', '.join(found) or 'no parameters'}\n"
        '  hint: device="cpu" or "cuda:<index>" says where it will run'
    )


def _text(device: Any) -> str:
    if str(device) != "cuda":
        return str(device)
    return f"cuda:{torch.cuda.current_device() if torch.cuda.is_available() else 0}"


def _check_leave(model: nn.Module, leave: tuple[str, ...]) -> None:
    paths = [path for path, _ in _modules(model)]
    for pattern in leave:
        if not any(library().pattern_fits(pattern, path) for path in paths):
            raise ValueError(
                f"bind: leave: expected a pattern that fits some module's path, got '{pattern}'"
            )


def _check_shared(places: list[Place]) -> None:
    paths: dict[int, str] = {}
    for place in places:
        first = paths.setdefault(id(place.slot), place.path)
        if first != place.path:
            raise ValueError(
                f"bind: slot '{place.path}' ({place.slot.op}): expected one of its own, got that "
                f"of '{first}'\n  hint: an OpSlot for each place"
            )


def _modules(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """By path. What torch.compile gave stands for the model that it was given. The model itself has
    no path: it is called by its class's name."""
    model = getattr(model, "_orig_mod", model)
    for path, module in model.named_modules():
        yield path or type(module).__qualname__, module


def _own(path: str, module: nn.Module) -> list[Place]:
    """The slots that are the module's attributes. Where several call one op, their names are part
    of the path."""
    slots = {name: one for name, one in vars(module).items() if isinstance(one, OpSlot)}
    ops = [one.op for one in slots.values()]
    known: Mapping[str, Any] = getattr(module, "slot_problems", partial(known_problems, module))()
    return [
        Place(
            f"{path}.{name}" if ops.count(one.op) > 1 else path, one, known.get(name, one.problem)
        )
        for name, one in slots.items()
    ]


def _made(path: str, module: nn.Module, adapter: Adapter) -> Place:
    """A new slot, also where the module has one: all of them change at once, or none."""
    slot = adapter.slot(module)
    adapted = Adapted(adapter, slot, module)

    def install() -> None:
        # Past Module.__setattr__, which has nothing to do here and might fail.
        vars(module)["forward"] = adapted

    return Place(path, slot, install=install)
