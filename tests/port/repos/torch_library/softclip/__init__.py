"""Values pressed smoothly into a range."""

import torch

from . import _C  # noqa: F401


def soft_clip(x: torch.Tensor, limit: float = 1.0) -> torch.Tensor:
    torch._check(limit > 0, lambda: "limit must be positive")
    if not x.is_contiguous():
        raise ValueError("x must be contiguous")
    return torch.ops.softclip.clip.default(x, limit)


def soft_clip_(x: torch.Tensor, limit: float = 1.0) -> None:
    torch.ops.softclip.clip_(x, limit)


@torch.library.register_fake("softclip::clip")
def _fake_clip(x, limit):
    return torch.empty_like(x)
