from shiftlib.jit.shift import shift, shift_by

__all__ = ["shift", "shift_by"]
