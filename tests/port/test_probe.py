"""What a source asks for, what became of it, and the compilers, where there is one."""

import os
import pathlib
import textwrap
from collections.abc import Sequence

import pytest
from einkorn.port.errors import PortError
from einkorn.port.probe import alone as probe_alone
from einkorn.port.probe import ptx as probe_ptx
from einkorn.port.probe import verdict as probe_verdict
from einkorn.port.probe.compile import Compiled, Nvcc, check_arch, find_compiler
from einkorn.port.probe.report import probe

S4 = "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32"
BF16 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
INT4 = textwrap.dedent(
    """
    __global__ void products(int* sums, const unsigned* factors) {
      int d[4] = {sums[0], sums[1], sums[2], sums[3]};
      asm volatile(
          "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 "
          "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\\n"
          : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
          : "r"(factors[0]), "r"(factors[1]), "r"(factors[2]), "r"(factors[3]), "r"(factors[4]),
            "r"(factors[5]));
      for (int i = 0; i < 4; ++i) sums[i] = d[i];
    }
    """
)


COMMAND = pathlib.Path(__file__).parents[2] / "build" / "einkorn"


@pytest.fixture(autouse=True)
def _the_built_command(monkeypatch: pytest.MonkeyPatch) -> None:
    if "EINKORN_BIN" not in os.environ and COMMAND.exists():
        monkeypatch.setenv("EINKORN_BIN", str(COMMAND))


def compiler_or_skip(wanted: str) -> None:
    try:
        find_compiler(wanted)
    except PortError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(
    ("ptx", "served_by"),
    [
        (S4, ("IMMA.4",)),
        ("mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.u8.s32", ("IMMA.8",)),
        (BF16, ("HMMA.BF16",)),
        ("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", ("QMMA",)),
        ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", ("DMMA",)),
        ("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc", ("BMMA",)),
        ("mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
         ("OMMA",)),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", ("HMMA.F16",)),
        ("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16", ("HGMMA",)),
        ("wgmma.mma_async.sync.aligned.m64n128k32.s32.u8.s8", ("IGMMA",)),
        ("wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3", ("QGMMA",)),
        ("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes",
         ("UTMALDG",)),
        ("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group", ("UTMASTG",)),
        ("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", ("UBLKCP",)),
        ("cp.async.cg.shared.global", ("LDGSTS",)),
        ("ldmatrix.sync.aligned.m8n8.x4.shared.b16", ("LDSM",)),
    ],
)  # fmt: skip
def test_serving(ptx: str, served_by: tuple[str, ...]) -> None:
    assert probe_ptx.serving(ptx) == served_by


def test_asked_by_ptx() -> None:
    text = f"""
    // {BF16} in a comment
    @%p1 {S4} {{%r1, %r2}}, {{%r3}};
    {S4} {{%r1}};
    cp.async.cg.shared.global [%r1], [%rd1], 16;
    cp.async.commit_group;
    cp.async.wait_group 0;
    add.s32 %r1, %r2, %r3;
    """
    assert probe_ptx.asked_by_ptx(text) == {S4: 2, "cp.async.cg.shared.global": 1}


def test_asked_by_source() -> None:
    text = '// asm("cp.async.ca.shared.global")\nvoid mma();\n' + INT4
    assert probe_ptx.asked_by_source(text, "a.cu") == [probe_ptx.Asked(S4, "a.cu", 7)]


def test_kernel_of_counts_registers() -> None:
    source = probe_alone.kernel_of(BF16, "k")
    operands = "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}"
    assert operands in source
    assert '"+f"(c[0])' in source and '"r"(ab[5])' in source
    assert probe_alone.kernel_of("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "k") == ""
    assert probe_alone.kernel_of("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", "k") == ""


class Refusing:
    """A compiler that knows no instruction."""

    name = "none"

    def compile(
        self,
        file: pathlib.Path,
        arch: str,
        includes: Sequence[pathlib.Path],
        options: Sequence[str],
    ) -> Compiled:
        return Compiled(said=f"x.ptx, line 9; error   : Feature 'y' requires .target {arch}1\n")


def test_verdicts_by_the_whole_code() -> None:
    judge = probe_verdict.Judge(Refusing(), "sm_90")  # type: ignore[arg-type]
    ldmatrix = "ldmatrix.sync.aligned.m8n8.x4.shared.b16"
    assert judge.finding(ldmatrix, 4, {"LDSM": 2}).verdict == "native"
    assert judge.finding(ldmatrix, 4, {"LDG": 2}).verdict == "absent"
    wgmma = "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16"
    assert judge.finding(wgmma, 1, {"HMMA.BF16": 8}).verdict == "emulated"
    refused = judge.finding(S4, 1, {"IMMA.8": 2})
    assert (refused.verdict, refused.text) == (
        "refused",
        "sm_90: Feature 'y' requires .target sm_901",
    )
    assert probe_verdict.refusals("x\nerror : Feature 'z' requires .target sm_90a\n") == [
        "Feature 'z' requires .target sm_90a"
    ]


@pytest.mark.parametrize(
    ("arch", "meant"), [("sm_90", "sm_90"), ("90a", "sm_90a"), ("sm120", "sm_120")]
)
def test_arch(arch: str, meant: str) -> None:
    assert check_arch(arch) == meant


@pytest.mark.parametrize("arch", ["sm_60", "hopper", "", "sm_90b", "-arch=x"])
def test_arch_refused(arch: str) -> None:
    with pytest.raises(PortError, match="arch: expected"):
        check_arch(arch)


def test_wrong_use(tmp_path: pathlib.Path) -> None:
    with pytest.raises(PortError, match="source: expected"):
        probe(tmp_path / "missing.cu")
    with pytest.raises(PortError, match="compiler: expected auto, nvcc or nvrtc"):
        find_compiler("gcc")


@pytest.mark.parametrize("compiler", ["nvcc", "nvrtc"])
def test_int4_is_emulated_on_sm90(compiler: str, tmp_path: pathlib.Path) -> None:
    compiler_or_skip(compiler)
    source = tmp_path / "int4.cu"
    source.write_text(INT4)

    report = probe(source, "sm_90", compiler=compiler)

    (finding,) = report.emulated
    assert finding.ptx == S4
    assert finding.sass["IMMA.8"] == 2
    assert finding.sass["LOP3"] > 20 and finding.sass["SHF"] > 10
    assert "sm_90 has no IMMA.4" in finding.text
    (file,) = report.files
    assert file.compiled and file.sass["IMMA.8"] == 2 and "IMMA.4" not in file.sass
    assert S4 in report.text() and '"IMMA.8": 2' in report.to_json()


@pytest.mark.parametrize("compiler", ["nvcc", "nvrtc"])
def test_int4_is_native_on_sm80(compiler: str, tmp_path: pathlib.Path) -> None:
    compiler_or_skip(compiler)
    source = tmp_path / "int4.cu"
    source.write_text(INT4)

    report = probe(source, "sm_80", compiler=compiler)

    assert [one.verdict for one in report.findings] == ["native"]
    assert report.files[0].sass["IMMA.4"] == 1 and not report.emulated


def test_what_does_not_compile_is_tried_alone(tmp_path: pathlib.Path) -> None:
    compiler_or_skip("auto")
    (tmp_path / "a.cu").write_text('#include "missing.h"\n' + INT4)

    report = probe(tmp_path, "sm_90")

    assert not report.files[0].compiled
    assert any("missing.h" in one.what for one in report.gaps)
    (finding,) = report.emulated
    assert (finding.file, finding.line) == ("a.cu", 6)


def test_what_is_guarded_out_is_told(tmp_path: pathlib.Path) -> None:
    compiler_or_skip("nvcc")
    guarded = INT4.replace("  asm volatile", "#if __CUDA_ARCH__ >= 1000\n  asm volatile")
    guarded = guarded.replace("(factors[5]));", "(factors[5]));\n#endif")
    (tmp_path / "a.cu").write_text(guarded)

    report = probe(tmp_path, "sm_80", compiler="nvcc")

    (finding,) = report.findings
    assert "not in the PTX for sm_80" in finding.text and finding.verdict == "native"


def test_nvcc_says_why(tmp_path: pathlib.Path) -> None:
    compiler_or_skip("nvcc")
    compiler = find_compiler("nvcc")
    assert isinstance(compiler, Nvcc)
    (tmp_path / "a.cu").write_text("__global__ void k() { undeclared(); }\n")
    compiled = compiler.compile(tmp_path / "a.cu", "sm_90", (), ())
    assert not compiled.cubin and "undeclared" in compiled.said


def test_kernels_in_namespaces_by_nvrtc(tmp_path: pathlib.Path) -> None:
    compiler_or_skip("nvrtc")
    (tmp_path / "a.cu").write_text(
        "namespace a::b { __global__ void k(float* x) { x[0] = 1; } }\n"
        "template <class T> __global__ void t(T* x) { x[0] = 1; }\n"
    )
    report = probe(tmp_path / "a.cu", "sm_90", compiler="nvrtc")
    assert report.files[0].compiled and len(report.files[0].kernels) == 1


def test_completions() -> None:
    open_k = "mma.sync.aligned.m16n8k%14.row.col.s32.s4.s4.s32"
    assert probe_ptx.asked_by_source(f'void f() {{ asm("{open_k} x"); }}', "a.cu") == [
        probe_ptx.Asked(open_k, "a.cu", 1)
    ]
    assert probe_alone.completions(open_k) == [S4.replace("k64", "k32"), S4]
    assert probe_alone.completions("mma.sync.aligned.m16n8k16.row.col.f32.%14.%14.f32") == []
    assert probe_alone.completions(BF16) == [BF16]
    assert probe_ptx.may_be(open_k, S4) and not probe_ptx.may_be(open_k, BF16)


def test_a_name_that_an_operand_completes(tmp_path: pathlib.Path) -> None:
    compiler_or_skip("auto")
    source = tmp_path / "a.cu"
    source.write_text('#include "missing.h"\n' + INT4.replace("m16n8k64", "m16n8k%14"))
    (finding,) = probe(source, "sm_90").emulated
    assert "with k32 sm_90 has no IMMA.4" in finding.text
    assert "with k64 sm_90 has no IMMA.4" in finding.text
