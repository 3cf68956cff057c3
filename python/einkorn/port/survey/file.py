"""survey.json as the later verbs read it."""

import json
import pathlib
from typing import Any

from einkorn.port.errors import PortError
from einkorn.port.model import SURVEY_VERSION, Survey

_HINT = "python -m einkorn.port survey <folder> --op <name> --out <folder> writes one"


def read_survey(path: pathlib.Path) -> Survey:
    """The survey in a file. PortError for one that is missing, no survey, or of another version."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PortError("survey", f"a readable file {path}", _reason(error), _HINT) from error
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PortError("survey", f"JSON in {path}", str(error), _HINT) from error
    if not isinstance(data, dict) or not isinstance(data.get("entry"), str):
        raise PortError("survey", f"an object with an entry in {path}", "none", _HINT)
    version = data.get("version", SURVEY_VERSION)
    if version != SURVEY_VERSION:
        raise PortError("survey", f"version {SURVEY_VERSION} in {path}", repr(version), _HINT)
    try:
        return Survey.from_json(text)
    except (KeyError, TypeError, AttributeError) as error:
        got = f"one without {error}" if isinstance(error, KeyError) else str(error)
        raise PortError("survey", f"all fields of a survey in {path}", got, _HINT) from error


def _reason(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
