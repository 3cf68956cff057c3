"""docs/guide says what the command does."""

import re

from conftest import SOURCE

GUIDE = SOURCE / "docs" / "guide"


def test_every_variable_is_documented():
    table = (SOURCE / "cli" / "environment.cc").read_text(encoding="utf-8")
    known = set(re.findall(r'\{"(EINKORN_[A-Z_]+)"', table))
    assert len(known) > 8
    text = (GUIDE / "environment.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"`(EINKORN_[A-Z_]+)`", text))
    assert known <= documented


def test_every_verb_is_documented(einkorn):
    text = (GUIDE / "command_line.md").read_text(encoding="utf-8")
    for verb in re.findall(r"^  ([a-z]+) ", einkorn("--help").out.split("Options:")[0], re.M):
        assert f"## {verb}" in text
        options = set(re.findall(r"--[a-z-]+", einkorn(verb, "--help").out.split("Examples:")[0]))
        section = text.split(f"## {verb}\n")[1].split("\n## ")[0]
        for option in options - {"--help", "--json"}:
            assert f"`{option}" in section, f"{verb}: {option}"


def test_every_variable_that_is_read_is_known():
    """A name in quotes, anywhere in the library, has a row in doctor's table."""
    table = (SOURCE / "cli" / "environment.cc").read_text(encoding="utf-8")
    for path in [
        *SOURCE.glob("src/**/*.cc"),
        *SOURCE.glob("cli/*.cc"),
        *SOURCE.glob("ops/**/*.cc"),
    ]:
        for name in re.findall(r'"(EINKORN_[A-Z_]*[A-Z])"', path.read_text(encoding="utf-8")):
            assert f'"{name}"' in table, f"{path}: {name}"
