"""Every public header and every contract compiles alone."""

import concurrent.futures
import os
import subprocess

from building import CXX, SOURCE, compile_flags
from lint.tree import Tree


def check(name: str) -> tuple[str, str]:
    command = [CXX, "-x", "c++", "-fsyntax-only", *compile_flags(), "-"]
    source = f'#include "{name}"\n#include "{name}"\n'  # twice: it guards itself
    done = subprocess.run(command, input=source, capture_output=True, text=True, cwd=SOURCE)
    return name, "" if done.returncode == 0 else done.stderr


def test_headers_compile_alone():
    tree = Tree(SOURCE)
    names = [name.removeprefix("include/") for name in tree.matching(".h", under="include/")]
    names += tree.matching("/contract.h", under="ops/")
    assert len(names) > 10
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = [f"{name}:\n{text}" for name, text in pool.map(check, names) if text]
    assert not failed, "\n".join(failed)
