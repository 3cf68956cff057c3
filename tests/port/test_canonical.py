"""One spelling for both languages."""

import pytest
from einkorn.port.conditions.canonical import requirements, split, states
from einkorn.port.conditions.expressions import render
from einkorn.port.conditions.parse import of_text


def spelt(text, python=False):
    return [render(one) for one in requirements(of_text(text, python))]


@pytest.mark.parametrize(
    ("cpp", "python"),
    [
        ("x.size(0) == 4", "x.shape[0] == 4"),
        ("x.dim() == 2", "len(x.shape) == 2"),
        ("x.ndims() == 2", "x.ndim == 2"),
        ("x.scalar_type() == at::kHalf", "x.dtype == torch.float16"),
        (
            "x.dtype() == torch::kHalf || x.dtype() == torch::kBFloat16",
            "x.dtype in (torch.bfloat16, torch.half)",
        ),
        ("x.is_cuda()", "x.device.type == 'cuda'"),
        ("x.device().is_cuda()", "x.is_cuda"),
        ("x.is_contiguous()", "x.is_contiguous()"),
        ("x.stride(-1) == 1", "x.stride(-1) == 1"),
        ("bias.has_value()", "bias is not None"),
        ("!bias.defined()", "bias is None"),
        ("n <= 16", "16 >= n"),
        ("static_cast<int64_t>(n) % 8 == 0", "n % 8 == 0"),
        ("a.size(1) == b.size(0)", "b.shape[0] == a.shape[1]"),
        ("x.sizes() == IntArrayRef({m, 4})", "x.shape == (m, 4)"),
        ("x.size(0) == m && x.size(1) == 0x10", "x.shape[1] == 16 and m == x.shape[0]"),
        ("reinterpret_cast<uintptr_t>(x.data_ptr()) % 16 == 0", "x.data_ptr() % 16 == 0"),
    ],
)
def test_the_same_in_both_languages(cpp, python):
    assert sorted(spelt(cpp)) == sorted(spelt(python, python=True))


@pytest.mark.parametrize(
    ("one", "other"),
    [("x.size(0) == 4", "x.size(1) == 4"), ("x.dim() == 2", "x.dim() == 3"), ("a < b", "b < a")],
)
def test_what_differs_stays_different(one, other):
    assert spelt(one) != spelt(other)


def test_a_whole_shape_gives_the_rank_as_well():
    assert spelt("x.shape == (m, 4)", python=True) == [
        "x.rank == 2",
        "m == x.shape[0]",
        "x.shape[1] == 4",
    ]


def test_fewer_dtypes_state_more():
    def only(text):
        return spelt(text, python=True)[0]

    wanted = only("x.dtype in (torch.half, torch.bfloat16)")
    assert states(only("x.dtype == torch.half"), wanted)
    assert not states(only("x.dtype in (torch.half, torch.float32)"), wanted)
    assert states("x.shape[3] == 512", "x.shape[3] in {512, 576}")
    assert not states(only("y.dtype == torch.half"), wanted)


def test_parts_outside_of_brackets():
    assert split("a && (b && c || d) && f[e && g]") == ["a", "(b && c || d)", "f[e && g]"]
