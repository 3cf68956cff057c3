"""The instructions that a source or its PTX asks for, and which machine instructions serve them."""

import collections
import dataclasses
import re

from einkorn.port.sources import syntax

# Instructions whose replacement is worth a finding; others (add, ld, ...) always exist.
_ASKED = re.compile(
    r"(?<![\w.%])(?:(?:mma|wmma\.mma|wgmma\.mma_async|tcgen05\.(?:mma|cp|ld|st)|cp\.async|cp\.reduce"
    r"|ldmatrix|stmatrix|movmatrix|redux\.sync|setmaxnreg|elect\.sync|st\.async|red\.async|multimem"
    r"|dp4a|dp2a)\.[\w.:%]*\w|cvt\.[\w.:]*(?:e4m3|e5m2|e2m1|e3m2|e2m3)x\d[\w.]*)"
)
# These only wait for or close groups of others.
_BOOKKEEPING = re.compile(r"\.(?:commit_group|wait_group|wait_all|mbarrier\.arrive)\b")

# The element type of the operand A decides which unit multiplies.
_MMA_UNITS = {
    "s4": "IMMA.4", "u4": "IMMA.4", "s8": "IMMA.8", "u8": "IMMA.8", "b1": "BMMA", "f64": "DMMA",
    "f16": "HMMA.F16", "bf16": "HMMA.BF16", "tf32": "HMMA.TF32", "e4m3": "QMMA", "e5m2": "QMMA",
    "e2m1": "QMMA", "e3m2": "QMMA", "e2m3": "QMMA",
}  # fmt: skip
_WGMMA_UNITS = {"f": "HGMMA", "b": "HGMMA", "t": "HGMMA", "e": "QGMMA", "s": "IGMMA", "u": "IGMMA"}
# By the first that matches.
_UNITS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"tcgen05\.mma", ("UTCMMA",)),
    (r"tcgen05\.cp", ("UTCCP",)),
    (r"tcgen05\.ld", ("LDTM",)),
    (r"tcgen05\.st", ("STTM",)),
    (r"cp\.reduce\.async\.bulk\.tensor", ("UTMAREDG",)),
    (r"cp\.reduce\.async\.bulk", ("UBLKRED",)),
    (r"cp\.async\.bulk\.prefetch\.tensor", ("UTMAPF",)),
    (r"cp\.async\.bulk\.prefetch", ("UBLKPF",)),
    (r"cp\.async\.bulk\.tensor\.[\w.]*\.shared::\w+\.global", ("UTMALDG",)),
    (r"cp\.async\.bulk\.tensor", ("UTMASTG",)),
    (r"cp\.async\.bulk", ("UBLKCP",)),
    (r"cp\.async\.c[ag]", ("LDGSTS",)),
    (r"ldmatrix", ("LDSM",)),
    (r"stmatrix", ("STSM",)),
    (r"movmatrix", ("MOVM",)),
    (r"redux", ("REDUX", "CREDUX")),
    (r"setmaxnreg", ("USETMAXREG",)),
    (r"elect", ("ELECT",)),
    (r"st\.async", ("STAS",)),
    (r"red\.async", ("REDAS",)),
    (r"multimem\.ld_reduce", ("LDGMC",)),
    (r"multimem", ("REDG", "STG", "STMC")),
    (r"dp[42]a", ("IDP",)),
    (r"cvt", ("F2FP",)),
)


@dataclasses.dataclass(frozen=True)
class Asked:
    """An instruction in an asm statement of a source."""

    ptx: str
    file: str
    line: int


def is_mma(ptx: str) -> bool:
    return ptx.startswith(("mma.", "wmma.mma.", "wgmma.mma_async."))


def serving(ptx: str) -> tuple[str, ...]:
    """The machine instructions that do `ptx` in hardware; () where that is not known."""
    if is_mma(ptx):
        return _mma_unit(ptx)
    for pattern, units in _UNITS:
        if re.match(pattern, ptx):
            return units
    return ()


def _mma_unit(ptx: str) -> tuple[str, ...]:
    operand = mma_operand(ptx)
    if ptx.startswith("wgmma"):
        unit = "BGMMA" if operand == "b1" else _WGMMA_UNITS.get(operand[:1], "")
    elif "mxf4" in ptx:
        unit = "OMMA"
    else:
        unit = _MMA_UNITS.get(operand, "")
    return (unit,) if unit else ()


def mma_operand(ptx: str) -> str:
    """The element type of A: of D.A.B.C the second; wmma names it only where it is not f16."""
    types = [part for part in ptx.split(".") if part in _MMA_UNITS or part in ("f32", "s32")]
    if ptx.startswith("wmma") and len(types) == 2:
        return "f16"
    return types[1] if len(types) > 1 else ""


def asked_by_ptx(text: str) -> dict[str, int]:
    """How many of each stand in a PTX file."""
    counts: collections.Counter[str] = collections.Counter()
    for line in text.splitlines():
        counts.update(_in_text(line.partition("//")[0]))
    return dict(counts.most_common())


def asked_by_source(text: str, file: str) -> list[Asked]:
    """What the asm statements of one file's text ask for, guards and templates not regarded.

    Found in string literals: pieces that macros put in are not seen. Where an operand completes a
    name, as a K that is a template's, its number is in the name: "mma.sync.aligned.m16n8k%14...".
    """
    if "asm" not in text:
        return []
    found = []
    for node in syntax.walk(syntax.parse_cpp(text), {"string_literal", "raw_string_literal"}):
        for name in _in_text((node.text or b"").decode("utf-8", "replace")):
            found.append(Asked(name, file, syntax.line_of(node)))
    return found


def may_be(asked: str, ptx: str) -> bool:
    """Whether an instruction is the one of a source, whose name operands may complete."""
    if "%" not in asked:
        return asked == ptx
    return bool(re.fullmatch(r"\w+".join(map(re.escape, re.split(r"%\d+", asked))), ptx))


def _in_text(text: str) -> list[str]:
    # In a literal "\n" stands before some names and would else be taken for a letter.
    text = re.sub(r"\\[nt]", " ", text)
    return [name for name in _ASKED.findall(text) if not _BOOKKEEPING.search(name)]
