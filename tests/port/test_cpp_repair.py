import pytest
from einkorn.port.cpp.recovery import definitions_by_brackets, only
from einkorn.port.cpp.repair import repaired
from einkorn.port.sources import syntax


@pytest.mark.parametrize(
    "text",
    [
        "CUTE_DEVICE\nvoid f(int x) {}\n",
        "template <class T> CUTE_HOST_DEVICE constexpr auto f(T x) { return x; }",
        "struct S { CUTE_DEVICE S(int x) : x_(x) {} CUTE_DEVICE operator bool() { return 1; } };",
        "struct alignas(16) S { CUTE_ALIGNAS(16) float x[4]; };",
        "void f() { auto g = [] __device__ (int x) { return x; }; }",
        "void f() { auto g = [&](int x) ALWAYSINLINE { return x; }; }",
        "void f() { run(typename T::Option{}, typename T::Other(1)); }",
        "void f() { MY_UNROLL\n for (int i = 0; i < 3; ++i) {} }",
        'void f() { asm("a" HINT(128) "b"); }',
        "void f() { SWITCH(x, [&] { g(); })\n X<T>::template run<3>(a); }",
        "void f() { if (a) { int b; LAUNCH_CODE\n } }",
        "void f() { if (a)\n RUN(1)\n else\n RUN(2);\n }",
        "void f() { LAUNCH(float, 4); LAUNCH(const double*, unsigned int); }",
        "int f(int a,\n#ifdef B\n int b\n#else\n int c\n#endif\n) { return a; }",
        "int x = 1 +\n#if A\n 2\n#else\n 3\n#endif\n;",
        "__global__ void __launch_bounds__(kThreads, 1, 2) k() {}",
        "DEVICE_ONLY void k(const __grid_constant__ typename T::Params params) {}",
        "struct Closure {\n  MEMBERS_OF_IT\n};",
        "INSTANTIATE(float)\nINSTANTIATE(half)\nvoid f() {}",
        "void f() {\n#if A\n if (x) { g(); } else\n#endif\n { h(); }\n}",
        "void f() { POINTER(Outer::Inner*, name); }",
        "MY_DEVICE void f() {\n if (x) {}\n#if A\n else if (y) {}\n#endif\n}",
        "void f() { g(x.template at<int>(1), p->template to<float>()); MY_UNROLL\n for (;;) {} }",
    ],
)
def test_what_only_a_preprocessor_understands_is_made_readable(text):
    assert syntax.parse_cpp(text).has_error
    mended = repaired(text).text
    assert not syntax.parse_cpp(mended).has_error
    assert len(mended.encode()) == len(text.encode())
    assert mended.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "FILE* f(BOOL x, TYPE y);",
        "TYPE Class::method(TYPE x) { return FOO; }",
        "template <typename T, typename U = int> struct S {};",
        "enum E { ALPHA, BETA };",
        "int x = ALPHA + BETA(3);",
        "struct FLOAT final { FLOAT x; };",
    ],
)
def test_plain_code_stays_as_it_is(text):
    assert repaired(text).text == text


def test_specifiers_of_the_sources_may_have_any_name():
    text = "forceful Result f() {}"
    assert repaired(text, frozenset({"forceful"})).text == "         Result f() {}"


@pytest.mark.parametrize("condition", ["if 0", "ifdef USE_ROCM", "if defined(__HIPCC__)"])
def test_the_branch_that_is_compiled_stays(condition):
    text = f"#{condition}\nvoid f() {{\n#else\nvoid g() {{\n#endif\n}}\n"
    mended = repaired(text)
    assert "void g" in mended.text
    assert "void f" not in mended.text
    assert mended.left_out == [1]


def test_types_among_macro_arguments_are_given_as_written():
    mended = repaired("void f() { LAUNCH(const float*, unsigned int, 4); }").text
    call = next(syntax.walk(syntax.parse_cpp(mended), {"call_expression"}))
    assert syntax.text_of(call) == "LAUNCH(const float*, unsigned int, 4)"
    assert syntax.raw_text_of(call) == "LAUNCH(const float*, unsigned int, 4)"


def test_definitions_by_brackets():
    text = """\
namespace a::b {
template <class T> struct S : Base<T> {
  S(int x) : x_{x}, y_(x) { inside(); }
  int get() const noexcept { return x_; }
  int x_ = 3;
};
template <> auto f<int, 4>(int x) -> decltype(x) { return make(x); }
auto list = std::array{1, 2};
}
extern "C" {
int plain(int (*callback)(int)) { if (a) { b(); } return 0; }
}
"""
    found = [(one.name, one.line, one.scope) for one in definitions_by_brackets(text)]
    assert found == [
        ("S", 3, ("a::b", "S")),
        ("get", 4, ("a::b", "S")),
        ("f", 7, ("a::b",)),
        ("plain", 11, ()),
    ]


def test_only_keeps_places():
    text = "é\nint a;\nint b;\n"
    alone = only(text, text.index("int b"), len(text))
    assert alone == "  \n      \nint b;\n"
    assert len(alone.encode()) == len(text.encode())
