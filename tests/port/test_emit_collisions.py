"""Names of an emission that would mean two things are told before anything is written."""

import pathlib

import port_trees
from einkorn.port.emit.unit import emit


def test_collisions(tmp_path: pathlib.Path) -> None:
    port_trees.write(
        tmp_path / "repo",
        {
            "a/k.cu": """\
                #include "util.h"
                #include "b/util.h"
                #define SIZE 4
                namespace up { namespace taken { int v; } void f() { int mine = SIZE; } }
                """,
            "a/util.h": "#define SIZE 8\n#define GUARD_H\nnamespace up {}\n",
            "a/b/util.h": "#define GUARD_H\n#define macro 1\nnamespace other {}\n",
        },
    )
    found = {
        (one.kind, one.name)
        for names in ({"up": "other"}, {"up": "mine"}, {"up": "macro"}, {"up": "torch"})
        for one in emit(tmp_path / "repo", "a/k.cu", tmp_path / "out", names).collisions
    }
    assert found == {
        ("namespace", "other"),
        ("name", "mine"),
        ("name", "macro"),
        ("macro", "macro"),
        ("external", "torch"),
        ("basename", "util.h"),
        ("macro", "SIZE"),
        ("macro", "GUARD_H"),
    }
