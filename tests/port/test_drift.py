"""Changes upstream, by the hashes that provenance.json holds."""

import dataclasses
import json

import migration_support
import pytest
from einkorn.port.errors import PortError
from einkorn.port.provenance.drift import drift
from einkorn.port.provenance.record import read_provenance
from einkorn.port.scaffold.files import scaffold


@pytest.fixture
def made(tmp_path):
    files = migration_support.files(tmp_path)
    scaffold(files.survey, files.migration, tmp_path / "out", upstream=files.upstream)
    return tmp_path / "out/ops/position/turn_rows/provenance.json", files.upstream


def kinds(made):
    return [(one.kind, one.path) for one in drift(read_provenance(made[0]), made[1])]


def test_nothing_changed(made):
    assert kinds(made) == []


def test_changed_and_missing(made):
    (made[1] / "csrc/turn.cu").write_text("void turn() {}\n")
    (made[1] / "csrc/turn.h").unlink()
    changes = drift(read_provenance(made[0]), made[1])
    assert [one.kind for one in changes] == ["changed", "missing"]
    assert str(changes[0]).startswith("csrc/turn.cu: changed, from sha256 ")
    assert str(changes[1]) == "csrc/turn.h: missing (no such file)"


def test_bytes_count_and_nothing_else_does(made):
    """Neither times nor other files; but line ends do."""
    (made[1] / "csrc/new.cu").write_text("")
    (made[1] / "csrc/turn.cu").touch()
    assert kinds(made) == []
    (made[1] / "csrc/turn.h").write_bytes(b"\xff\n\n")
    assert kinds(made) == [("changed", "csrc/turn.h")]


def test_a_folder_or_a_link_in_the_place_of_a_file(made, tmp_path):
    for name in ("turn.cu", "turn.h"):
        (made[1] / "csrc" / name).unlink()
    (made[1] / "csrc/turn.cu").mkdir()
    (tmp_path / "secret").write_text("")
    (made[1] / "csrc/turn.h").symlink_to(tmp_path / "secret")
    assert kinds(made) == [("unreadable", "csrc/turn.cu"), ("unreadable", "csrc/turn.h")]


def test_no_folder(made, tmp_path):
    with pytest.raises(PortError, match="upstream: expected a folder"):
        drift(read_provenance(made[0]), tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.update(version=7), "expected version 1 in .*, got 7"),
        (lambda data: data.pop("files"), "expected all fields"),
        (lambda data: data.update(more=1), "expected all fields"),
        (lambda data: data["files"][0].update(path="../x"), "inside the upstream folder"),
        (lambda data: data["files"][0].update(path="/etc/hosts"), "inside the upstream folder"),
        (lambda data: data["rows"][0].pop("id"), "expected all fields"),
    ],
)
def test_records_that_are_none(made, change, message):
    data = json.loads(made[0].read_text())
    change(data)
    made[0].write_text(json.dumps(data))
    with pytest.raises(PortError, match=message):
        read_provenance(made[0])


def test_missing_and_broken_records(tmp_path):
    with pytest.raises(PortError, match="No such file"):
        read_provenance(tmp_path / "provenance.json")
    for text in ("[]", "{", "3"):
        (tmp_path / "provenance.json").write_text(text)
        with pytest.raises(PortError, match=r"expected (version 1|JSON)"):
            read_provenance(tmp_path / "provenance.json")


def test_a_record_comes_back(made):
    record = read_provenance(made[0])
    made[0].write_text(dataclasses.replace(record, commit="f" * 40).to_json())
    assert read_provenance(made[0]).commit == "f" * 40
    assert read_provenance(made[0]).rows == record.rows
