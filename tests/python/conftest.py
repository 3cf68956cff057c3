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


@pytest.fixture(autouse=True)
def no_variant_stays():
    """A variant that a test registered would serve what only the reference should in later ones."""
    yield
    if "einkorn._native" not in sys.modules or sys.modules["einkorn._native"]._module is None:
        return
    import einkorn
    from einkorn.ops import TABLE

    for op in TABLE:
        for row in einkorn.variants(op):
            if row["name"].startswith("python/"):
                einkorn.remove_variant(row["id"])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    return with_remedy((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    return with_remedy((yield))
