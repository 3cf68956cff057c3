"""Rotations of rows, compiled when they are first used."""

from .spin import reflect, spin, turn_all

__all__ = ["reflect", "spin", "turn_all"]
