import pytest
import torch
from polylib import horner, powers


@pytest.mark.parametrize("degree", [1, 4])
def test_horner(degree):
    x = torch.rand(100, device="cuda")
    c = torch.rand(degree + 1, device="cuda")
    assert horner(x, c).shape == x.shape


def test_powers():
    assert powers(torch.rand(64, device="cuda"), 3).shape == (3, 64)
