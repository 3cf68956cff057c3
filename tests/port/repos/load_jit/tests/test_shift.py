import pytest
import torch
from shiftlib.jit.shift import shift, shift_by


@pytest.mark.parametrize("count", [1, 127, 4096])
@pytest.mark.parametrize("by", [1, -7])
def test_shift(count, by):
    x = torch.arange(count, device="cuda", dtype=torch.int32)
    assert torch.equal(shift(x, by), x + by)


def test_shift_by():
    x = torch.rand(8, device="cuda")
    torch.testing.assert_close(shift_by(x, x[:1]), x + x[0])
