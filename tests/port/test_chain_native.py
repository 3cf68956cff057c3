"""Native functions that are called on a module of which only the loader tells the sources."""

import pytest
from chain_support import of_files, repo, rows

REFLECT = [
    ("tvm_ffi", "run", "run", "csrc/reflect_binding.cu", 5),
    ("tvm_ffi", "run", "run_far", "csrc/reflect_far_binding.cu", 5),
]
SPIN = [("tvm_ffi", "run", "run", "csrc/spin_binding.cu", 8)]
HALVE = [("tvm_ffi", "halve_rows", "halve_rows", "csrc/spin_binding.cu", 9)]


def launches(chain):
    return [(one.kernel, one.file, one.line, one.grid) for one in chain.launches]


def gaps(chain):
    return [(one.what, one.file, one.line) for one in chain.gaps]


def test_the_generator_names_the_sources():
    chain = repo("jit_module").follow("spinlib.spin.spin")
    assert [(one.depth, one.symbol, one.file, one.called_at) for one in chain.steps] == [
        (0, "spinlib.spin.spin", "spinlib/spin.py", 0),
        (1, "spinlib.spin.get_spin_module", "spinlib/spin.py", 33),
        (2, "spinlib.jit.spin.gen_spin_module", "spinlib/jit/spin.py", 13),
        (3, "spinlib.jit.core.gen_spec", "spinlib/jit/core.py", 8),
        (4, "spinlib.jit.core.NativeSpec.__init__", "spinlib/jit/core.py", 24),
        (2, "spinlib.jit.core.Spec.build_and_load", "spinlib/jit/core.py", 13),
        (3, "spinlib.jit.core.Spec.load", "spinlib/jit/core.py", 14),
        (1, "run", "csrc/spin.cu", 33),
        (2, "spin_kernel", "csrc/spin.cu", 7),
    ]
    assert rows(chain.registrations) == SPIN
    assert launches(chain) == [("spin_kernel", "csrc/spin.cu", 7, "x.size(0)")]
    assert gaps(chain) == []


def test_a_function_kept_in_a_namespace_and_a_variable():
    chain = repo("jit_module").follow("spin_wrapped")
    assert rows(chain.registrations) == SPIN
    assert "spinlib.spin.get_wrapped.run_spin" in [one.symbol for one in chain.steps]
    assert launches(chain) == [("spin_kernel", "csrc/spin.cu", 7, "x.size(0)")]
    assert gaps(chain) == []


def test_several_that_fit_are_all_followed_from_a_dict_of_modules():
    chain = repo("jit_module").follow("reflect")
    assert rows(chain.registrations) == REFLECT
    assert launches(chain) == [
        ("reflect_kernel", "csrc/reflect.cu", 7, "2"),
        ("reflect_far_kernel", "csrc/reflect.cu", 11, "4"),
    ]
    assert gaps(chain) == [
        (
            "module.run may mean several of the sources loaded; all followed: "
            "csrc/reflect_binding.cu:5, csrc/reflect_far_binding.cu:5",
            *("spinlib/spin.py", 43),
        )
    ]


@pytest.mark.parametrize(("entry", "line"), [("halve", 47), ("Wheel.halve_all", 55)])
def test_followed_by_name_is_said(entry, line):
    chain = repo("jit_module").follow(entry)
    assert rows(chain.registrations) == HALVE
    assert launches(chain) == [("halve_kernel", "csrc/spin.cu", 12, "1")]
    assert [(file, at) for _, file, at in gaps(chain)] == [("spinlib/spin.py", line)]
    assert "followed by its name alone, to csrc/spin_binding.cu:9" in gaps(chain)[0][0]


def test_methods_of_classes_and_of_containers_are_no_registrations():
    chain = repo("jit_module").follow("turn_all")
    assert [one.symbol for one in chain.steps] == ["spinlib.spin.turn_all"]
    assert (chain.registrations, chain.launches, chain.gaps) == ([], [], [])


def test_a_tensor_made_here_is_no_module(tmp_path):
    surveyed = of_files(
        tmp_path,
        {
            "a.cc": "int f(int x) { return x; }\nTVM_FFI_DLL_EXPORT_TYPED_FUNC(spin, f);\n",
            "a.py": "import torch\n\ndef run(x):\n    y = torch.empty(3)\n    y.spin(x)\n"
            "    'text'.spin()\n    torch.spin(x)\n",
        },
    )
    assert [one.symbol for one in surveyed.follow("a.run").steps] == ["a.run"]


def test_sources_whose_name_is_computed_are_not_guessed(tmp_path):
    text = "int {0}(int x) {{ return x; }}\nTVM_FFI_DLL_EXPORT_TYPED_FUNC(spin, {0});\n"
    surveyed = of_files(
        tmp_path,
        {
            "csrc/one_binding.cc": text.format("one"),
            "csrc/two_binding.cc": text.format("two"),
            "a.py": "def get(kind):\n    return build(f'{kind}_binding.cc')\n\n"
            "def get_two(root):\n    return build(f'{root}/csrc/two_binding.cc')\n\n"
            "def run(x):\n    get('one').spin(x)\n\n"
            "def run_two(x):\n    get_two('.').spin(x)\n",
        },
    )
    chain = surveyed.follow("a.run")
    assert [one.symbol for one in chain.steps] == ["a.run", "a.get", "one", "two"]
    assert [gap.line for gap in chain.gaps] == [8]
    chain = surveyed.follow("run_two")
    assert [one.symbol for one in chain.steps] == ["a.run_two", "a.get_two", "two"]
    assert chain.gaps == []
