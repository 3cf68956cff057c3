"""Cubins read without a disassembler: made-up ones, byte by byte, and damaged ones."""

import struct

import pytest
from einkorn.port.errors import PortError
from einkorn.port.probe.sass_cubin import read_cubin
from einkorn.port.probe.sass_table import mnemonic

S4 = (0x0000000804047237, 0x004FF6000078540C)  # IMMA.16864.S4.S4, by nvdisasm
S4_U4_K32 = (0x0000000804047237, 0x000FDE0000581C08)  # IMMA.16832.S4.U4
S8 = (0x0000000C08087237, 0x000FE20000405CFF)  # IMMA.16832.S8.S8
S8_SPARSE = (0x0000000804047237, 0x000FEE0000605510)  # IMMA.SP.16864.S8.S8
BF16 = (0x000000080404723C, 0x004FF6000004180C)  # HMMA.16816.F32.BF16
TF32 = (0x000000080404723C, 0x004FF6000008100C)  # HMMA.1688.F32.TF32
F16 = (0x000000080404723C, 0x004FF6000000180C)  # HMMA.16816.F32
EXIT = (0x000000000000794D, 0x000FEA0003800000)


def cubin_of(
    codes: dict[str, list[tuple[int, int]]], flags: int = 0x5A, abi: int = 7, machine: int = 190
) -> bytes:
    """An ELF64 with one section of code for each name."""
    names = b"\0.shstrtab\0"
    sections: list[tuple[int, bytes]] = []
    for name, instructions in codes.items():
        data = b"".join(struct.pack("<QQ", *one) for one in instructions)
        sections.append((len(names), data))
        names += b".text." + name.encode() + b"\0"
    body = names
    headers = [struct.pack("<IIQQQQ24x", 0, 0, 0, 0, 0, 0)]
    headers.append(struct.pack("<IIQQQQ24x", 1, 3, 0, 0, 64, len(names)))
    for name_at, data in sections:
        headers.append(struct.pack("<IIQQQQ24x", name_at, 1, 6, 0, 64 + len(body), len(data)))
        body += data
    head = b"\x7fELF" + bytes([2, 1, 1, 51, abi]) + bytes(7)
    head += struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0, 0, 64 + len(body), flags, 64, 0, 0, 64,
                        len(headers), 1)  # fmt: skip
    return head + body + b"".join(headers)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (S4, "IMMA.4"),
        (S4_U4_K32, "IMMA.4"),
        (S8, "IMMA.8"),
        (S8_SPARSE, "IMMA.8"),
        (BF16, "HMMA.BF16"),
        (TF32, "HMMA.TF32"),
        (F16, "HMMA.F16"),
        (EXIT, "EXIT"),
        ((0x9F0, 0), "HGMMA"),
        ((0x5B4, 0), "UTMALDG"),
        ((0x247, 0), "VHMNMX"),
        ((0x947, 0), "BRA"),
        ((0x1C7, 0), "0x1c7"),  # a form not seen, of two operations that share their other bits
        ((0x1F3, 0), "QGMMA"),  # a form not seen, of an operation with one name
    ],
)
def test_mnemonic(words: tuple[int, int], name: str) -> None:
    assert mnemonic(*words, sm=90) == name


def test_a_number_that_was_given_anew() -> None:
    assert mnemonic(0x236, 0, 75) == "HMMA"
    assert mnemonic(0x236, 0, 90) == "VIADD"


def test_counts_by_kernel() -> None:
    cubin = read_cubin(cubin_of({"a": [S8, S8, EXIT], "b": [EXIT]}))
    assert cubin.sm == 90
    assert [(code.name, code.counts) for code in cubin.codes] == [
        ("a", {"IMMA.8": 2, "EXIT": 1}),
        ("b", {"EXIT": 1}),
    ]
    assert cubin.totals() == {"IMMA.8": 2, "EXIT": 2}
    assert cubin.codes[0].instructions == 3
    assert cubin.codes[0].code_bytes == 48


def test_architecture_of_both_layouts() -> None:
    assert read_cubin(cubin_of({}, flags=0x50, abi=7)).sm == 80
    assert read_cubin(cubin_of({}, flags=0x6408, abi=8)).sm == 100


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        (b"", "begins as ELF"),
        (b"\x7fELF" + bytes(20), "begins as ELF"),
        (cubin_of({}, machine=62), "machine 62"),
        (cubin_of({}, flags=0x3C), "sm_60"),
        (cubin_of({"a": [EXIT]})[:-70], "section table"),
    ],
)
def test_damaged(image: bytes, expected: str) -> None:
    with pytest.raises(PortError, match=expected):
        read_cubin(image)


def test_every_cut_is_refused_or_read() -> None:
    image = cubin_of({"a": [S8, EXIT]})
    for size in range(len(image)):
        with pytest.raises(PortError):
            read_cubin(image[:size])


def test_bytes_behind_are_not_looked_at() -> None:
    assert read_cubin(cubin_of({"a": [EXIT]}) + b"rest").totals() == {"EXIT": 1}
