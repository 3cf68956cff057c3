"""migration.toml: the decisions behind a port, written down before the port is begun.

`write` asks, a person answers in the file, `read` reads the answers, and `require_answered` keeps
later steps from starting without them. The file is written by hand rather than by a library, since
its comments are half of it: each question says why it is asked and what the survey found.
"""

import dataclasses
import json
import pathlib
import re
import textwrap
import tomllib
from typing import Any

from einkorn.port.errors import PortError
from einkorn.port.migration.questions import (
    DTYPES,
    ROLES,
    UNANSWERED,
    ArgumentQuestion,
    Question,
    arguments_of,
    questions,
)
from einkorn.port.model import Survey

VERSION = 1
_WIDTH = 98

_HEAD = """\
# Decisions for the port of {entry}.
#
# Every "{unanswered}" has to be replaced before the port is scaffolded: what only a person can
# decide is not guessed. What is filled in already is what the survey found; change it where it is
# not what you want. Lines that begin with "found" are facts from the survey, for the answer.
"""

_ARGUMENTS = f"""\
# What each argument of the original is here: {", ".join(ROLES)}.
# An inout becomes an input and an output that may be the same memory. Dropped are those that this
# library has other means for, such as streams and workspaces, or that are not brought over.
"""


@dataclasses.dataclass
class Migration:
    entry: str
    answers: dict[str, Any]  # by Question.name; UNANSWERED where there is no answer
    arguments: list[ArgumentQuestion]
    path: pathlib.Path

    def text(self, name: str) -> str:
        return str(self.answers[name])

    def texts(self, name: str) -> list[str]:
        return list(self.answers[name])

    def pairs(self, name: str) -> dict[str, str]:
        """Of a list of {from, to}: to by from."""
        return {one["from"]: one["to"] for one in self.answers[name]}


def write(survey: Survey, path: pathlib.Path, *, force: bool = False) -> None:
    """Writes the questions of a survey. PortError where the file is: it may hold answers."""
    if path.exists() and not force:
        raise PortError(
            "migration",
            "no such file yet",
            f"{path}",
            "its answers would be lost; name another, or --force",
        )
    text = to_text(survey)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def to_text(survey: Survey) -> str:
    """migration.toml for a survey."""
    out = [_HEAD.format(entry=_one_line(survey.entry), unanswered=UNANSWERED)]
    out.append(f"version = {VERSION}\nentry = {_toml(survey.entry)}\n")
    table = ""
    for question in questions(survey):
        if question.table != table:
            table = question.table
            out.append(f"[{table}]")
        out.append(_asked(question))
    out.append(_ARGUMENTS.rstrip("\n"))
    for argument in arguments_of(survey):
        out.append(
            f"[[argument]]\nsource = {_toml(argument.source)}\ntype = {_toml(argument.type)}\n"
            f"role = {_toml(argument.role)}\n"
        )
    return "\n".join(out).rstrip("\n") + "\n"


def _asked(question: Question) -> str:
    lines = textwrap.wrap(question.text, _WIDTH, break_on_hyphens=False)
    if question.choices:
        lines.append(f"One of: {', '.join(question.choices)}.")
    for fact in question.facts:
        lines += textwrap.wrap(f"found: {_one_line(fact)}", _WIDTH, subsequent_indent="  ")
    comment = "\n".join(f"# {line}" for line in lines)
    return f"{comment}\n{question.key} = {_toml(question.answer)}\n"


def _one_line(text: str) -> str:
    """Without what a TOML comment may not have."""
    plain = re.sub(r"[\x00-\x1f\x7f]", " ", text).encode("utf-8", "replace").decode()
    return " ".join(plain.split())


def _toml(value: Any) -> str:
    if isinstance(value, list):
        if not value:
            return "[]"
        return "[\n" + "".join(f"  {_toml(one)},\n" for one in value) + "]"
    text = json.dumps(str(value).encode("utf-8", "replace").decode(), ensure_ascii=False)
    return text.replace("\x7f", "\\u007f")


def read(path: pathlib.Path) -> Migration:
    """The answers in a file, checked for form. PortError names what is wrong; what is unanswered
    or missing stays UNANSWERED.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        hint = "python -m einkorn.port plan writes one"
        raise PortError(
            "migration", f"a readable file {path}", str(error.strerror), hint
        ) from error
    except ValueError as error:  # UnicodeDecodeError, TOMLDecodeError
        raise PortError("migration", f"TOML in {path}", str(error)) from error
    if data.pop("version", None) != VERSION:
        raise PortError("migration", f"version = {VERSION} in {path}", "another or none")
    entry = data.pop("entry", "")
    if not isinstance(entry, str):
        raise PortError("migration: entry", "a text", repr(entry))
    arguments = _arguments(data.pop("argument", []))
    answers: dict[str, Any] = {}
    for question in questions(Survey(entry)):
        table = data.get(question.table, {})
        if not isinstance(table, dict):
            raise PortError(f"migration: {question.table}", "a table", repr(table))
        answers[question.name] = _answer(question, table.pop(question.key, UNANSWERED))
    left = [
        f"{table}.{key}" if isinstance(value, dict) else table
        for table, value in data.items()
        for key in (value if isinstance(value, dict) else [""])
    ]
    if left:
        raise PortError("migration", "questions that are asked", ", ".join(left), "a typing error?")
    return Migration(entry, answers, arguments, path)


def _arguments(data: Any) -> list[ArgumentQuestion]:
    if not isinstance(data, list) or not all(isinstance(one, dict) for one in data):
        raise PortError("migration: argument", "tables [[argument]]", repr(data))
    out: list[ArgumentQuestion] = []
    for one in data:
        source, role = one.get("source", ""), one.get("role", UNANSWERED)
        if not isinstance(source, str) or not re.fullmatch(r"[A-Za-z_]\w*", source):
            raise PortError("migration: argument.source", "a name", repr(source))
        if source in (other.source for other in out):
            raise PortError("migration: argument.source", "a name once", f"{source} twice")
        if role not in (*ROLES, UNANSWERED):
            raise PortError(
                f"migration: role of {source}", f"one of {', '.join(ROLES)}", repr(role)
            )
        out.append(ArgumentQuestion(source, str(one.get("type", "")), role))
    return out


def _answer(question: Question, value: Any) -> Any:
    """The value, UNANSWERED for one that says nothing; PortError for one of another form."""
    who = f"migration: {question.name}"
    if value in (UNANSWERED, "") or (isinstance(value, list) and UNANSWERED in value):
        return UNANSWERED
    if question.form == "texts":
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise PortError(who, "a list of texts", repr(value))
        _check_words(question, value)
        return value
    if question.form == "pairs":
        keys = {"from", "to"}
        if not isinstance(value, list) or not all(
            isinstance(one, dict) and set(one) == keys and all(map(_is_text, one.values()))
            for one in value
        ):
            raise PortError(who, "a list of {from = ..., to = ...}", repr(value))
        if any(UNANSWERED in one.values() for one in value):
            return UNANSWERED
        return value
    if not isinstance(value, str):
        raise PortError(who, "a text", repr(value))
    if question.form == "word" and not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", value):
        raise PortError(who, "a snake_case word, such as layer_norm", repr(value))
    if question.choices and value not in question.choices:
        raise PortError(who, f"one of {', '.join(question.choices)}", repr(value))
    return value


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _check_words(question: Question, values: list[str]) -> None:
    if question.name == "support.dtypes":
        for one in values:
            if one not in DTYPES:
                raise PortError("migration: support.dtypes", f"one of {', '.join(DTYPES)}", one)
    if question.name == "support.arches":
        for one in values:
            if not re.fullmatch(r"[a-z][a-z0-9]*", one):
                raise PortError("migration: support.arches", "an arch, such as cpu or sm90", one)


def unanswered(migration: Migration) -> list[str]:
    """Names of what has no answer, in the order of the file."""
    names = [name for name, value in migration.answers.items() if value == UNANSWERED]
    return names + [f"argument.{a.source}" for a in migration.arguments if a.role == UNANSWERED]


def require_answered(migration: Migration) -> None:
    """PortError that names each question without an answer."""
    names = unanswered(migration)
    if names:
        raise PortError(
            "migration",
            "an answer to every question",
            f"{len(names)} unanswered: {', '.join(names)}",
            f"answer them in {migration.path}; [] says none",
        )
