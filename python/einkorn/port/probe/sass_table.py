"""Names of machine instructions by the low 12 bits of their encoding, sm_75 to sm_120.

NVIDIA documents the names and not the numbers. These were read off code for sm_75, sm_80, sm_90a,
sm_100a and sm_120a, of small kernels for each instruction of PTX and of PyTorch 2.15, by comparing
the first 64-bit word of each instruction with nvdisasm's text. Over these architectures a number
has one meaning, but for what is told below.
"""

import functools

# Bits 0 to 8 are the operation, 9 to 11 the form of its operands. Instructions of tcgen05.mma share
# numbers (UTCHMMA, UTCQMMA, UTCIMMA, UTCOMMA): UTCMMA. Before sm_90 REDG 98e is printed as RED.
_TABLE = """
ACQBULK 82e; ARRIVES 9b0; ATOM 38a 38b 98a 9a2; ATOMG 3a8 3a9 9a3 9a8;
ATOMS 38c 38d 58d 98c f8c; B2R 31c; BAR b1d; BGMMA 9f2; BMMA 23d; BMOV 355 356;
BMSK 21b 81b a1b c1b; BPT 95c; BRA 547 947; BREAK 942; BREV 301; BRX 949; BRXU 958; BSSY 945;
BSYNC 941; CALL 343 944; CCTL 540 98f; CGAERRBAR 5ab; CREDUX 2cc; CS2R 805;
DADD 229 429 629 e29; DEPBAR 91a; DFMA 22b 42b 62b 82b a2b c2b e2b; DMMA 23f;
DMUL 228 828 a28 c28; DSETP 22a 42a 62a e2a; ELECT 82f; ENDCOLLECTIVE 91b; ERRBAR 9ab;
EXIT 94d; F2F 304 310 b04 b10 d04 d10; F2FP 23e a3e c3e; F2I 305 311 b05 b11 d05 d11;
FADD 221 421 621 e21; FADD2 24b; FCHK 302 902 b02 d02; FENCE 3c6;
FFMA 223 423 623 823 a23 c23 e23; FFMA2 249; FLO 300 d00; FMNMX 209 809 a09 c09; FMNMX3 276;
FMUL 220 820 a20 c20; FMUL2 24a; FRND 307 313 b07 b13 d07 d13; FSEL 208 808 a08 c08;
FSET 20a 80a a0a c0a; FSETP 20b 80b a0b c0b; HADD2 230 430 630;
HFMA2 231 235 431 435 631 635 831 835; HGMMA 9f0 df0; HMMA 23c; HMNMX2 240; HMUL2 232;
HSET2 233; HSETP2 234; I2F 306 312 b06 b12 d06 d12; I2FP 245 a45 c45; I2IP 239;
IABS 213 a13 c13; IADD3 210 810 a10 c10; IDP 226 a26; IGMMA 9f1;
IMAD 224 225 227 424 624 625 824 825 827 a24 a25 a27 c24 c25 c27 e24 e25; IMMA 237;
IMNMX 217 817 a17 c17; ISETP 20c 80c a0c c0c; LD 980; LDC b82; LDCU 7ac; LDG 381 97e 981;
LDGDEPBAR 9af; LDGMC 9a5; LDGSTS fae; LDL 983; LDS 984; LDSM 83b; LDTM 9ee;
LEA 211 811 a11 c11; LEPC 34e 94e; LOP3 212 812 a12 c12; MATCH 3a1; MEMBAR 992;
MOV 202 802 a02 c02; MOVM 23a; MUFU 308 908 b08 d08; NANOSLEEP 35d 95d; NOP 918; OMMA 47f;
P2R 803; PLOP3 81c; POPC 309 b09 d09; PREEXIT 82d; PRMT 216 616 816 e16; QGMMA 9f3;
QMMA 27a 47a; QSPC 3aa 9aa; R2P 804; R2UR 2ca 3c2; REDAS dbe; REDG 98e 9a6; REDUX 3c4; RET 950;
RPCMOV 352 353; S2R 919; S2UR 9c3; SEL 207 807 a07 c07; SGXT 21a 81a c1a;
SHF 219 419 619 819 a19 c19 e19; SHFL 389 589 989 f89; ST 385 985; STAS dbd; STG 386 97f 986;
STL 387 987; STS 388 988; STSM 844; STTM 9ed; SYNCS 5a7 5b2 9a7 9b1; UBLKCP 3ba; UBLKPF 3bc;
UBLKRED 3bb; UBMSK 29b 89b; UCGABAR_ARV 9c7; UCGABAR_WAIT dc7; UFLO 2bd; UGETNEXTWORKID 3ca;
UIADD3 290 297 890; UIMAD 2a4 2a5 4a4 8a4 8a5; UISETP 28c 88c; ULDC ab9 abb; ULEA 291 891;
ULOP3 292 892; UMOV 882 c82; UP2UR 883; UPLOP3 89c; UPOPC 2bf; UPRMT 896; USEL 287 887;
USETMAXREG 9c8; USHF 299 899; UTCATOMSWS 5e3 9e3; UTCBAR 3e9; UTCCP 9e7; UTCMMA 5ea 9ea dea;
UTCSHIFT 9e6; UTMACCTL 9b9; UTMACMDFLUSH 9b7; UTMALDG 3b4 5b4; UTMAPF 5b8; UTMAREDG 3b6;
UTMASTG 3b5; UVIRTCOUNT 84c; VABSDIFF 214; VHMNMX 247; VIADD 236 836 c36;
VIADDMNMX 246 446 846 c46 e46;
VIMNMX 248 848 c48; VIMNMX3 20f 80f c0f; VOTE 806; VOTEU 886; WARPGROUP 9c5; WARPSYNC 348 948;
YIELD 946
"""
_OPERATION = 0x1FF
# HMMA of 8x8x4 tiles, which sm_80 no more has; the number was given to VIADD later.
_BEFORE_SM80 = {0x236: "HMMA"}

_HMMA, _IMMA = 0x23C, 0x237
# Of the second 64-bit word. Both bits are set for 4-bit operands of any shape and sign.
_IMMA_4_BIT = 0x180000
_HMMA_BF16, _HMMA_TF32 = 0x40000, 0x80000


def mnemonic(first: int, second: int, sm: int) -> str:
    """The instruction of these two words, without its modifiers: "LDG"; "0xabc" if not known.

    Of matrix instructions the operands' type belongs to the name: IMMA.4, IMMA.8, HMMA.F16,
    HMMA.BF16, HMMA.TF32.
    """
    opcode = first & 0xFFF
    if opcode == _IMMA:
        return "IMMA.4" if second & _IMMA_4_BIT == _IMMA_4_BIT else "IMMA.8"
    if opcode == _HMMA:
        return f"HMMA.{'TF32' if second & _HMMA_TF32 else 'BF16' if second & _HMMA_BF16 else 'F16'}"
    if sm < 80 and opcode in _BEFORE_SM80:
        return _BEFORE_SM80[opcode]
    names, operations = _names()
    # A form that was not seen, of an operation that has one name in all of its forms.
    return names.get(opcode) or operations.get(opcode & _OPERATION) or f"0x{opcode:03x}"


@functools.cache
def _names() -> tuple[dict[int, str], dict[int, str]]:
    names: dict[int, str] = {}
    for entry in _TABLE.split(";"):
        name, *numbers = entry.split()
        names.update((int(number, 16), name) for number in numbers)
    seen: dict[int, set[str]] = {}
    for number, name in names.items():
        seen.setdefault(number & _OPERATION, set()).add(name)
    return names, {number: one.pop() for number, one in seen.items() if len(one) == 1}
