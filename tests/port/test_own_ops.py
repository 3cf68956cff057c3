"""This library's own ops, by the same rules that a ported one has to meet."""

import pathlib

from einkorn.port.verify.lint import verify

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def test_no_findings():
    report = verify(SOURCE)
    assert report.ok, "\n" + report.text()


def test_every_contract_was_read():
    """A contract that the reader cannot follow would have nothing to test."""
    for one in verify(SOURCE).ops:
        assert one.rows >= 20, one
