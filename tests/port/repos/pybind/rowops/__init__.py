from .scale import scale_rows

__all__ = ["scale_rows"]
