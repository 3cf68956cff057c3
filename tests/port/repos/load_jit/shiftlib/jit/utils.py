"""Compiles a CUDA file once for each list of template arguments."""

import functools
import pathlib

import tvm_ffi.cpp

FOLDER = pathlib.Path(__file__).parent

cache_once = functools.cache


def make_cpp_args(*values) -> str:
    return ", ".join(str(value) for value in values)


def load_jit(name, *args, cuda_files, cuda_wrappers):
    exports = [f"TVM_FFI_DLL_EXPORT_TYPED_FUNC({to}, ({what}));" for to, what in cuda_wrappers]
    sources = [f'#include "{FOLDER / "csrc" / file}"' for file in cuda_files]
    return tvm_ffi.cpp.load_inline(
        "_".join([name, *map(str, args)]), cuda_sources="\n".join(sources + exports)
    )
