"""What clang-tidy is told of each file."""

import json

import building  # noqa: F401  the path to scripts/
import check_sources

PRECOMPILED = "c++ -O1 -Winvalid-pch -include /b/CMakeFiles/x.dir/cmake_pch.hxx -o f.o -c /s/f.cc"


def test_no_file_is_read_with_precompiled_headers(tmp_path, monkeypatch):
    monkeypatch.setattr(check_sources, "BUILD", tmp_path)
    database = [{"directory": "/b", "file": "/s/f.cc", "command": PRECOMPILED}]
    folder = check_sources.without_precompiled_headers(database)
    (entry,) = json.loads((folder / "compile_commands.json").read_text())
    assert entry["command"] == "c++ -O1 -Winvalid-pch -o f.o -c /s/f.cc"
    assert (entry["directory"], entry["file"]) == ("/b", "/s/f.cc")
