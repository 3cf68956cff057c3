"""What a compilation gave, without loading it."""

import json
import pathlib
from dataclasses import dataclass
from typing import Any, NoReturn, Self

from ._jit_apart import apart
from ._jit_arguments import Parameter

#: For methods that torch.compile breaks its graph at.
outside = apart("einkorn.jit: ask for facts, and prepare(), outside of the compiled function")


@dataclass(frozen=True, slots=True)
class Entry:
    """One kernel of an artifact, and what it takes of a multiprocessor (0 for the CPU's)."""

    expression: str  #: as asked for: "k<float, 4>"
    lowered: str  #: its mangled name
    registers: int  #: per thread
    static_smem: int  #: bytes per block
    stack_bytes: int  #: local memory frame per thread
    spill_stores: int  #: bytes per thread
    spill_loads: int  #: bytes per thread

    @property
    def spills(self) -> int:
        """Bytes per thread, stored and loaded."""
        return self.spill_stores + self.spill_loads


class Handle:
    """What stays as it is: copies, such as those of a model that holds one, are the same object."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: Any) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{self!r}: expected what can be pickled, got what belongs to this process\n"
            "  hint: load it in each process, which the cache makes cheap"
        )


class Compiled(Handle):
    """What one compilation gave."""

    def __init__(self, name: str, program: Any) -> None:
        facts = json.loads(program("facts", ""))
        self._program = program
        self.name = name
        self.target: str = facts["target"]  #: "cuda", "cpu" or "ffi"
        self.compiler: str = facts["compiler"]  #: "nvrtc 13.0"
        self.compile_ms: float = facts["compile_ms"]  #: of the compilation, whoever ran it
        self.key: str = facts["key"]  #: in the cache: 64 hexadecimal digits
        self.log: str = facts["log"]  #: the compiler's whole output
        self.entries = tuple(Entry(**one) for one in facts["entries"])
        self.functions: tuple[str, ...] = tuple(facts["functions"])  #: of an "ffi" module

    def __repr__(self) -> str:
        shown = ", ".join(one.expression for one in self.entries) or ", ".join(self.functions)
        return f"<einkorn {self.target} code {self.name}: {shown}, by {self.compiler}>"

    @property
    @outside
    def image(self) -> bytes:
        """A cubin, or a shared object."""
        return bytes(self._program("image", ""))

    @outside
    def save(self, path: str | pathlib.Path) -> None:
        """Writes the image to a file."""
        pathlib.Path(path).write_bytes(self.image)

    @outside
    def parameters(self, expression: str | None = None) -> tuple[Parameter, ...]:
        """Those of an entry, or of the only one. ValueError: no such entry, several and none named.

        RuntimeError for the CPU's: they cannot be loaded here.
        """
        if self.target == "ffi":
            raise ValueError(
                f"jit: {self.name}: parameters: expected kernels, got a module, whose functions "
                "tell none"
            )
        if expression is None:
            if len(self.entries) != 1:
                raise ValueError(
                    f"jit: {self.name}: entry: expected one of {len(self.entries)} named, got none"
                )
            expression = self.entries[0].expression
        return tuple(
            Parameter(**one) for one in json.loads(self._program("parameters", expression))
        )
