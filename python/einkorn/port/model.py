"""What a survey of another repository finds; the contents of survey.json.

Paths are relative to the surveyed root, with forward slashes; lines count from 1. Expressions are
the source's own text, with white space collapsed.
"""

import dataclasses
import json
from typing import Any, Literal

# How a native function is made known to Python, or a Python function to a framework.
RegistrationKind = Literal[
    "pybind",  # PYBIND11_MODULE, m.def(...), nanobind the same
    "torch_library",  # TORCH_LIBRARY(...) { m.def / m.impl }, TORCH_LIBRARY_IMPL
    "torch_custom_op",  # torch.library.custom_op, Library.define / impl, register_fake
    "tvm_ffi",  # TVM_FFI_DLL_EXPORT_TYPED_FUNC, GlobalDef().def, REGISTER_GLOBAL
    "ctypes",  # extern "C" and CDLL(...).name
    "load_inline",  # torch.utils.cpp_extension.load_inline(functions=...), load(...)
    "load_jit",  # sglang: load_jit(..., cuda_wrappers=[("name", "function<...>")])
    "triton",  # @triton.jit, launched by kernel[grid](...)
]

Side = Literal["launcher", "public"]

# Of the form of survey.json: one more with each change that an older reader would get wrong.
SURVEY_VERSION = 1


@dataclasses.dataclass(frozen=True)
class Gap:
    """What could not be followed or read, and why; never fatal."""

    what: str
    file: str = ""
    line: int = 0


@dataclasses.dataclass(frozen=True)
class Argument:
    """One parameter of the entry, as it is declared."""

    name: str
    type: str = ""  # "torch::Tensor &", "const float *", "int"; "" where Python leaves it out
    default: str = ""


@dataclasses.dataclass(frozen=True)
class Registration:
    kind: RegistrationKind
    public_name: str  # as callers spell it: "_C.ops.gemm_w4a4", "sgl_kernel::rmsnorm"
    symbol: str  # what it leads to, as written: "nunchaku::kernels::gemm_w4a4"
    file: str
    line: int


@dataclasses.dataclass(frozen=True)
class Step:
    """One function of a call chain, in the order of calling."""

    symbol: str
    file: str
    line: int
    called_at: int = 0  # the line in the caller's file; 0 for the first
    depth: int = 0  # of the call tree, from 0


@dataclasses.dataclass(frozen=True)
class Launch:
    kernel: str  # "k<float, 4>", as written
    file: str
    line: int
    grid: str
    block: str
    shared: str = "0"
    stream: str = ""
    attributes: tuple[str, ...] = ()  # "cudaFuncAttributeMaxDynamicSharedMemorySize = smem"
    function: str = ""  # the function that launches


@dataclasses.dataclass(frozen=True)
class Contract:
    """One requirement on one argument. `argument` is "" where it cannot be told."""

    argument: str
    property: str  # dtype, rank, shape, stride, alignment, device, value, architecture, presence
    condition: str  # what has to hold, as a condition in the source's terms
    file: str
    line: int
    side: Side
    form: str = ""  # what states it: assert, TORCH_CHECK, static_assert, return, cast, raise ...
    when: str = ""  # the conditions around it in the source; "" if it is always asked
    normal: str = ""  # `condition` in the entry's names and one spelling for both languages


@dataclasses.dataclass(frozen=True)
class ClosureFile:
    path: str
    lines: int
    used: int = 0  # lines of the functions, types and macros that the entry reaches
    unused: tuple[str, ...] = ()  # symbols defined here that the entry does not reach
    sha256: str = ""  # of the file's bytes, in hexadecimal


@dataclasses.dataclass
class Closure:
    files: list[ClosureFile] = dataclasses.field(default_factory=list)
    external: list[str] = dataclasses.field(default_factory=list)  # "cutlass", "torch", "cuda"
    licences: list[dict[str, str]] = dataclasses.field(default_factory=list)  # path, spdx

    @property
    def lines(self) -> int:
        return sum(file.lines for file in self.files)


@dataclasses.dataclass(frozen=True)
class State:
    """What makes a result depend on more than the arguments."""

    kind: str  # environment, static, allocation, atomic, random, synchronisation
    text: str
    file: str
    line: int


@dataclasses.dataclass(frozen=True)
class Guard:
    """Code that is there for some architectures or dtypes only."""

    kind: str  # architecture, dtype
    condition: str
    file: str
    line: int


@dataclasses.dataclass(frozen=True)
class FoundTest:
    name: str  # "test_gemm[...]" as written: the function's name
    file: str
    line: int
    reaches: str  # the public name it calls
    parameters: str = ""  # of pytest.mark.parametrize, as written


@dataclasses.dataclass
class Survey:
    entry: str
    repository: dict[str, str] = dataclasses.field(default_factory=dict)  # url, commit, licence
    registrations: list[Registration] = dataclasses.field(default_factory=list)
    call_chain: list[Step] = dataclasses.field(default_factory=list)
    launches: list[Launch] = dataclasses.field(default_factory=list)
    closure: Closure = dataclasses.field(default_factory=Closure)
    contracts: list[Contract] = dataclasses.field(default_factory=list)
    hidden: list[Contract] = dataclasses.field(default_factory=list)
    guards: list[Guard] = dataclasses.field(default_factory=list)
    state: list[State] = dataclasses.field(default_factory=list)
    tests: list[FoundTest] = dataclasses.field(default_factory=list)
    gaps: list[Gap] = dataclasses.field(default_factory=list)
    arguments: list[Argument] = dataclasses.field(default_factory=list)
    version: int = SURVEY_VERSION

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self), indent=1, ensure_ascii=False) + "\n"

    @staticmethod
    def from_json(text: str) -> "Survey":
        data: dict[str, Any] = json.loads(text)
        closure = data["closure"]
        return Survey(
            entry=data["entry"],
            repository=data["repository"],
            registrations=[Registration(**one) for one in data["registrations"]],
            call_chain=[Step(**one) for one in data["call_chain"]],
            launches=[
                Launch(**{**one, "attributes": tuple(one["attributes"])})
                for one in data["launches"]
            ],
            closure=Closure(
                files=[
                    ClosureFile(**{**one, "unused": tuple(one["unused"])})
                    for one in closure["files"]
                ],
                external=closure["external"],
                licences=closure["licences"],
            ),
            contracts=[Contract(**one) for one in data["contracts"]],
            hidden=[Contract(**one) for one in data["hidden"]],
            guards=[Guard(**one) for one in data["guards"]],
            state=[State(**one) for one in data["state"]],
            tests=[FoundTest(**one) for one in data["tests"]],
            gaps=[Gap(**one) for one in data["gaps"]],
            arguments=[Argument(**one) for one in data.get("arguments", [])],
            version=data.get("version", SURVEY_VERSION),
        )
