import torch
from gatelib import gate


def _operands(shape):
    return torch.randn(shape, device="cuda").bfloat16(), torch.randn(
        shape, device="cuda"
    ).bfloat16()


def _run(shape):
    x, by = _operands(shape)
    return x * torch.sigmoid(by), gate(x, by)


def test_gate():
    expected, got = _run((4, 8))
    torch.testing.assert_close(got, expected)
