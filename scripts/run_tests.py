"""Runs ctest in a build folder and ends with one line of totals.

Usage: run_tests.py BUILD_DIR [--only REGEX] [--filter GTEST_FILTER]

The totals are those of the test runners themselves (their JUnit files), not the number of ctest
entries. An entry that died before it wrote its file counts as one failure. Failures are named with
the beginnings of their messages once more at the end, where a log cut short still has them. The
last line is "N passed, M failed" and, where tests were skipped, ", K skipped". Exit status 0 only
when tests ran and none failed.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ET

MESSAGE_LINES = 12
MESSAGES = 10


@dataclasses.dataclass
class Totals:
    passed: int = 0
    skipped: int = 0
    failures: list[str] = dataclasses.field(default_factory=list)  # names, each with its message

    @property
    def failed(self) -> int:
        return len(self.failures)

    def line(self) -> str:
        text = f"{self.passed} passed, {self.failed} failed"
        return text + (f", {self.skipped} skipped" if self.skipped else "")


def entry_names(ctest: str, build: pathlib.Path, only: str | None) -> list[str]:
    command = [ctest, "--test-dir", str(build), "--show-only=json-v1"]
    if only:
        command += ["-R", only]
    listing = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return [test["name"] for test in listing["tests"]]


def failure_text(case: ET.Element, found: list[ET.Element]) -> str:
    messages = [one.text or one.get("message", "") for one in found]
    lines = [line for message in messages for line in message.strip().splitlines()]
    if len(lines) > MESSAGE_LINES:
        lines[MESSAGE_LINES:] = [f"({len(lines) - MESSAGE_LINES} more lines)"]
    return "\n  ".join([f"{case.get('classname')}.{case.get('name')}", *lines])


def add_file(totals: Totals, path: pathlib.Path) -> None:
    """Adds one JUnit file to the totals."""
    for case in ET.parse(path).getroot().iter("testcase"):
        if found := case.findall("failure") + case.findall("error"):
            totals.failures.append(failure_text(case, found))
        elif case.find("skipped") is not None or case.get("result") == "skipped":
            totals.skipped += 1
        elif case.get("status", "run") == "run":  # gtest's "notrun" is a filtered or disabled test
            totals.passed += 1


def collect(build: pathlib.Path, names: list[str], ctest_failed: bool) -> Totals:
    totals = Totals()
    for name in names:
        try:
            add_file(totals, build / "results" / f"{name}.xml")
        except (FileNotFoundError, ET.ParseError):
            totals.failures.append(f"{name}: ended without a result file")
    if ctest_failed and not totals.failures:
        # A runner that failed after its last test, e.g. by a leak found at exit.
        totals.failures.append("a test process failed although its tests passed")
    return totals


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", help="ctest entries whose name matches this regular expression")
    parser.add_argument("--filter", help="gtest filter for the C++ tests")
    args = parser.parse_args()

    ctest = str(pathlib.Path(sys.executable).with_name("ctest"))
    names = entry_names(ctest, args.build, args.only)
    if not names:
        print("no test is configured", file=sys.stderr)
        return 1
    for old in (args.build / "results").glob("*.xml"):
        old.unlink()
    command = [ctest, "--test-dir", str(args.build), "--output-on-failure", "--progress"]
    command += ["--parallel", str(os.cpu_count() or 1)]
    if args.only:
        command += ["-R", args.only]
    environment = dict(os.environ)
    if args.filter:
        environment["GTEST_FILTER"] = args.filter
    status = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL).returncode

    totals = collect(args.build, names, status != 0)
    if totals.passed + totals.failed == 0:
        print("no test ran", file=sys.stderr)
    for failure in totals.failures[:MESSAGES]:
        print(f"failed: {failure}")
    if totals.failed > MESSAGES:
        print(f"failed: {totals.failed - MESSAGES} more")
    print(totals.line(), flush=True)
    return 0 if totals.passed > 0 and totals.failed == 0 and status == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
