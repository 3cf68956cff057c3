from normlib.functional import rms_scale
from normlib.module import RmsScale

__all__ = ["RmsScale", "rms_scale"]
