import port_trees
import pytest
from einkorn.port.cpp.index import plain_symbol
from einkorn.port.cpp.names import LocalNames

TEXT = """\
    using Outer = first::Outer<int>;
    void other() { using Inner = wrong::Inner; }
    void run(const Tensor& x, std::unique_ptr<Impl> impl) {
      using Inner = typename Outer::Inner;
      using Self = Self;
      auto made = Maker<3>{};
      impl->go(); made.go(); x.size(); auto y = f(); y.go();
    }
"""


def names_of(tmp_path):
    index = port_trees.index_of(tmp_path, {"a.cc": TEXT})
    run = index.named("run")[0]
    return LocalNames(run, index.aliases_in("a.cc")), index.calls(run)


def test_aliases_are_resolved_to_their_end(tmp_path):
    names, _ = names_of(tmp_path)
    assert names.resolved("Inner::go<1>") == "first::Outer<int>::Inner::go<1>"
    assert names.resolved("Self::go") == "Self::go"
    assert names.resolved("unknown::go") == "unknown::go"


def test_types_of_variables(tmp_path):
    _, calls = names_of(tmp_path)
    targets = {one.callee: one.target for one in calls}
    assert targets["impl->go"] == "Impl::go"
    assert targets["made.go"] == "Maker<3>::go"
    assert targets["x.size"] == "Tensor::size"
    assert targets["y.go"] == "y.go"


@pytest.mark.parametrize(
    ("symbol", "plain"),
    [
        ("&ns::f<int, g<2>>", "ns::f"),
        ("::f", "f"),
        ("ns::X<T>::template run<4>", "ns::X::run"),
        ("X<T>::operator()", "X<T>::operator()"),
    ],
)
def test_plain_symbol(symbol, plain):
    assert plain_symbol(symbol) == plain
