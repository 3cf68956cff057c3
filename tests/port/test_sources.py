import errno
import os
import pathlib

import port_trees
import pytest
from einkorn.port.errors import PortError
from einkorn.port.sources.tree import SourceTree


def test_root_that_is_no_folder(tmp_path):
    with pytest.raises(PortError, match="which does not exist"):
        SourceTree(tmp_path / "none")
    (tmp_path / "file").write_text("")
    with pytest.raises(PortError, match="root: expected a folder"):
        SourceTree(tmp_path / "file")


def test_files_are_sorted_by_kind_and_build_folders_left_out(tmp_path):
    tree = port_trees.write(
        tmp_path,
        {
            "b.cu": "",
            "a.py": "",
            "sub/c.HPP": "",
            ".git/x.cu": "",
            "build/y.cu": "",
            "notes.txt": "",
        },
    )
    assert tree.files == ["a.py", "b.cu", "notes.txt", "sub/c.HPP"]
    assert tree.cpp_files == ["b.cu", "sub/c.HPP"]
    assert tree.python_files == ["a.py"]
    assert tree.gaps == []


def test_text_that_is_not_utf8_is_read_and_told(tmp_path):
    (tmp_path / "a.cu").write_bytes(b"int a;\n// caf\xe9\n")
    tree = SourceTree(tmp_path)
    assert tree.text("a.cu") == "int a;\n// café\n"
    assert tree.text("a.cu")  # told once
    assert [(gap.file, gap.line) for gap in tree.gaps] == [("a.cu", 2)]
    assert "not UTF-8" in tree.gaps[0].what


def test_line_ends_and_byte_order_marks_are_taken_off(tmp_path):
    (tmp_path / "a.cu").write_bytes(b"\xef\xbb\xbfint a;\r\nint b;\r")
    assert SourceTree(tmp_path).text("a.cu") == "int a;\nint b;\n"


def test_links_are_followed_inside_the_root_only(tmp_path):
    outside = tmp_path / "outside"
    root = tmp_path / "root"
    port_trees.write(outside, {"secret.cu": "int secret;"})
    port_trees.write(root, {"real/a.cu": "int a;"})
    (root / "inside").symlink_to("real")
    (root / "alias.cu").symlink_to("real/a.cu")
    (root / "out").symlink_to(outside)
    (root / "out.cu").symlink_to(outside / "secret.cu")
    (root / "real" / "loop").symlink_to("..")
    (root / "broken.cu").symlink_to("nowhere.cu")
    (root / "self.cu").symlink_to("self.cu")
    tree = SourceTree(root)
    assert "alias.cu" in tree.files
    assert tree.text("alias.cu") == "int a;"
    assert not [one for one in tree.files if "secret" in one or "out" in one or "loop/" in one]
    told = {gap.file: gap.what for gap in tree.gaps}
    assert "outside the surveyed folder" in told["out"]
    assert "outside the surveyed folder" in told["out.cu"]
    assert "leads nowhere" in told["broken.cu"]
    assert "self.cu" in told


def test_unreadable_file_is_told(tmp_path, monkeypatch):
    tree = port_trees.write(tmp_path, {"a.cu": "int a;"})

    def refuse(path):  # not by its mode: root reads everything
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(pathlib.Path, "read_bytes", refuse)
    assert tree.text("a.cu") == ""
    assert [gap.what for gap in tree.gaps] == ["not read: Permission denied"]


def test_file_that_went_away_is_told(tmp_path):
    tree = port_trees.write(tmp_path, {"a.cu": "int a;"})
    (tmp_path / "a.cu").unlink()
    assert tree.text("a.cu") == ""
    assert "not read" in tree.gaps[0].what


def test_containing_takes_whole_identifiers(tmp_path):
    tree = port_trees.write(
        tmp_path, {"a.cu": "gemm(x);", "b.cu": "gemm_w4(x);", "c.cu": "ns::gemm<int>();"}
    )
    assert tree.containing("gemm", tree.files) == ["a.cu", "c.cu"]


@pytest.mark.parametrize(
    ("file", "is_test"),
    [
        ("tests/a.cu", True),
        ("src/test_gemm.cu", True),
        ("src/gemm_test.cc", True),
        ("src/conftest.py", True),
        ("src/latest.cu", False),
        ("src/attestation/a.cu", False),
    ],
)
def test_is_test(tmp_path, file, is_test):
    assert SourceTree(tmp_path).is_test(file) is is_test


MIT = "Permission is hereby granted, free of charge, to any person ... without restriction, ..."


def test_licences_of_files_and_headers(tmp_path):
    tree = port_trees.write(
        tmp_path,
        {
            "LICENSE": "Apache License\nVersion 2.0, January 2004",
            "lib/part/COPYING": MIT,
            "lib/other/LICENSE": MIT,
            "lib/part/a.cu": "// SPDX-License-Identifier: BSD-3-Clause\nint a;",
            "lib/b.cu": "/* Licensed under the Apache License, Version 2.0 */\nint b;",
            "license_check.py": "",
        },
    )
    assert tree.licences(["lib/part/a.cu", "lib/b.cu"]) == [
        {"path": "LICENSE", "spdx": "Apache-2.0"},
        {"path": "lib/part/COPYING", "spdx": "MIT"},
        {"path": "lib/part/a.cu", "spdx": "BSD-3-Clause"},
        {"path": "lib/b.cu", "spdx": "Apache-2.0"},
    ]
    assert tree.repository() == {"url": "", "commit": "", "licence": "Apache-2.0"}


def test_repository_without_a_licence(tmp_path):
    tree = port_trees.write(tmp_path, {"a.cu": "int a;"})
    assert tree.repository()["licence"] == ""
    assert tree.licences(["a.cu"]) == []


def test_commit_and_url_are_read_from_git_files(tmp_path):
    commit = "0123456789abcdef0123456789abcdef01234567"
    tree = port_trees.write(
        tmp_path,
        {
            ".git/HEAD": "ref: refs/heads/main\n",
            ".git/packed-refs": f"# pack-refs\n{commit} refs/heads/main\n",
            ".git/config": '[core]\n[remote "origin"]\n\turl = https://user:secret@host/a/b.git\n',
        },
    )
    assert tree.repository() == {"url": "https://host/a/b.git", "commit": commit, "licence": ""}
    (tmp_path / ".git/refs/heads").mkdir(parents=True)
    (tmp_path / ".git/refs/heads/main").write_text("f" * 40)
    assert tree.repository()["commit"] == "f" * 40
    (tmp_path / ".git/HEAD").write_text(commit)
    assert tree.repository()["commit"] == commit
    (tmp_path / ".git/HEAD").write_text("ref: ../../etc/passwd")
    assert tree.repository()["commit"] == ""
