"""A requirement as one function states it, before its names are traced to the entry's arguments."""

import dataclasses

from einkorn.port.conditions.expressions import Expr, render


@dataclasses.dataclass(frozen=True)
class Requirement:
    condition: Expr  # what has to hold
    form: str  # what states it: assert, TORCH_CHECK, static_assert, return, cast, raise ...
    line: int
    when: str = ""  # the conditions under which it is asked, "" for always
    about: str = ""  # the property, "" to be told from the condition
    python: bool = False

    @property
    def text(self) -> str:
        """The condition as its language spells it."""
        return render(self.condition, self.python)


@dataclasses.dataclass
class Stated:
    """What one function requires, and the names that its matchers give to sizes."""

    requirements: list[Requirement] = dataclasses.field(default_factory=list)
    sizes: list[tuple[str, int, Expr]] = dataclasses.field(default_factory=list)
