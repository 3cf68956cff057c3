"""`python -m einkorn`: the command, with variants written in Python.

    python -m einkorn --import my_kernels check rms_norm/python/mine_v1

imports modules that register variants, before the verb. Those of installed packages are there
without it (the entry points of the group einkorn.variants).
"""

import importlib
import sys


def main() -> int:
    words = sys.argv[1:]
    if words[:1] == ["port"]:
        from .port.__main__ import main as port

        return port(words[1:])
    from ._native import library
    from ._registry import load_entry_points

    own = [sys.executable, "-m", "einkorn"]
    # As `python -m` has it: a module may lie where one is.
    if "" not in sys.path:
        sys.path.insert(0, "")
    load_entry_points()
    while words[:1] == ["--import"] and len(words) > 1:
        importlib.import_module(words[1])
        own += words[:2]
        words = words[2:]
    library().set_self_command(*own)
    return int(library().command(*words))


if __name__ == "__main__":
    sys.exit(main())
