from normlib.kernels import RmsScaleFunction


def rms_scale(x, weight, eps: float = 1e-6):
    return RmsScaleFunction.apply(x, weight, eps)
