"""Public functions."""

import functools
from types import SimpleNamespace

from .jit.spin import gen_reflect_module, gen_spin_module

_MODULES = {}


@functools.cache
def get_spin_module():
    return gen_spin_module().build_and_load()


def get_reflect_module(axis):
    if axis not in _MODULES:
        _MODULES[axis] = gen_reflect_module(axis).build_and_load()
    return _MODULES[axis]


@functools.cache
def get_wrapped():
    run_func = get_spin_module().run

    def run_spin(x, out):
        run_func(x, out)

    return SimpleNamespace(run=run_spin)


def spin(x, out):
    get_spin_module().run(x, out)


def spin_wrapped(x, out):
    wrapped = get_wrapped()
    wrapped.run(x, out)


def reflect(x, out, axis):
    module = get_reflect_module(axis)
    module.run(x, out)


def halve(module, x):
    module.halve_rows(x)


class Wheel:
    def turn(self):
        return self

    def halve_all(self):
        self.module.halve_rows(self)


def turn_all(wheels, x):
    seen = []
    for wheel in wheels:
        wheel.turn()
        seen.append(wheel)
    (x + 1).halve_rows()
    return seen
