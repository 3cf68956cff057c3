"""A survey of an operator that is nowhere, and answers to its questions."""

import dataclasses
import pathlib

from einkorn.port.migration.answers import write
from einkorn.port.model import (
    Argument,
    Closure,
    ClosureFile,
    Contract,
    FoundTest,
    Guard,
    Registration,
    State,
    Survey,
)

SOURCE = "void turn(float* x, int n) { assert(n % 8 == 0); }\n"


def survey() -> Survey:
    def launcher(argument: str, what: str, condition: str, line: int) -> Contract:
        return Contract(argument, what, condition, "csrc/turn.cu", line, "launcher", "assert")

    hidden = [
        launcher("q", "alignment", "(uintptr_t)q % 16 == 0", 12),
        launcher("q", "shape", 'head == 64 || head == 128 /* "both" */', 13),
    ]
    return Survey(
        entry="turn_rows",
        repository={"url": "https://example.org/turn", "commit": "0123456789abcdef", "licence": ""},
        registrations=[Registration("pybind", "_C.turn", "turn", "csrc/bind.cc", 4)],
        closure=Closure(
            [ClosureFile("csrc/turn.cu", 1), ClosureFile("csrc/turn.h", 2)],
            ["torch"],
            [{"path": "LICENSE", "spdx": "MIT"}],
        ),
        contracts=[
            Contract("q", "dtype", "q.dtype == torch.bfloat16", "turn.py", 7, "public", "raise"),
            launcher("", "architecture", "capability >= 8\\", 3),
            launcher("q", "alignment", "(uintptr_t)q % 16 == 0", 40),
            *hidden,
        ],
        hidden=hidden,
        guards=[
            Guard("dtype", "half", "csrc/turn.cu", 5),
            Guard("architecture", "__CUDA_ARCH__ >= 800", "csrc/turn.cu", 6),
        ],
        state=[State("environment", 'getenv("TURN_SLOW")', "csrc/turn.cu", 9)],
        tests=[
            FoundTest(
                "test_turn",
                "tests/test_turn.py",
                11,
                "turn_rows",
                '"rows, head", [(1, 64), (2**12, 128)]',
            ),
            FoundTest("test_turn_odd", "tests/test_turn.py", 30, "turn_rows", "'rows', SIZES"),
        ],
        arguments=[
            Argument("q", "torch::Tensor &"),
            Argument("angle", "const float *"),
            Argument("out", "torch::Tensor &"),
            Argument("scale", "double", "1e-6"),
            Argument("interleaved", "bool", "False"),
            Argument("mode", "std::string", '"neox"'),
            Argument("stream", "cudaStream_t"),
        ],
    )


ANSWERS = {
    "essential": '"y = q turned by angle. Each pair of columns is one number."',
    "rounding": '"once, at the end"',
    "quirks": '["an angle of 0 copies bit by bit"]',
    "state": '"dropped: TURN_SLOW only chose a kernel"',
    "external": "[]",
    "family": '"position"',
    "op": '"turn_rows"',
    "renamed": '[{from = "out", to = "y"}]',
    "public": '["turn_rows"]',
    "private": "[]",
    "state_keys": '[{from = "rotary.inv_freq", to = "angle"}]',
    "arches": '["sm90", "cpu", "smxx"]',
    "dtypes": '["bf16", "f32"]',
    "tolerance": '"two roundings"',
    "not_validated": '["sm_80"]',
    "spdx": '"MIT"',
    "use": '"re-expressed"',
}
ROLES = {"q": "input", "out": "output"}


def answered(text: str, answers: dict[str, str] = ANSWERS, roles: dict[str, str] = ROLES) -> str:
    """migration.toml with these answers in the place of "unanswered"."""
    out, source = [], ""
    for line in text.splitlines():
        key = line.split(" = ")[0]
        if key == "source":
            source = line.split('"')[1]
        if line.endswith('= "unanswered"'):
            value = f'"{roles[source]}"' if key == "role" and source in roles else answers.get(key)
            out.append(f"{key} = {value}" if value else line)
        else:
            out.append(line)
    return "\n".join(out) + "\n"


@dataclasses.dataclass
class Files:
    survey: pathlib.Path
    migration: pathlib.Path
    upstream: pathlib.Path


def files(folder: pathlib.Path, **changes: str) -> Files:
    """survey.json, an answered migration.toml and the surveyed folder."""
    found = survey()
    made = Files(folder / "survey.json", folder / "migration.toml", folder / "upstream")
    made.survey.write_text(found.to_json())
    write(found, made.migration)
    made.migration.write_text(answered(made.migration.read_text(), {**ANSWERS, **changes}))
    (made.upstream / "csrc").mkdir(parents=True)
    (made.upstream / "csrc/turn.cu").write_text(SOURCE)
    (made.upstream / "csrc/turn.h").write_bytes(b"\xff\r\n\n")
    return made
