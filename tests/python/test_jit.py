"""einkorn.jit: sources to kernels, on machines without a GPU as far as that goes."""

import pathlib
import threading
import uuid
from typing import Any

import pytest
from interpreter import counted_while, works
from jit_sources import ADD_CONSTANT, SOURCE, cpu, jit

np = pytest.importorskip("numpy")


def fresh(text: str) -> str:
    """A source that no cache has."""
    return f"{text}\n// {uuid.uuid4()}\n"


# Template arguments.


def test_template_arguments_from_values() -> None:
    assert jit.template("k", 4, True, "f32") == "k<4, true, float>"
    assert jit.template("ns::k", -1, None, "bf16") == "ns::k<-1, einkorn::none, einkorn::bf16>"
    assert jit.template("k") == "k"
    assert jit.template("k", "unsigned int", "float") == "k<unsigned int, float>"
    assert jit.template("k", np.int64(3), np.bool_(False)) == "k<3, false>"


@pytest.mark.parametrize("dtype", ["f32", np.float32, np.dtype("float32")])
def test_dtypes_are_taken_as_objects_and_names(dtype: Any) -> None:
    assert jit.template("k", dtype) == "k<float>"


def test_dtypes_of_frameworks() -> None:
    torch = pytest.importorskip("torch")
    assert jit.template("k", torch.bfloat16, torch.int64) == "k<einkorn::bf16, einkorn::i64>"
    assert jit.template("k", torch.float8_e4m3fn) == "k<einkorn::f8e4m3>"
    jnp = pytest.importorskip("jax.numpy")
    assert jit.template("k", jnp.bfloat16, jnp.dtype("int8")) == "k<einkorn::bf16, einkorn::i8>"


@pytest.mark.parametrize("text", ["", "a, b", "f(", "x;y", '"'])
def test_a_text_that_is_no_template_argument(text: str) -> None:
    with pytest.raises(ValueError, match="template argument"):
        jit.template("k", text)


@pytest.mark.parametrize("value", [0.5, [1], int, object()])
def test_a_value_that_is_no_template_argument(value: Any) -> None:
    with pytest.raises(
        TypeError, match="template argument 1 of k: expected a bool, an int, a dtype"
    ):
        jit.template("k", value)


def test_a_dtype_without_a_type_in_device_code() -> None:
    with pytest.raises(ValueError, match=r"got i4|expected"):
        jit.template("k", np.dtype("uint16"))


# Compiling for a GPU that is not here.


def test_facts_without_a_gpu() -> None:
    compiled = jit.compile(
        "add",
        cuda=ADD_CONSTANT,
        entry=["add_constant<float, 1>", "add_constant<int, 4>"],
        arch="sm_90a",
    )
    assert compiled.target == "cuda" and compiled.compiler.startswith("nvrtc")
    assert [one.expression for one in compiled.entries] == [
        "add_constant<float, 1>",
        "add_constant<int, 4>",
    ]
    first = compiled.entries[0]
    assert 4 <= first.registers <= 64 and first.spills == 0 and first.static_smem == 0
    assert first.lowered.startswith("_Z")
    assert compiled.image[:4] == b"\x7fELF" and len(compiled.key) == 64
    types = [one.type for one in compiled.parameters("add_constant<float, 1>")]
    assert types == ["float*", "float const*", "int"]
    with pytest.raises(ValueError, match="expected one of 2 named"):
        compiled.parameters()


def test_static_shared_memory_is_counted(tmp_path: pathlib.Path) -> None:
    source = "__global__ void k(float* x) { __shared__ float s[100]; s[threadIdx.x] = *x; "
    source += "__syncthreads(); *x = s[0]; }"
    compiled = jit.compile("k", cuda_source=source, entry="k", arch="sm_80")
    assert compiled.entries[0].static_smem == 400
    compiled.save(tmp_path / "k.cubin")
    assert (tmp_path / "k.cubin").read_bytes() == compiled.image


def test_template_of_load_is_the_expression() -> None:
    one = jit.load(
        "add", cuda=ADD_CONSTANT, entry="add_constant", template=(np.int32, 4), arch="sm_90a"
    )
    assert one.entry.expression == "add_constant<int, 4>"
    assert [parameter.only_read for parameter in one.parameters] == [False, True, False]


def test_the_same_arguments_give_the_same_object() -> None:
    def load(**more: Any) -> Any:
        settings = {"entry": "add_constant<int, 4>", "arch": "sm_90a", **more}
        return jit.load("add", cuda=ADD_CONSTANT, **settings)

    first = load()
    before = jit.compile_count()
    assert load() is first
    assert load(options=[]) is first and load(arch="sm_90a") is first
    assert jit.compile_count() == before
    assert load(arch="sm_80") is not first
    assert load(entry="add_constant<int, 5>") is not first


def test_a_changed_file_is_read_after_forget(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "k.cc"
    file.write_text(fresh("void k(int* x) { *x = 1; }"))
    out = np.zeros(1, np.int32)
    first = jit.load("k", cpp=file, entry="k")
    first(out)
    assert out[0] == 1
    file.write_text(fresh("void k(int* x) { *x = 2; }"))
    assert jit.load("k", cpp=file, entry="k") is first
    jit.forget()
    second = jit.load("k", cpp=str(file), entry="k")
    assert second is not first
    second(out)
    assert out[0] == 2
    first(out)  # still good
    assert out[0] == 1


def test_a_relative_path_is_of_the_working_folder(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = np.zeros(1, np.int32)
    for value in (1, 2):
        folder = tmp_path / str(value)
        folder.mkdir()
        (folder / "value.h").write_text(f"constexpr int kValue = {value};")
        (folder / "k.cc").write_text('#include "value.h"\nvoid k(int* x) { *x = kValue; }')
        monkeypatch.chdir(folder)
        jit.load("k", cpp="k.cc", entry="k")(out)
        assert out[0] == value


# Errors of sources.


def test_an_error_of_a_source_names_file_and_line() -> None:
    source = "template <class T>\n__global__ void k(T* x) {\n  *x = nowhere;\n}\n"
    with pytest.raises(RuntimeError, match=r"bad\.cu\(3\)") as caught:
        jit.load("bad", cuda_source=source, entry="k<float>", arch="sm_90a")
    assert "nowhere" in str(caught.value) and "log" in str(caught.value)
    with pytest.raises(RuntimeError, match="nowhere"):
        jit.compile("bad", cuda_source=source, entry="k<float>", arch="sm_90a")


def test_an_error_of_a_cpu_source_and_of_its_entry() -> None:
    with pytest.raises(RuntimeError, match=r"bad\.cc\(1\)"):
        jit.load("bad", cpp_source="void k() { nowhere(); }", entry="k")
    with pytest.raises(RuntimeError, match="missing"):
        cpu("missing")
    with pytest.raises(RuntimeError, match="a kernel returns void"):
        cpu("returns")


def test_what_is_asked_for_wrongly() -> None:
    with pytest.raises(TypeError, match=r"expected one of cuda, .* got none"):
        jit.load("k", entry="k")
    with pytest.raises(TypeError, match="got cuda_source and cpp_source"):
        jit.load("k", cuda_source="", cpp_source="", entry="k")
    with pytest.raises(TypeError, match="entry: expected the expression"):
        jit.load("k", cuda=ADD_CONSTANT)
    with pytest.raises(TypeError, match="options: expected a list"):
        jit.load("k", cuda=ADD_CONSTANT, entry="k", options="-G")
    with pytest.raises(ValueError, match="expected a file or an embedded source"):
        jit.load("k", cuda="no/such/file.cuh", entry="k", arch="sm_90a")
    with pytest.raises(ValueError, match="compiler: expected one of"):
        jit.load("k", cuda=ADD_CONSTANT, entry="k", arch="sm_90a", compiler="icc")
    with pytest.raises(ValueError, match="sm_12"):
        jit.load("add", cuda=ADD_CONSTANT, entry="add_constant<int, 4>", arch="sm_12")


# Threads.


@pytest.mark.parametrize("target", ["cuda", "cpp"])
def test_the_lock_is_released_while_a_compiler_runs(target: str) -> None:
    text = fresh("#include <vector>\nvoid k(int* x) { *x = 1; }")
    settings: dict[str, Any] = {"cpp_source": text}
    if target == "cuda":
        text = fresh("__global__ void k(int* x) { *x = 1; }")
        settings = {"cuda_source": text, "arch": "sm_90a"}
    assert counted_while(lambda: jit.compile("k", entry="k", **settings)) > 20_000


def test_threads_that_want_one_kernel_compile_it_once() -> None:
    source = fresh("__global__ void k(int* x) { *x = 1; }")
    before, found, barrier = jit.compile_count(), [], threading.Barrier(8)

    def work() -> None:
        barrier.wait()
        found.append(jit.load("k", cuda_source=source, entry="k", arch="sm_90a"))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(one) for one in found}) == 1 and len(found) == 8
    assert jit.compile_count() == before + 1


def test_the_module_is_light_and_the_example_runs() -> None:
    works(
        "-c",
        "import sys, einkorn.jit; assert not {'torch', 'numpy', 'tvm_ffi'} & set(sys.modules)",
    )
    assert "registers" in works(str(SOURCE / "examples" / "python" / "jit_add_constant.py"))
