"""Contracts of small repositories that a test writes."""

import pathlib

from chain_support import Surveyed, of_files, repo
from einkorn.port.contracts.collect import contracts_of, hidden_of
from einkorn.port.model import Contract

Row = tuple[str, str, str]


def contracts(surveyed: Surveyed, entry: str) -> list[Contract]:
    return contracts_of(surveyed.cpp, surveyed.python, surveyed.follow(entry))


def of_launcher(root: pathlib.Path, body: str, head: str = "", name: str = "run") -> list[Contract]:
    """Of a launcher with this body, called from C++ as `run`."""
    text = (
        "__global__ void kernel(const float* x, int n) {}\n"
        f"{head}\n"
        f"void {name}(Tensor x, Tensor w, std::optional<Tensor> bias, int groups) {{\n{body}\n"
        "  kernel<<<1, 32>>>(x.data_ptr<float>(), groups);\n}\n"
    )
    return contracts(of_files(root, {"run.cu": text}), name)


def rows(found: list[Contract]) -> list[Row]:
    return [(one.argument, one.property, one.condition) for one in found]


def hidden(kind: str, entry: str) -> list[Row]:
    return rows(hidden_of(contracts(repo(kind), entry)))
