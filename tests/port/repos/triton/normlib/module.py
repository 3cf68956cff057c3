import torch

from normlib.functional import rms_scale


class RmsScale(torch.nn.Module):
    def __init__(self, width: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x):
        return rms_scale(x, self.weight, self.eps)
