"""The package of this checkout, with the library of the build that EINKORN_BUILD_DIR names."""

import pathlib
import sys

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "python"))

NOT_FOUND = "could not import '"  # as pytest.importorskip begins


def with_remedy(report):
    """A test skipped for want of a module says how to get it."""
    if report.skipped and isinstance(report.longrepr, tuple):
        path, line, reason = report.longrepr
        if NOT_FOUND in reason and "'einkorn" not in reason:
            reason += "; scripts/bootstrap --frameworks brings it"
        report.longrepr = (path, line, reason)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    return with_remedy((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    return with_remedy((yield))
