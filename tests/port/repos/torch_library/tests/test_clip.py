import pytest
import softclip
import torch


@pytest.mark.parametrize("limit", [0.5, 2.0])
def test_soft_clip(limit):
    x = torch.randn(64, device="cuda")
    torch.testing.assert_close(softclip.soft_clip(x, limit), limit * torch.tanh(x / limit))


class TestOps:
    def test_through_the_dispatcher(self):
        x = torch.randn(64, device="cuda")
        assert torch.ops.softclip.clip(x, 1.0).abs().max() <= 1
