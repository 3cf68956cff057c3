"""A survey as a page to read."""

from collections.abc import Iterable, Sequence

from einkorn.port.model import Contract, Survey

_LONGEST = 140  # characters of an expression in a table; the whole is in survey.json


def page(survey: Survey) -> str:
    """The survey in Markdown: what to know first comes first."""
    parts = [
        _head(survey),
        _registrations(survey),
        _chain(survey),
        _launches(survey),
        _hidden(survey),
        _contracts(survey),
        _closure(survey),
        _surroundings(survey),
        _tests(survey),
        _gaps(survey),
    ]
    return "\n\n".join(one for one in parts if one) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; "" without rows."""
    lines = ["| " + " | ".join(_cell(str(one)) for one in row) + " |" for row in rows]
    if not lines:
        return ""
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *lines])


def _cell(text: str) -> str:
    short = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return short.replace("|", "\\|").replace("\n", " ")


def _code(text: str) -> str:
    """Verbatim, cut before the backticks so that the closing one stays."""
    if not text:
        return ""
    short = text if len(text) <= _LONGEST - 4 else text[: _LONGEST - 5] + "…"
    return f"`` {short} ``" if "`" in short else f"`{short}`"


def _section(title: str, body: str, otherwise: str) -> str:
    return f"## {title}\n\n{body or otherwise}"


def _head(survey: Survey) -> str:
    repository = survey.repository
    closure = survey.closure
    asserted = [one for one in survey.contracts if one.side == "launcher"]
    public = len(survey.contracts) - len(asserted)
    lines = [
        f"# Survey of {survey.entry}",
        "",
        f"- Repository: {repository.get('url') or 'without a recorded address'}",
        f"- Commit: {repository.get('commit') or 'unknown'}",
        f"- Licence: {repository.get('licence') or 'none found: ask its authors before porting'}",
        f"- Closure: {len(closure.files)} files, {closure.lines} lines",
        f"- Requirements: {len(asserted)} on the launch path, {public} checked by the public side, "
        f"{len(survey.hidden)} hidden",
        f"- Gaps: {len(survey.gaps)}",
    ]
    return "\n".join(lines)


def _registrations(survey: Survey) -> str:
    rows = [
        (one.kind, _code(one.public_name), _code(one.symbol), f"{one.file}:{one.line}")
        for one in survey.registrations
    ]
    body = table(("kind", "public name", "leads to", "where"), rows)
    return _section("Registrations", body, "None on the way: the entry is called as it is.")


def _chain(survey: Survey) -> str:
    lines = [
        f"{'  ' * one.depth}- `{one.symbol}` ({one.file}:{one.line})"
        + (f", called at line {one.called_at}" if one.called_at else "")
        for one in survey.call_chain
    ]
    return _section("Call chain", "\n".join(lines), "Nothing was followed.")


def _launches(survey: Survey) -> str:
    blocks = []
    for one in survey.launches:
        lines = [
            f"- {_code(one.kernel)} at {one.file}:{one.line}",
            f"  - grid {_code(one.grid)}, block {_code(one.block)}, shared {_code(one.shared)}, "
            f"stream {_code(one.stream) or 'the default one'}",
        ]
        lines += [f"  - attribute {_code(attribute)}" for attribute in one.attributes]
        blocks.append("\n".join(lines))
    return _section("Launches", "\n".join(blocks), "None found.")


def _rows(contracts: list[Contract]) -> list[tuple[str, ...]]:
    return [
        (
            _code(one.argument),
            one.property,
            _code(one.condition),
            _code(one.when),
            one.form,
            f"{one.file}:{one.line}",
        )
        for one in contracts
    ]


_HEAD = ("argument", "property", "has to hold", "if", "stated by", "where")


def _hidden(survey: Survey) -> str:
    ordered = sorted(survey.hidden, key=lambda one: (one.argument == "", one.argument))
    body = table(_HEAD, _rows(ordered))
    note = "What the launch path requires and the public side does not check.\n\n" if body else ""
    return _section("Hidden requirements", note + body, "None: the public side states them all.")


def _contracts(survey: Survey) -> str:
    by_file: dict[str, int] = {}
    for one in survey.contracts:
        by_file[f"{one.side}, {one.file}"] = by_file.get(f"{one.side}, {one.file}", 0) + 1
    counts = "\n".join(f"- {place}: {count}" for place, count in by_file.items())
    hidden = set(survey.hidden)
    others = [one for one in survey.contracts if one not in hidden]
    body = table(("side", *_HEAD), [(one.side, *_rows([one])[0]) for one in others])
    text = f"{counts}\n\n{body or 'All of them are hidden ones.'}" if counts else ""
    return _section("Other requirements", text, "No requirement was found.")


def _closure(survey: Survey) -> str:
    rows = [
        (
            one.path,
            one.lines,
            one.used,
            ", ".join(one.unused[:6])
            + (f" and {len(one.unused) - 6} more" * (len(one.unused) > 6)),
        )
        for one in survey.closure.files
    ]
    body = table(("file", "lines", "of them reached", "not reached"), rows)
    external = ", ".join(survey.closure.external) or "none"
    licences = table(
        ("file", "licence"),
        [(one.get("path", ""), one.get("spdx", "")) for one in survey.closure.licences],
    )
    tail = f"External packages: {external}." + (f"\n\n{licences}" if licences else "")
    return _section("Closure", f"{body}\n\n{tail}" if body else "", f"No file of C++. {tail}")


def _surroundings(survey: Survey) -> str:
    state = table(
        ("kind", "text", "where"),
        [(one.kind, _code(one.text), f"{one.file}:{one.line}") for one in survey.state],
    )
    guards = table(
        ("kind", "condition", "where"),
        [(one.kind, _code(one.condition), f"{one.file}:{one.line}") for one in survey.guards],
    )
    atomics = any(one.kind in ("atomic", "random") for one in survey.state)
    verdict = (
        "Atomics or random numbers are on the path: results may differ from run to run."
        if atomics
        else "Nothing found that makes equal calls give different results."
    )
    return "\n\n".join(
        (
            _section("State", f"{state}\n\n{verdict}" if state else "", f"None found. {verdict}"),
            _section("Guards of architecture and dtype", guards, "None found."),
        )
    )


def _tests(survey: Survey) -> str:
    rows = [
        (one.name, f"{one.file}:{one.line}", _code(one.reaches), _code(one.parameters))
        for one in survey.tests
    ]
    body = table(("test", "where", "reaches", "parameters"), rows)
    return _section("Tests", body, "None found that call the entry or a public name of it.")


def _gaps(survey: Survey) -> str:
    lines = [
        f"- {one.what}" + (f" ({one.file}:{one.line})" if one.file else "") for one in survey.gaps
    ]
    return _section("Gaps", "\n".join(lines), "None: all was followed.")
