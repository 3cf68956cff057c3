"""`python -m einkorn.port <verb>`; `einkorn port <verb>` is the same.

Exit status: 0 done, 1 findings of verify, 2 a request that cannot be served.
"""

import argparse
import sys
from collections.abc import Sequence

from einkorn.port.commands import VERBS
from einkorn.port.errors import PortError


def main(words: Sequence[str] | None = None) -> int:
    """Runs one verb; errors of use go to the standard error."""
    parser = _parser()
    options = parser.parse_args(words)
    try:
        return int(options.run(options))
    except PortError as error:
        print(f"einkorn: error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, such as head, has what it wants
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="einkorn port",
        description="Brings an operator over from another repository without losing its meaning.",
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="<verb>")
    for verb in VERBS:
        verb.add_to(verbs)
    return parser


if __name__ == "__main__":
    sys.exit(main())
