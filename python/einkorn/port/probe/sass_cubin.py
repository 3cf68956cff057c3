"""The instructions of a cubin, counted from its bytes, so that no disassembler has to be there.

A cubin is an ELF64 file of machine 190, little-endian. The code of each kernel and of each
function that was not inlined lies in a section .text.<name>, in instructions of 16 bytes (sm_70 and
newer). Helpers that the compiler adds lie inside their kernel's section.
"""

import collections
import dataclasses
import struct

from einkorn.port.errors import PortError
from einkorn.port.probe.sass_table import mnemonic

_MAGIC = b"\x7fELF"
_CUDA_MACHINE = 190
_HEADER_BYTES = 64
_SECTION_BYTES = 64
_INSTRUCTION_BYTES = 16
_NO_BITS = 8  # SHT_NOBITS: a section without bytes in the file
_OLDEST_SM = 70  # older code has instructions of another form


@dataclasses.dataclass(frozen=True)
class Code:
    """One kernel or function: how many of each instruction stand in it (not how many run)."""

    name: str  # mangled
    counts: dict[str, int]  # by mnemonic, most frequent first; "0xabc" where it is not known
    code_bytes: int

    @property
    def instructions(self) -> int:
        return sum(self.counts.values())


@dataclasses.dataclass(frozen=True)
class Cubin:
    sm: int  # 90 for sm_90 and sm_90a
    codes: tuple[Code, ...]  # in the order of the sections

    def totals(self) -> dict[str, int]:
        """Counts over all kernels and functions."""
        total: collections.Counter[str] = collections.Counter()
        for code in self.codes:
            total.update(code.counts)
        return dict(total.most_common())


def read_cubin(image: bytes, what: str = "cubin") -> Cubin:
    """The kernels of a cubin with their instructions.

    PortError: not a cubin, one of an architecture before sm_70, or one that ends inside of what it
    announces. Bytes behind the last section are not looked at.
    """
    sm = _architecture(image, what)
    codes = []
    for name, data in _sections(image, what):
        if name.startswith(".text."):
            codes.append(_count(name.removeprefix(".text."), data, sm))
    return Cubin(sm, tuple(codes))


def _architecture(image: bytes, what: str) -> int:
    if image[:4] != _MAGIC or len(image) < _HEADER_BYTES:
        raise PortError(what, "a cubin, which begins as ELF", f"{len(image)} bytes of another form")
    (machine,) = struct.unpack_from("<H", image, 18)
    if image[4] != 2 or machine != _CUDA_MACHINE:
        raise PortError(what, f"ELF64 of machine {_CUDA_MACHINE} (CUDA)", f"machine {machine}")
    (flags,) = struct.unpack_from("<I", image, 48)
    # With ABI version 7 the number is in bits 0 to 7, with 8 (CUDA 13) in bits 8 to 15.
    sm = int(flags & 0xFF if image[8] <= 7 else flags >> 8 & 0xFF)
    if sm < _OLDEST_SM:
        raise PortError(what, f"code of sm_{_OLDEST_SM} or newer", f"sm_{sm}")
    return sm


def _sections(image: bytes, what: str) -> list[tuple[str, bytes]]:
    (table,) = struct.unpack_from("<Q", image, 40)
    entry_bytes, count, names_at = struct.unpack_from("<HHH", image, 58)
    if entry_bytes != _SECTION_BYTES or table + count * entry_bytes > len(image):
        raise PortError(what, "a whole section table", f"{len(image)} bytes")
    headers = [struct.unpack_from("<IIQQQQ", image, table + i * entry_bytes) for i in range(count)]
    if names_at >= count:
        raise PortError(what, "a section of names", f"section {names_at} of {count}")

    def bytes_of(header: tuple[int, ...]) -> bytes:
        _, kind, _, _, offset, size = header
        if kind == _NO_BITS:
            return b""
        if offset + size > len(image):
            raise PortError(what, "sections within the file", f"one that ends at {offset + size}")
        return image[offset : offset + size]

    names = bytes_of(headers[names_at])
    found = []
    for header in headers:
        end = names.find(b"\0", header[0])
        found.append((names[header[0] : end].decode("latin-1"), bytes_of(header)))
    return found


def _count(name: str, data: bytes, sm: int) -> Code:
    counts: collections.Counter[str] = collections.Counter()
    whole = len(data) // _INSTRUCTION_BYTES * _INSTRUCTION_BYTES
    for first, second in struct.iter_unpack("<QQ", data[:whole]):
        counts[mnemonic(first, second, sm)] += 1
    return Code(name, dict(counts.most_common()), len(data))
