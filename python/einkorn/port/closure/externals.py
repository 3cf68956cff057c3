"""Which package a header belongs to that the surveyed tree does not hold itself."""

import posixpath
import re

from einkorn.port.cpp.tokens import names
from einkorn.port.sources.tree import SourceTree

# By the first folder of an include's name.
_FOLDERS = {
    "ATen": "torch",
    "c10": "torch",
    "caffe2": "torch",
    "torch": "torch",
    "cute": "cutlass",
    "cutlass": "cutlass",
    "cub": "cccl",
    "thrust": "cccl",
    "cuda": "cccl",
    "nv": "cccl",
    "cooperative_groups": "cuda",
    "crt": "cuda",
    "tvm": "tvm-ffi",
    "dlpack": "dlpack",
    "pybind11": "pybind11",
    "nanobind": "nanobind",
    "nvtx3": "nvtx",
    "hip": "hip",
    "rocwmma": "rocwmma",
    "ck": "composable_kernel",
    "boost": "boost",
    "Eigen": "eigen",
    "gtest": "googletest",
    "gmock": "googletest",
    "nlohmann": "nlohmann_json",
    "sys": "",
    "experimental": "",
}
# By the whole name, where it has no folder.
_HEADERS = [
    (r"cublas\w*\.h", "cublas"),
    (r"cudnn\w*\.h", "cudnn"),
    (r"cusparse\w*\.h", "cusparse"),
    (r"cusolver\w*\.h", "cusolver"),
    (r"cufft\w*\.h", "cufft"),
    (r"curand\w*\.h", "curand"),
    (r"nccl\w*\.h", "nccl"),
    (r"nvshmem\w*\.h", "nvshmem"),
    (r"nvrtc\.h|nvJitLink\.h|nvml\.h", "cuda"),
    (r"cuda\w*\.(h|hpp|inl)", "cuda"),
    (r"(cooperative_groups|mma|vector_types|vector_functions|device_launch_parameters)\.h", "cuda"),
    (
        r"(device_functions|driver_types|sm_\w+|math_constants|host_defines|texture\w*)\.h\w*",
        "cuda",
    ),
    (r"Python\.h|structmember\.h", "python"),
    (r"mpi\.h", "mpi"),
    (r"omp\.h", "openmp"),
]
_HEADER_OF = re.compile("|".join(f"(?P<p{at}>{one})" for at, (one, _) in enumerate(_HEADERS)))
# ISO C and POSIX headers; those of C++ have no ending.
_C_HEADERS = names(
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal"
    " stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath"
    " threads time uchar wchar wctype unistd fcntl dlfcn pthread sched semaphore dirent memory"
    " malloc alloca execinfo cxxabi immintrin x86intrin xmmintrin emmintrin arm_neon getopt"
    " poll netdb"
)
_VENDOR_FOLDER = re.compile(
    r"(?:^|.*?/)(?:third[_-]?party|3rd[_-]?party|vendor|external|extern|submodules|deps)/([^/]+)/"
)


def package_of(include: str) -> str:
    """The package that brings the header, "" where it is not known."""
    folder, _, rest = include.partition("/")
    if rest:
        return _FOLDERS.get(folder, "")
    found = _HEADER_OF.fullmatch(include)
    return _HEADERS[int((found.lastgroup or "p0")[1:])][1] if found else ""


def is_standard(include: str) -> bool:
    """Whether the header is of the C or C++ standard library, or of POSIX."""
    stem, dot, ending = include.partition(".")
    if not dot:
        return "/" not in include or include.startswith("experimental/")
    return (ending == "h" and stem in _C_HEADERS) or include.startswith(("sys/", "netinet/"))


def first_component(include: str) -> str:
    """The name under which a header of an unknown package is listed."""
    plain = posixpath.normpath(include)
    while plain.startswith("../"):
        plain = plain[3:]
    return plain.partition("/")[0]


class Vendored:
    """Copies of other projects inside the tree: submodules and folders such as third_party.

    They are external, unless the entry itself lies in them.
    """

    def __init__(self, sources: SourceTree, entries: list[str]) -> None:
        modules = sources.text(".gitmodules") if ".gitmodules" in sources.files else ""
        paths: list[str] = re.findall(r"^\s*path\s*=\s*/?(\S+?)/*$", modules, re.MULTILINE)
        self._modules: list[str] = [
            one for one in paths if not any(_below(file, one) for file in entries)
        ]
        found = [_VENDOR_FOLDER.match(file) for file in entries]
        self._own = {one[0] for one in found if one is not None}

    def package(self, file: str) -> str:
        """The name of the vendored project that a file of the tree belongs to, "" for none."""
        for module in self._modules:
            if _below(file, module):
                return posixpath.basename(module)
        found = _VENDOR_FOLDER.match(file)
        return str(found[1]) if found and found[0] not in self._own else ""


def _below(file: str, folder: str) -> bool:
    return file.startswith(folder + "/")
