from .horner import horner, powers

__all__ = ["horner", "powers"]
