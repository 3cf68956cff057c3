"""`python -m einkorn`: the command, with the variants that installed packages add."""

import sys


def main() -> int:
    from ._native import library
    from ._registry import load_entry_points

    load_entry_points()
    return int(library().command(*sys.argv[1:]))


if __name__ == "__main__":
    sys.exit(main())
