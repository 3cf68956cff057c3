import pytest
import torch
from normlib import RmsScale, rms_scale


@pytest.mark.parametrize("width", [16, 100])
def test_rms_scale(width):
    x = torch.randn(4, width, device="cuda")
    weight = torch.ones(width, device="cuda")
    torch.testing.assert_close(rms_scale(x, weight).pow(2).mean(-1), torch.ones(4, device="cuda"))


def test_module():
    module = RmsScale(16).cuda()
    assert module(torch.randn(2, 16, device="cuda")).shape == (2, 16)
