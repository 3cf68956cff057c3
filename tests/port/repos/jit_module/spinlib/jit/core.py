"""What is to be compiled, and how it is loaded."""

import abc
import pathlib

CSRC = pathlib.Path(__file__).parents[2] / "csrc"


class Spec(abc.ABC):
    @abc.abstractmethod
    def load(self): ...

    def build_and_load(self):
        return self.load()


class NativeSpec(Spec):
    def __init__(self, name, sources):
        self.name = name
        self.sources = sources


def gen_spec(name, sources) -> Spec:
    spec = NativeSpec(name, [str(one) for one in sources])
    return spec
