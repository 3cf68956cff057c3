"""Binding: which variants the slots of a model use, decided for all of them or for none."""

import dataclasses
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from . import ops
from ._config import OpConfig, Rules, as_config
from ._native import library
from ._registry import word
from ._slot import OpSlot, Place, SlotBinding

if TYPE_CHECKING:
    import os

    import torch

    from .torch.adapters import Adapter

    Model: TypeAlias = "torch.nn.Module | Mapping[str, OpSlot]"


def bind(
    model: "Model",
    config: "OpConfig | Rules | os.PathLike[str]",
    *,
    device: "str | torch.device | None" = None,
    adapters: "Iterable[Adapter] | None" = None,
    leave: Iterable[str] = (),
) -> list[OpSlot]:
    """Decides which variant each slot of a model uses, and binds all slots or, with an error, none.

        einkorn.bind(model, {"rms_norm": "auto", "silu_mul": "cpu/rows_v1"})

    A torch.nn.Module has the slots that its modules have as attributes, and those that adapters
    make for modules of other libraries, such as Hugging Face's LlamaRMSNorm: such a module gets a
    `forward` of its own that calls the slot. Its class, weights and state keys stay.

    Args:
        model: a torch.nn.Module, or slots by their paths.
        config: an OpConfig, a mapping as it takes one, or the path of a .toml or .json file.
        device: where the model will run: "cpu", "cuda:0". None: where its parameters are.
        adapters: for modules without slots; None: einkorn.torch.adapters.DEFAULT.
        leave: patterns of paths of modules that no adapter is to touch.

    Returns the slots, in the model's order. What was bound before is bound anew.

    Raises with nothing changed, and with all faults in one error: ValueError for unknown ops or
    variants (with the nearest), a pattern that fits nothing, a slot without a rule, or no slot at
    all; TypeError for a scalar that an op does not have; RuntimeError for a device that is not here
    or cannot run what a rule names; NotImplementedError for a problem that is refused, and for a
    module that looks like one that an adapter is for but computes something else.
    """
    rules = as_config(config)
    rules.check()
    places, afterwards, on = _places(model, device, adapters, tuple(leave))
    if not places:
        raise ValueError(
            "bind: model: expected one with slots, got none\n"
            "  hint: slots are einkorn.OpSlot attributes of modules, and what adapters know"
        )
    _refuse_backward_rules(rules)
    for place in places:
        _check_scalars(place)
    requests = json.dumps([_request(place) for place in places])
    try:
        decided = json.loads(str(library().resolve_slots(rules.text, requests, on)))
    except ValueError as error:
        if "left unbound" in str(error) and any(place.install for place in places):
            error.add_note("  hint: leave=[pattern, ...] keeps modules as they are")
        raise
    bindings = [_binding(one) for one in decided]
    # From here on nothing can fail.
    for place, binding in zip(places, bindings, strict=True):
        place.slot._bind(binding)
        if place.install is not None:
            place.install()
    for one in afterwards:
        one()
    return [place.slot for place in places]


def unbind(model: "Model") -> None:
    """Unbinds all slots; modules that adapters had changed compute as they did before."""
    if _is_torch(model):
        from .torch._places import restore

        restore(model)
    else:
        for place in _of_mapping(model):
            place.slot.unbind()


def dump(model: "Model") -> str:
    """Each slot with its choice, the rule and the reason for it, and the losers."""
    bound, out = [], []
    for place in _present(model):
        if place.slot.is_bound:
            bound.append(place.slot.binding)
        else:
            out.append(f"{place.path}  {place.slot.op}  not bound\n")
    records = [
        {
            **dataclasses.asdict(one),
            "losers": [{"variant": name, "refusal": why} for name, why in one.losers],
        }
        for one in bound
    ]
    return str(library().dump_bindings(json.dumps(records))) + "".join(out)


def _is_torch(model: Any) -> bool:
    loaded = sys.modules.get("torch")
    return loaded is not None and isinstance(model, loaded.nn.Module)


def _of_mapping(model: Any) -> list[Place]:
    if not isinstance(model, Mapping):
        raise TypeError(
            "bind: model: expected a torch.nn.Module or a mapping of paths to slots, got "
            f"{type(model).__qualname__}"
        )
    for path, slot in model.items():
        if not isinstance(path, str) or not isinstance(slot, OpSlot):
            raise TypeError(
                f"bind: model: expected OpSlot by path, got {type(slot).__qualname__} for {path!r}"
            )
    return [Place(path, slot) for path, slot in model.items()]


def _present(model: Any) -> list[Place]:
    """The slots that a model has, without those that adapters would make."""
    if _is_torch(model):
        from .torch._places import present

        return present(model)
    return _of_mapping(model)


def _places(
    model: Any, device: Any, adapters: Any, leave: tuple[str, ...]
) -> tuple[list[Place], list[Callable[[], None]], str]:
    """The slots, what else to do once they are decided, and the device."""
    if _is_torch(model):
        from .torch._places import device_of, find

        return *find(model, adapters, leave), device_of(model, device)
    places = _of_mapping(model)
    if adapters is not None or leave:
        raise TypeError("bind: adapters and leave: expected None for a mapping of slots, got some")
    if device is None:
        raise ValueError(
            'bind: device: expected "cpu" or "cuda:<index>" for slots without a model, got None'
        )
    return places, [], str(device)


def _refuse_backward_rules(rules: OpConfig) -> None:
    """No slot calls a backward op: autograd does, and it would ignore the rule in silence."""
    said = rules.to_dict()
    tables = [said, *said.get("modules", {}).values()]
    for op, choice in ((op, choice) for table in tables for op, choice in table.items()):
        if op.endswith("_bwd") and choice != "auto":
            raise NotImplementedError(
                f"bind: {op}: expected no rule for an op that autograd calls, got '{choice}'\n"
                f"  hint: EINKORN_{op.upper()} chooses its variant for the process"
            )


def _check_scalars(place: Place) -> None:
    known = ops.TABLE.get(place.slot.op)
    if known is None:
        library().variants(place.slot.op)  # ValueError: names the nearest
        raise ValueError(
            f"bind: slot '{place.path}': op: expected one of einkorn.ops, got {place.slot.op}, "
            "which a plugin brought"
        )
    for name in place.slot.scalars:
        if name not in known.scalars:
            raise TypeError(
                f"bind: slot '{place.path}' ({known.name}): expected scalars of "
                f"{', '.join(known.scalars)}, got {name}"
            )


def _request(place: Place) -> dict[str, Any]:
    problem = place.problem if place.problem is not None else place.slot.problem
    return {
        "path": place.path,
        "op": place.slot.op,
        "problem": None if problem is None else {key: word(one) for key, one in problem.items()},
        "scalars": {name: word(one) for name, one in place.slot.scalars.items()},
    }


def _binding(one: dict[str, Any]) -> SlotBinding:
    losers = tuple((loser["variant"], loser["refusal"]) for loser in one["losers"])
    return SlotBinding(one["path"], one["op"], one["rule"], one["variant"], one["reason"], losers)
