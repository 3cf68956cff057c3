"""The sources of each module."""

from .core import CSRC, Spec, gen_spec


def gen_spin_module() -> Spec:
    """Sources are spin.cu and, for the names, a binding; not reflect_binding.cu."""
    return gen_spec("spin", [CSRC / "spin.cu", CSRC / "spin_binding.cu"])


def gen_reflect_module(axis: int) -> Spec:
    sources = []
    for name in ["reflect.cu", "reflect_binding.cu"]:
        sources.append(CSRC / name)
    if axis > 1:
        sources.append(CSRC / "reflect_far_binding.cu")
    return gen_spec(f"reflect_{axis}", sources)
