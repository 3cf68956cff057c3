"""The verbs of `einkorn port`. What a verb needs is imported when it runs."""

import argparse
import dataclasses
import gc
import pathlib
import re
import sys
from collections.abc import Callable

from einkorn.port.errors import PortError


@dataclasses.dataclass(frozen=True)
class Verb:
    name: str
    summary: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]

    def add_to(self, verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
        """Makes the verb known to the command's parser."""
        parser = verbs.add_parser(self.name, help=self.summary, description=self.summary)
        self.arguments(parser)
        parser.set_defaults(run=self.run)


def _survey_arguments(parser: argparse.ArgumentParser) -> None:
    _repository(parser)
    parser.add_argument(
        "--out", type=pathlib.Path, help="folder for survey.json and survey.md (port/<op>)"
    )


def _repository(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("repository", type=pathlib.Path, help="the folder of the sources")
    parser.add_argument(
        "--op", required=True, help="a function, Python or C++, qualified or not, or a file"
    )
    parser.add_argument(
        "-I",
        "--include",
        action="append",
        default=[],
        metavar="DIR",
        help="an include folder, from the repository's root; may be given again",
    )


def _survey(options: argparse.Namespace) -> int:
    from einkorn.port.survey.assemble import survey, write

    # Nearly all that a survey makes is kept to its end: collecting often finds nothing.
    gc.set_threshold(200_000, 20, 20)
    found = survey(options.repository, options.op, options.include, progress=_say)
    out = options.out or pathlib.Path("port") / _folder_name(options.op)
    written = write(found, out)
    print(
        f"{len(found.registrations)} registrations, {len(found.call_chain)} steps, "
        f"{len(found.launches)} launches, {len(found.closure.files)} files with "
        f"{found.closure.lines} lines, {len(found.contracts)} contracts of which "
        f"{len(found.hidden)} hidden, {len(found.tests)} tests, {len(found.gaps)} gaps"
    )
    print("\n".join(str(one) for one in written))
    return 0


def _folder_name(op: str) -> str:
    words = re.findall(r"\w+", op.removesuffix(".py"))
    return words[-1] if words else "op"


def _say(text: str) -> None:
    print(f"port: {text}", file=sys.stderr, flush=True)


def _plan_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("survey", type=pathlib.Path, help="survey.json, or the folder that has it")
    parser.add_argument(
        "--out", type=pathlib.Path, help="the file to write (migration.toml beside the survey)"
    )
    parser.add_argument("--force", action="store_true", help="write over a file with answers")


def _plan(options: argparse.Namespace) -> int:
    from einkorn.port.migration import answers as migration
    from einkorn.port.survey.file import read_survey

    survey = _in_folder(options.survey, "survey.json")
    out = options.out or survey.with_name("migration.toml")
    migration.write(read_survey(survey), out, force=options.force)
    open_ones = migration.unanswered(migration.read(out))
    print(f"{out}: {len(open_ones)} unanswered: {', '.join(open_ones) or 'none'}")
    return 0


def _in_folder(path: pathlib.Path, name: str) -> pathlib.Path:
    return path / name if path.is_dir() else path


def _scaffold_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("survey", type=pathlib.Path, help="survey.json, or the folder that has it")
    parser.add_argument(
        "--migration", type=pathlib.Path, help="the answers (migration.toml beside the survey)"
    )
    parser.add_argument(
        "--out", type=pathlib.Path, default=pathlib.Path("."), help="the root of the tree (.)"
    )
    parser.add_argument("--upstream", type=pathlib.Path, help="the surveyed repository, to hash")
    parser.add_argument("--force", action="store_true", help="write over files that are there")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be written")


def _scaffold(options: argparse.Namespace) -> int:
    from einkorn.port.scaffold.files import scaffold

    survey = _in_folder(options.survey, "survey.json")
    made = scaffold(
        survey,
        options.migration or survey.with_name("migration.toml"),
        options.out,
        upstream=options.upstream,
        force=options.force,
        dry_run=options.dry_run,
    )
    print("\n".join(made.files))
    for title, lines in (("left to you", made.notes), ("next", made.next)):
        if lines:
            print(f"\n{title}:\n" + "\n".join(f"  {one}" for one in lines))
    return 0


def _closure_arguments(parser: argparse.ArgumentParser) -> None:
    _repository(parser)
    parser.add_argument("--emit", type=pathlib.Path, required=True, help="the folder to make")
    parser.add_argument("--write", action="store_true", help="write it; without, only the plan")
    parser.add_argument(
        "--namespace",
        action="append",
        default=[],
        metavar="OLD=NEW",
        help="renames a namespace, token by token; may be given again",
    )
    parser.add_argument("--prune", action="store_true", help="blank what the entry doesn't reach")
    parser.add_argument("--force", action="store_true", help="write over files that aren't ours")


def _closure(options: argparse.Namespace) -> int:
    from einkorn.port.emit.unit import emit

    names: dict[str, str] = {}
    for one in options.namespace:
        old, equals, new = one.partition("=")
        if not (old and equals and new):
            raise PortError("namespace", "OLD=NEW", f"'{one}'")
        names[old] = new
    report = emit(
        options.repository,
        options.op,
        options.emit,
        names,
        write=options.write,
        prune=options.prune,
        force=options.force,
        include_dirs=options.include,
    )
    print(report.text(), end="")
    return 0


def _probe_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", type=pathlib.Path, help="a .cu file, or a folder of them")
    parser.add_argument("--arch", default="sm_90", help="what to compile for (sm_90)")
    parser.add_argument("-I", "--include", action="append", type=pathlib.Path, default=[])
    parser.add_argument(
        "--option", action="append", default=[], help="one for the compiler; may be given again"
    )
    parser.add_argument("--compiler", default="auto", choices=("auto", "nvcc", "nvrtc"))
    parser.add_argument("--json", action="store_true", help="print JSON")


def _probe(options: argparse.Namespace) -> int:
    from einkorn.port.probe.report import probe

    report = probe(
        options.source,
        options.arch,
        include_dirs=options.include,
        options=options.option,
        compiler=options.compiler,
    )
    print(report.to_json() if options.json else report.text(), end="")
    return 0


def _verify_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ops", nargs="*", help="the ops to look at (all)")
    parser.add_argument(
        "--root", type=pathlib.Path, default=pathlib.Path("."), help="the root of the tree (.)"
    )
    parser.add_argument(
        "--upstream", type=pathlib.Path, help="the repository ported from, to tell what changed"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def _verify(options: argparse.Namespace) -> int:
    from einkorn.port.verify.lint import verify

    report = verify(options.root, options.ops, options.upstream)
    print(report.to_json() if options.json else report.text(), end="")
    return 0 if report.ok else 1


VERBS = (
    Verb(
        "survey",
        "Follows an operator to its launches: contracts, closure, state, tests, gaps.",
        _survey_arguments,
        _survey,
    ),
    Verb(
        "plan",
        "Writes the questions of a migration, answered where facts allow.",
        _plan_arguments,
        _plan,
    ),
    Verb(
        "scaffold",
        "Makes the op's folder and its tests from the answers.",
        _scaffold_arguments,
        _scaffold,
    ),
    Verb(
        "verify",
        "Lints ops: registry, layers of tests, contract rows without a test, drift.",
        _verify_arguments,
        _verify,
    ),
    Verb("closure", "Writes the closure as a unit that compiles.", _closure_arguments, _closure),
    Verb(
        "probe", "Compiles sources and tells which instructions they use.", _probe_arguments, _probe
    ),
)
