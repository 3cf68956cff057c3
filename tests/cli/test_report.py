"""einkorn report: the page in a browser, its numbers against its JSON, and bad input."""

import html.parser
import json
import os
import pathlib

import browser
import pytest
import report_documents as documents
from conftest import SOURCE

needs_browser = pytest.mark.skipif(
    browser.find() is None, reason=f"none of these is installed: {', '.join(browser.NAMES)}"
)
DATA_KEYS = ["version", "commit", "date", "devices", "sources", "skipped", "output"]
DEVICE_KEYS = [
    "device", "drivers", "versions", "commits", "first_date", "last_date", "memory_peaks",
    "compute_peaks", "results", "comparisons", "ladders", "tuning", "stages",
]  # fmt: skip
# Header of a table's column: key of its number.
NUMBERS = {
    "median µs": "median_us", "q1 µs": "q1_us", "q3 µs": "q3_us", "GB/s": "gbps",
    "TFLOP/s": "tflops", "flop/byte": "intensity", "% of roof": "percent_of_roof",
    "predicted µs": "predicted_us", "copy µs": "copy_us", "times our best": "times_ours",
    "speed-up": "speedup", "of the first": "speedup_of_first", "total µs": "total_us",
    "version": "version", "trial": "order", "depth": "depth",
}  # fmt: skip
NO_TRIALS = {"EINKORN_TRIALS": "off"}


class Tables(html.parser.HTMLParser):
    """Every table: caption, headers, rows. A cell is its number when it has one, else its text."""

    def __init__(self, text: str):
        super().__init__()
        self.tables, self.cell, self.number = [], None, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "table":
            self.tables.append({"caption": "", "headers": [], "rows": []})
        elif tag == "tr":
            self.tables[-1]["rows"].append([])
        elif tag in ("td", "th", "caption"):
            self.cell, self.number = "", None
        elif tag == "data":
            self.number = json.loads(dict(attributes)["value"])

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data

    def handle_endtag(self, tag):
        if tag == "caption":
            self.tables[-1]["caption"] = self.cell
        elif tag == "th":
            self.tables[-1]["headers"].append(self.cell)
        elif tag == "td":
            value = self.cell if self.number is None else self.number
            self.tables[-1]["rows"][-1].append(value)
        if tag in ("caption", "th", "td"):
            self.cell = None

    def named(self, caption: str) -> list[dict]:
        return [table for table in self.tables if table["caption"] == caption]


def make(einkorn, tmp_path, *paths, **environment):
    page = tmp_path / "made" / "report.html"
    result = einkorn(
        "report", *map(str, paths), "--output", str(page), "--json", **{**NO_TRIALS, **environment}
    )
    assert result.status == 0, result.err
    return page, result.json()


def flattened(device: dict, key: str, inner: str) -> list[dict]:
    return [{**outer, **row} for outer in device[key] for row in outer[inner]]


def check_table(table: dict, rows: list[dict]):
    """Every number in the table is the JSON's, and none of the JSON's is missing."""
    got = [row for row in table["rows"] if row]
    assert len(got) == len(rows) > 0
    compared = 0
    for header, key in NUMBERS.items():
        if header not in table["headers"]:
            assert all(row.get(key) is None for row in rows) or not any(key in row for row in rows)
            continue
        at = table["headers"].index(header)
        for cells, row in zip(got, rows, strict=True):
            assert cells[at] == (row[key] if row[key] is not None else "")
            compared += 1
    assert compared >= len(rows)


def check_tables(text: str, data: dict):
    tables = Tables(text)
    for caption, rows_of in {
        "All results": lambda device: device["results"],
        "Times": lambda device: flattened(device, "comparisons", "bars"),
        "Times by version": lambda device: flattened(device, "ladders", "steps"),
        "Trials": lambda device: flattened(device, "tuning", "trials"),
        "Stage times": lambda device: flattened(device, "stages", "stages"),
    }.items():
        wanted = [rows for device in data["devices"] if (rows := rows_of(device))]
        found = tables.named(caption)
        assert len(found) == len(wanted)
        for table, rows in zip(found, wanted, strict=True):
            check_table(table, rows)


def test_json_is_complete(einkorn, tmp_path):
    page, data = make(einkorn, tmp_path, documents.write_all(tmp_path / "in"))
    assert list(data) == DATA_KEYS
    assert data["output"] == str(page)
    gpu, cpu = data["devices"]
    assert list(gpu) == DEVICE_KEYS
    assert [gpu["device"], cpu["device"]] == [documents.GPU, documents.CPU]
    assert gpu["drivers"] == ["580.159.04"]
    # Nothing of one device is with another.
    assert all(row["variant"].startswith("rms_norm/cpu/") for row in cpu["results"])
    assert not any("/cpu/" in row["variant"] for row in gpu["results"])
    # The older document's row is there, and superseded.
    bulk = [row for row in gpu["results"] if row["variant"] == "rms_norm/sm90/bulk_v1"]
    assert [(row["median_us"], row["latest"]) for row in bulk] == [(95.125, True), (99.5, False)]
    failed = [row for row in gpu["results"] if row["failure"]]
    assert [row["failure"] for row in failed] == ["illegal memory access"]
    assert failed[0]["median_us"] is None
    assert [step["version"] for step in gpu["ladders"][0]["steps"]] == [1, 2]
    assert gpu["ladders"][0]["steps"][1]["speedup"] == pytest.approx(95.125 / 90.5, rel=1e-5)
    best = [trial for trial in gpu["tuning"][0]["trials"] if trial["best"]]
    assert [trial["median_us"] for trial in best] == [90.625]
    assert [stage["depth"] for stage in gpu["stages"][0]["stages"]] == [0, 1, 1]
    assert [skipped["path"][-10:] for skipped in data["skipped"]] == ["notes.json"]
    assert "something else" in data["skipped"][0]["reason"]
    assert cpu["memory_peaks"] == [] or all(peak["from"] for peak in cpu["memory_peaks"])


def test_intensity_and_roof(einkorn, tmp_path):
    row = documents.result("rms_norm/sm90/bulk_v1", 100.0)
    file = documents.write(tmp_path / "one.json", documents.bench([row]))
    _, data = make(einkorn, tmp_path, file)
    device = data["devices"][0]
    got = device["results"][0]
    assert got["intensity"] == pytest.approx(1.0, rel=1e-3)
    assert device["memory_peaks"][0]["gbps"] == 3350
    assert not device["memory_peaks"][0]["measured"]
    assert got["percent_attainable"] == pytest.approx(100 * row["gbps"] / 3350, rel=1e-3)
    # The copy was timed beside it and moved the same bytes, but the table knows a faster one.
    measured = [peak["gbps"] for peak in device["memory_peaks"] if peak["measured"]]
    assert measured == [3044] and row["gbps"] * 100 / 91.5 < 3044


def test_tables_without_scripts(einkorn, tmp_path):
    """The page as it was written, before any browser."""
    page, data = make(einkorn, tmp_path, documents.write_all(tmp_path / "in"))
    text = page.read_text(encoding="utf-8")
    check_tables(text, data)
    assert len(text) < 1_500_000
    embedded = text.split('id="einkorn-data">')[1].split("</script>")[0]
    del data["output"]
    assert json.loads(embedded) == data


@pytest.fixture(scope="module")
def chromium():
    with browser.started() as started:
        yield started


@pytest.fixture
def opened(einkorn, tmp_path, chromium):
    def open_report(*paths, width: int = 1280):
        file, data = make(einkorn, tmp_path, *paths)
        page = chromium.page()
        page.size(width)
        page.open(file)
        page.wait("document.body.dataset.charts !== undefined")
        return page, data, file

    return open_report


def count(page, selector: str) -> int:
    return page.evaluate(f"document.querySelectorAll({json.dumps(selector)}).length")


@needs_browser
def test_page_in_a_browser(opened, tmp_path):
    page, data, file = opened(documents.write_all(tmp_path / "in"))
    assert page.messages == []
    assert page.requests and all(url == file.as_uri() or url == "data:," for url in page.requests)
    check_tables(page.evaluate("document.documentElement.outerHTML"), data)

    assert count(page, "figure.chart") == int(page.evaluate("document.body.dataset.charts")) > 0
    assert page.evaluate(
        "Array.from(document.querySelectorAll('figure.chart'))"
        ".every(figure => figure.querySelector('.plot svg[role=img][aria-label]'))"
    )
    for index, device in enumerate(data["devices"]):
        chart = f'[data-device="{index}"][data-chart='
        measured = [row for row in device["results"] if row["latest"] and not row["failure"]]
        assert count(page, f"{chart}roofline] .plot > svg .mark") == len(measured)
        hollow = [row for row in measured if row["roof"] == "cache"]
        assert count(page, f"{chart}roofline] .plot > svg .hollow") == len(hollow)
        bars = sum(len(one["bars"]) for one in device["comparisons"])
        assert count(page, f"{chart}comparisons] .panels rect[y]") == bars
    times = data["devices"][0]["tuning"][0]["trials"]
    assert count(page, "[data-chart=tuning] .panels .failed") == len(times) - 12
    assert count(page, "[data-chart=stages] rect.ours") == 3
    assert page.evaluate(
        "Array.from(document.querySelectorAll('.plot svg *')).every(node => "
        "Array.from(node.attributes).every(one => !/NaN|undefined|Infinity/.test(one.value)))"
    )


@needs_browser
def test_page_on_a_phone_in_the_dark_and_on_paper(opened, tmp_path):
    page, _, _ = opened(documents.write_all(tmp_path / "in"), width=360)
    # Wide tables scroll in their frames; the page itself does not.
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.evaluate(
        "Array.from(document.querySelectorAll('.plot text')).filter(text => "
        "text.getBoundingClientRect().right > innerWidth).map(text => text.textContent)"
    ) == []  # fmt: skip
    page.screenshot(tmp_path / "phone.png")

    page.size(1280)
    page.wait(
        "document.querySelector('[data-chart=roofline] .plot > svg').viewBox.baseVal.width > 900"
    )
    page.scheme("light")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.screenshot(tmp_path / "light.png")
    page.scheme("dark")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.screenshot(tmp_path / "dark.png")
    assert light != dark
    page.pdf(tmp_path / "paper.pdf")
    for file in ("phone.png", "light.png", "dark.png", "paper.pdf"):
        assert (tmp_path / file).stat().st_size > 20_000
    assert page.messages == []
    # Where a person wants to look at them.
    if keep := os.environ.get("KEEP_SCREENSHOTS"):
        for file in ("phone.png", "light.png", "dark.png", "paper.pdf"):
            (tmp_path / file).rename(pathlib.Path(keep) / file)


def hostile_documents(folder: pathlib.Path) -> pathlib.Path:
    text = documents.HOSTILE
    row = documents.result(
        text + "_v1", 100.0, tiling=text, problem=text, case=text, copied_by=text,
        peers=[{"name": text, "version": text, "median_us": 120.0},
               {"name": text + "2", "version": "", "skipped": text}],
    )  # fmt: skip
    failed = documents.result("rms_norm/cpu/bad_v1", 0, failure=text, gbps=0, tflops=0)
    bench = documents.bench([row, {**row, "variant": text + "_v2"}, failed], device=text)
    bench["op"] = bench["commit"] = bench["driver"] = text
    bench["versions"] = {text: text}
    documents.write(folder / "bench.json", bench)
    documents.write(folder / "t.jsonl", [documents.trial(1, 9.5, 8.5, tiling=text, device=text)])
    stages = {**documents.profile(), "device": text, "variant": text}
    stages["stages"][0]["name"] = text
    documents.write(folder / "p.json", stages)
    documents.write(folder / "other.json", {"what": text})
    return folder


def test_hostile_names_are_text(einkorn, tmp_path):
    page, data = make(einkorn, tmp_path, hostile_documents(tmp_path / "in"))
    text = page.read_text(encoding="utf-8")
    assert "<img" not in text and "<b>" not in text
    tables = Tables(text)
    assert tables.named("All results")[0]["rows"][1][0] == documents.HOSTILE + "_v1"
    assert data["devices"][0]["device"] == documents.HOSTILE


@needs_browser
def test_hostile_names_in_a_browser(opened, tmp_path):
    page, _, _ = opened(hostile_documents(tmp_path / "in"))
    assert page.messages == []
    assert page.evaluate("document.title") == "einkorn report"
    assert count(page, "img") == count(page, "b") == 0
    assert page.evaluate("document.querySelector('h2').textContent") == documents.HOSTILE
    assert count(page, "figure.chart svg[role=img]") >= 5


def write(text):
    return lambda folder: documents.write(folder / "bad.json", text)


BAD = {
    "missing": (lambda folder: folder / "none.json", "No such file"),
    "no JSON": (write('{"op": '), "no JSON: parse error at line 1, column"),
    "a list": (write("[]"), "expected one JSON object"),
    "of another kind": (write('{"what": "jit"}'), "(it is about: jit)"),
    "a text for a number": (
        write(json.dumps(documents.bench([documents.result("a/b/c_v1", 1.0, gbps="fast")]))),
        "result 1: gbps: expected a number of at least 0, got \"fast\"",
    ),
    "a negative time": (
        write(json.dumps(documents.bench([documents.result("a/b/c_v1", 1.0, q1_us=-1)]))),
        "result 1: q1_us: expected a number of at least 0, got -1",
    ),
    "no device": (write(json.dumps(documents.bench([], device=""))), "device: expected a name"),
    "counters": (write(json.dumps({**documents.profile(), "mode": "counters"})), "mode 'counters'"),
    "no trials": (
        lambda folder: documents.write(folder / "bad.jsonl", "{}\n"),
        "no line of it is a trial; line 1: schema",
    ),
    "another schema": (
        lambda folder: documents.write(folder / "bad.jsonl", [documents.trial(1, 1, 1, schema=2)]),
        "line 1: schema: expected 1, got 2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_named_file_of_no_use_is_an_error(einkorn, tmp_path, name):
    write_file, message = BAD[name]
    file = write_file(tmp_path)
    page = tmp_path / "page.html"
    result = einkorn("report", str(file), "--output", str(page), **NO_TRIALS)
    assert result.status == 2
    assert f"einkorn: error: report: {file}: " in result.err
    assert message in result.err
    assert not page.exists()


def test_bad_lines_and_files_of_a_folder_are_listed(einkorn, tmp_path):
    folder = tmp_path / "in"
    good = json.dumps(documents.trial(1, 10.5, 9.5))
    documents.write(folder / "t.jsonl", f"{good}\nno json\n{good}\n{{cut\n")
    documents.write(folder / "empty.json", "")
    page, data = make(einkorn, tmp_path, folder)
    assert [(one["path"], one["line"], one["count"]) for one in data["skipped"]] == [
        (str(folder / "empty.json"), None, 1),
        (str(folder / "t.jsonl"), 2, 2),
    ]
    table = Tables(page.read_text(encoding="utf-8")).named("Skipped")[0]
    assert [row[0] for row in table["rows"] if row] == [one["path"] for one in data["skipped"]]


def test_nothing_to_report(einkorn, tmp_path):
    result = einkorn("report", cwd=tmp_path, **NO_TRIALS)
    assert result.status == 3
    assert "hint:" in result.err
    documents.write(tmp_path / "out" / "x.json", {"what": "x"})
    result = einkorn("report", cwd=tmp_path, **NO_TRIALS)
    assert result.status == 3
    assert "no measurement in out (1 files skipped; the first, out/x.json" in result.err


def test_default_places(einkorn, tmp_path):
    row = documents.result("rms_norm/sm90/bulk_v1", 100.0)
    documents.write(tmp_path / "bench" / "results" / "a.json", documents.bench([row]))
    documents.write(tmp_path / "out" / "profiles" / "p.json", documents.profile())
    documents.write(tmp_path / "store" / "v1" / "t.jsonl", [documents.trial(1, 10.5, 9.5)])
    store = {"EINKORN_TRIALS": str(tmp_path / "store")}
    result = einkorn("report", cwd=tmp_path, **store)
    assert result.status == 0, result.err
    assert (tmp_path / "out" / "report.html").exists()
    assert "out/report.html" in result.out
    kinds = einkorn("report", "--json", cwd=tmp_path, **store).json()["sources"]
    assert [one["kind"] for one in kinds] == ["bench", "profile", "trials"]


def test_one_file_given_twice_counts_once(einkorn, tmp_path):
    file = documents.write(tmp_path / "a.json",
                           documents.bench([documents.result("a/b/c_v1", 100.0)]))  # fmt: skip
    _, data = make(einkorn, tmp_path, file, tmp_path)
    assert len(data["sources"]) == 1


def test_results_of_record(einkorn, tmp_path):
    """The files of bench/results all say why when they are not in."""
    page, data = make(einkorn, tmp_path, SOURCE / "bench" / "results")
    files = len(list((SOURCE / "bench" / "results").rglob("*.json*")))
    assert len(data["sources"]) + len(data["skipped"]) == files
    check_tables(page.read_text(encoding="utf-8"), data)
