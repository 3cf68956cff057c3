"""Which variants serve an op: a configuration for a model's slots."""

import json
import os
import pathlib
from collections.abc import Mapping
from typing import Any, Self

from ._native import library

Rules = Mapping[str, "str | Mapping[str, Mapping[str, str]]"]


class OpConfig:
    """Rules `op: choice`, for all of a model or for some of its places.

        einkorn.OpConfig({
            "rms_norm": "auto",
            "silu_mul": "cpu/rows_v1",
            "modules": {"model.layers.*.input_layernorm": {"rms_norm": "reference"}},
        })

    An op may be "default": every op that no rule beside it names. A choice is "auto", "reference",
    a variant's name or a pattern over names. Of the patterns of `modules` that fit a slot's path
    the last counts. docs/guide/slots.md tells all of it.

    It does not change. Ops and variants are looked up by check() and einkorn.bind() only, since
    packages may add some meanwhile.
    """

    __slots__ = ("_text",)

    def __init__(self, rules: Rules) -> None:
        """TypeError: something else than a mapping, or keys or values that JSON does not have.
        ValueError: a value that is not a choice."""
        if not isinstance(rules, Mapping):
            raise TypeError(
                f"OpConfig: rules: expected a mapping, got {type(rules).__qualname__}\n"
                "  hint: OpConfig.from_toml(text), from_json(text), from_file(path), "
                "from_environment()"
            )
        self._text = str(library().read_config("json", json.dumps(_plain(rules, "rules"))))

    @classmethod
    def _read(cls, form: str, text: str) -> Self:
        made = cls.__new__(cls)
        made._text = str(library().read_config(form, text))
        return made

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """`op = "choice"` lines, then tables `[modules."pattern"]` of such lines.

        ValueError, with the line: not TOML, a value that is no text, a table of another name.
        """
        return cls._read("toml", text)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The same as the constructor's mapping. ValueError: not JSON, a key given twice."""
        return cls._read("json", text)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Self:
        """A .toml or .json file. OSError: it cannot be read; ValueError: another suffix, or as
        above, with the file's name."""
        file = pathlib.Path(path)
        form = file.suffix.removeprefix(".")
        if form not in ("toml", "json"):
            raise ValueError(
                f"OpConfig: file: expected one that ends with .toml or .json, got '{file}'"
            )
        text = file.read_text(encoding="utf-8")
        try:
            return cls._read(form, text)
        except ValueError as error:
            error.add_note(f"  from: {file}")
            raise

    @classmethod
    def from_environment(cls) -> Self:
        """EINKORN_OPS: "rms_norm=auto,model.layers.0.*:silu_mul=cpu/rows_v1"; no rules where it is
        not set. ValueError: not of this form."""
        return cls._read("environment", "")

    def check(self) -> None:
        """ValueError that lists all rules with an unknown op or variant, with the nearest known."""
        from ._registry import load_entry_points

        load_entry_points()
        library().check_config(self._text)

    def to_dict(self) -> dict[str, Any]:
        """The constructor's argument."""
        document = json.loads(self._text)
        out: dict[str, Any] = {one["op"]: one["choice"] for one in document["rules"]}
        if document["modules"]:
            out["modules"] = {
                table["pattern"]: {one["op"]: one["choice"] for one in table["rules"]}
                for table in document["modules"]
            }
        return out

    @property
    def text(self) -> str:
        """As the library takes it, with where each rule was read."""
        return self._text

    def __eq__(self, other: object) -> bool:
        """The same rules in the same order, wherever they were read."""
        if not isinstance(other, OpConfig):
            return NotImplemented
        return json.dumps(self.to_dict()) == json.dumps(other.to_dict())

    def __hash__(self) -> int:
        return hash(json.dumps(self.to_dict()))

    def __repr__(self) -> str:
        return f"OpConfig({self.to_dict()})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (type(self), self._text)


def _made(kind: type[OpConfig], text: str) -> OpConfig:
    made = kind.__new__(kind)
    made._text = text
    return made


def _plain(value: Any, name: str) -> Any:
    """Mappings of any type as dicts. A value that is no choice is the library's to refuse, as far
    as JSON has it."""
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"OpConfig: {name} key: expected str, got {type(key).__qualname__}")
        return {key: _plain(one, key) for key, one in value.items()}
    if value is None or isinstance(value, str | int | float | list | tuple):
        return value
    raise TypeError(f"OpConfig: {name}: expected str, got {type(value).__qualname__}")


def as_config(given: "OpConfig | Rules | os.PathLike[str]") -> OpConfig:
    """What einkorn.bind takes for a configuration."""
    if isinstance(given, OpConfig):
        return given
    if isinstance(given, os.PathLike):
        return OpConfig.from_file(given)
    return OpConfig(given)
