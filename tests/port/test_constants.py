"""Named numbers."""

from chain_support import of_files
from einkorn.port.conditions.constants import Constants


def test_values(tmp_path):
    files = {
        "a.h": "constexpr int kWidth = 8;\nstruct S { static constexpr int kDepth = 4; };\n",
        "b.h": "constexpr int kTwice = 2;\nconst int kDepth = 2 * kTwice;\n",
        "c.h": "constexpr int kTwice = 3;\nvoid f() { constexpr int kInner = 1; }\n",
    }
    constants = Constants(of_files(tmp_path, files).cpp)

    def value(word, near):
        found = constants.value_of(word, near)
        return found.word if found is not None else None

    assert value("kWidth", "c.h") == "8"
    assert value("S::kDepth", "a.h") == "4"
    assert value("kDepth", "c.h") is None  # one of the two is no plain number
    assert value("kTwice", "b.h") == "2"
    assert value("kTwice", "a.h") is None  # two files differ
    assert value("kInner", "a.h") is None
