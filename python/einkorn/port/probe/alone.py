"""One mma instruction as a kernel of its own: what an architecture makes of it, with none around.

In a whole kernel the replacement of a missing instruction is buried in other arithmetic; alone it
can be counted. The number of registers follows from shape and element types (PTX ISA, "mma").
"""

import re

# Bits of an element as mma takes it; 4- and 6-bit floats of kind::f8f6f4 lie in a byte each.
_BITS = {
    "s4": 4, "u4": 4, "s8": 8, "u8": 8, "b1": 1, "f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8,
    "e5m2": 8, "e2m1": 8, "e3m2": 8, "e2m3": 8, "f64": 64, "f32": 32, "s32": 32,
}  # fmt: skip
_THREADS = 32
_OPEN_K = re.compile(r"(?=mma\.sync\.aligned\.m(\d+)n)(\S*?k)%\d+(\.row\.col\.[^%]*)")
# By m and the type of A, with n = 8 (PTX ISA, "mma", table of shapes).
_SIZES_OF_K: dict[tuple[str, str], tuple[int, ...]] = {
    **{("8", one): (32,) for one in ("s4", "u4")},
    **{("8", one): (16,) for one in ("s8", "u8")},
    **{("16", one): (32, 64) for one in ("s4", "u4")},
    **{("16", one): (16, 32) for one in ("s8", "u8")},
    **{("16", one): (8, 16) for one in ("f16", "bf16")},
    ("16", "tf32"): (4, 8),
    ("16", "b1"): (128, 256),
}
_FORM = re.compile(r"mma\.sync\.aligned\.m(\d+)n(\d+)k(\d+)\.row\.col\.([\w.:]+)")


def kernel_of(ptx: str, name: str) -> str:
    """CUDA source of a kernel with this mma between loads and stores; "" for other forms.

    Other forms are sparse and block-scaled ones, wmma's fragments and the quad-wise m8n8k4 of f16:
    what they take beside A, B and C is not in their name.
    """
    match = _FORM.fullmatch(ptx)
    if not match or "block_scale" in ptx:
        return ""
    m, n, k = (int(match.group(i)) for i in (1, 2, 3))
    types = [part for part in match.group(4).split(".") if part in _BITS]
    if len(types) != 4 or (types[1] == "f16" and k == 4):
        return ""
    counts = (m * n * _BITS[types[3]], m * k * _BITS[types[1]], k * n * _BITS[types[2]])
    register = "d" if types[0] == "f64" else "f" if types[3] == "f32" else "r"
    factors = "d" if types[0] == "f64" else "r"
    if types[0] != types[3]:  # two kinds of accumulator: D can't be C's registers
        return ""
    width = 64 if register == "d" else 32
    c, a, b = (max(1, count // _THREADS // width) for count in counts)
    return _source(name, ptx, (c, a, b), register, factors)


def completions(ptx: str) -> list[str]:
    """What a name with an operand for its k may be: all that PTX has. Of others, itself."""
    match = _OPEN_K.fullmatch(ptx)
    if not match:
        return [] if "%" in ptx else [ptx]
    types = [part for part in match.group(3).split(".") if part in _BITS]
    sizes = _SIZES_OF_K.get((match.group(1), types[1] if len(types) > 1 else ""), ())
    return [f"{match.group(2)}{size}{match.group(3)}" for size in sizes]


def _source(name: str, ptx: str, counts: tuple[int, int, int], register: str, factors: str) -> str:
    c, a, b = counts
    types = {"d": "double", "f": "float", "r": "unsigned"}
    sum_type, factor_type = types[register], types[factors]
    places = [f"%{i}" for i in range(c + a + b)]
    groups = (places[:c], places[c : c + a], places[c + a :], places[:c])
    operands = ", ".join("{" + ", ".join(group) + "}" for group in groups)
    outs = ", ".join(f'"+{register}"(c[{i}])' for i in range(c))
    ins = ", ".join(f'"{factors}"(ab[{i}])' for i in range(a + b))
    return (
        f'extern "C" __global__ void {name}({sum_type}* sums, const {factor_type}* factors) {{\n'
        f"  {sum_type} c[{c}];\n  {factor_type} ab[{a + b}];\n"
        f"  for (int i = 0; i < {c}; ++i) c[i] = sums[i];\n"
        f"  for (int i = 0; i < {a + b}; ++i) ab[i] = factors[i];\n"
        f'  asm volatile("{ptx} {operands};\\n" : {outs} : {ins});\n'
        f"  for (int i = 0; i < {c}; ++i) sums[i] = c[i];\n}}\n"
    )
