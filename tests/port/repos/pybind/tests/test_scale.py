import pytest
import torch
from rowops import scale_rows


@pytest.mark.parametrize("rows, columns", [(1, 8), (3, 64)])
def test_scale_rows(rows, columns):
    x = torch.ones(rows, columns, device="cuda")
    factors = torch.arange(rows, device="cuda").float()
    torch.testing.assert_close(scale_rows(x, factors), x * factors[:, None])


def test_unrelated():
    assert torch.ones(1).item() == 1
