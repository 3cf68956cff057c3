import port_trees


def named(index, symbol):
    return [(one.symbol, one.file, one.line) for one in index.named(symbol)]


def calls(index, symbol):
    return [one.callee for one in index.calls(index.named(symbol)[0])]


FUNCTIONS = """\
    #define HD __host__ __device__
    #define ENTRY __global__
    namespace outer::inner {
    template <typename T, int N = 4>
    __global__ void __launch_bounds__(128, 1) scale(const T* __restrict__ x, float* y, int n = 3) {}
    template <typename T>
    HD T square(T x) { return x * x; }
    ENTRY void entry() {}
    struct Tensor {
      Tensor(int size) : size_(size) {}
      static Tensor allocate(int rows, int (&shape)[2]);
      void operator()(float* x) const {}
      operator bool() const { return true; }
      ~Tensor();
    };
    Tensor Tensor::allocate(int rows, int (&shape)[2]) { return Tensor(rows); }
    }
    namespace { int* hidden(void) { return nullptr; } }
    extern "C" int exported(int) { return 0; }
    auto trailing(int x) -> float { return x; }
    void (*pointer)(int);
    PYBIND11_MODULE(name, m) { m.def("f", &outer::inner::scale); }
"""


def test_functions_of_every_form(tmp_path):
    index = port_trees.index_of(tmp_path, {"a.cu": FUNCTIONS})
    found = {one.symbol: one for one in index.functions_in("a.cu") if one.is_definition}
    assert list(found) == [
        "outer::inner::scale",
        "outer::inner::square",
        "outer::inner::entry",
        "outer::inner::Tensor::Tensor",
        "outer::inner::Tensor::operator()",
        "outer::inner::Tensor::operatorbool",
        "outer::inner::Tensor::allocate",
        "hidden",
        "exported",
        "trailing",
        "PYBIND11_MODULE",
    ]
    scale = found["outer::inner::scale"]
    assert scale.is_kernel
    assert scale.template_parameters == ["typename T", "int N = 4"]
    assert [(one.name, one.type, one.default) for one in scale.parameters] == [
        ("x", "const T* __restrict__", ""),
        ("y", "float*", ""),
        ("n", "int", "3"),
    ]
    assert (scale.line, scale.returns) == (5, "void")
    assert found["outer::inner::entry"].is_kernel
    assert found["outer::inner::square"].is_device
    assert not found["outer::inner::square"].is_kernel
    assert found["outer::inner::Tensor::allocate"].parameters[1].type == "int (&)[2]"
    assert found["hidden"].returns == "int*"
    assert found["hidden"].parameters == []
    assert found["exported"].parameters[0].name == ""
    assert found["trailing"].returns == "float"


def test_declarations_come_behind_definitions(tmp_path):
    files = {
        "a.h": "namespace ns { int run(int x); }",
        "z.cc": "namespace ns { int run(int x) { return x; } }",
    }
    index = port_trees.index_of(tmp_path, files)
    assert [(one.file, one.is_definition) for one in index.named("run")] == [
        ("z.cc", True),
        ("a.h", False),
    ]


def test_qualifiers_have_to_fit(tmp_path):
    files = {
        "a.cc": "namespace a { void run() {} }",
        "b.cc": "namespace b { struct S { static void run(); }; }\nvoid b::S::run() {}",
        "c.cc": "void caller() { a::run(); x.run(); }",
    }
    index = port_trees.index_of(tmp_path, files)
    assert named(index, "a::run") == [("a::run", "a.cc", 1)]
    assert named(index, "top::a::run") == [("a::run", "a.cc", 1)]
    assert [one[0] for one in named(index, "S<int>::run")] == ["b::S::run", "b::S::run"]
    assert len(named(index, "run")) == 3
    assert named(index, "elsewhere::run") == []


def test_two_functions_of_one_name_are_both_found(tmp_path):
    files = {"a.cc": "int f(int x) { return x; }", "b.cc": "int f(int x) { return -x; }"}
    index = port_trees.index_of(tmp_path, files)
    assert named(index, "f") == [("f", "a.cc", 1), ("f", "b.cc", 1)]


def test_only_files_that_may_declare_are_parsed(tmp_path):
    files = {"a.cc": "int size(int x) { return x; }"}
    files |= {f"u{at}.cc": "void u() { auto s = x.size(); y = size(s); }" for at in range(20)}
    index = port_trees.index_of(tmp_path, files)
    assert named(index, "size") == [("size", "a.cc", 1)]
    assert set(index._files) == {"a.cc"}


CALLS = """\
    #define CHECK_DEVICE(x) TORCH_CHECK((x).is_cuda(), #x " must be on the device")
    #define CHECK_INPUT(x) CHECK_DEVICE(x); CHECK_DENSE(x)
    #define RUN_ALL  helper(1); \\
                     helper(2)
    template <typename T> void launch(Tensor x, Tensor out) {
      using Runner = outer::Runner<T>;
      CHECK_INPUT(x);
      RUN_ALL;
      Runner runner(3);
      runner.go(x.data_ptr<T>());
      Runner::template start<T, 4>(x);
      Runner{}(out);
      AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "launch", [&] { inner<scalar_t>(x); });
      BOOL_SWITCH(flag, kFlag, { braced<kFlag>(x); });
      kernel<T><<<grid(1), 32>>>(x.ptr());
      (*function_pointer)(x);
      auto y = static_cast<int>(convert(x));
      auto z = new outer::Owner<T>(x);
    }
"""


def test_calls_of_every_form(tmp_path):
    index = port_trees.index_of(tmp_path, {"a.cu": CALLS})
    found = index.calls(index.named("launch")[0])
    by_name = {one.name: one for one in found}
    written = [one.callee for one in found if not one.macro]
    assert written == [
        "CHECK_INPUT",
        "Runner",
        "runner.go",
        "x.data_ptr<T>",
        "Runner::template start<T, 4>",
        "Runner::operator()",
        "AT_DISPATCH_FLOATING_TYPES",
        "x.scalar_type",
        "inner<scalar_t>",
        "BOOL_SWITCH",
        "braced<kFlag>",
        "grid",
        "x.ptr",
        "convert",
        "outer::Owner<T>",
    ]
    assert by_name["start"].template_arguments == ("T", "4")
    assert by_name["start"].target == "outer::Runner<T>::template start<T, 4>"
    assert by_name["go"].target == "outer::Runner<T>::go"
    assert by_name["operator()"].target == "outer::Runner<T>::operator()"
    assert by_name["data_ptr"].target == "Tensor::data_ptr"
    assert "kernel" not in by_name


def test_a_call_that_the_parser_tears_apart(tmp_path):
    """It ends the template's arguments at the first '>' that could, behind get<0."""
    text = """
        void run(P& p, S s) {
          constexpr auto kTile = tile<A>();
          launch<Traits</*tma=*/true, A, /*q=*/get<0>(kTile), /*kv=*/get<1>(kTile),
                        /*stages=*/2, typename P::Q, typename P::KV, A>,
                 W, CAUSAL>(p, /*stream=*/s, 3);
        }
    """
    index = port_trees.index_of(tmp_path, {"a.cuh": text})
    (call,) = [one for one in index.calls(index.named("run")[0]) if one.name == "launch"]
    assert (call.line, call.arguments) == (4, ("p", "s", "3"))


def test_macros_of_the_sources_are_looked_through(tmp_path):
    index = port_trees.index_of(tmp_path, {"a.cu": CALLS})
    found = [one for one in index.calls(index.named("launch")[0]) if one.macro]
    check = next(one for one in found if one.name == "TORCH_CHECK")
    assert check.arguments == ("(x).is_cuda()", '"x" " must be on the device"')
    assert (check.macro, check.line) == ("CHECK_INPUT", 7)
    assert [one.arguments for one in found if one.name == "helper"] == [("1",), ("2",)]
    assert {one.line for one in found if one.name == "helper"} == {8}


def test_a_macro_that_names_itself_ends(tmp_path):
    text = "#define A(x) B(x) + f(x)\n#define B(x) A(x)\nvoid run() { A(1); }"
    index = port_trees.index_of(tmp_path, {"a.cc": text})
    assert "f" in calls(index, "run")


def test_members_initialised_and_constructions_are_calls(tmp_path):
    text = "struct S { S(int x) : a_(make(x)) { Guard guard{x}; Other other(x); } };"
    index = port_trees.index_of(tmp_path, {"a.cc": text})
    assert calls(index, "S::S") == ["make", "Guard", "Other"]


BRANCHES = """\
    namespace ns {
    template <typename T>
    #ifndef EDITOR
    void run(T x) {
    #else
    void run(int x) {
    #endif
      first(x, typename T::Option{});
    }
    void second(int x) {
    #if defined(A)
      if (x) {
    #else
      {
    #endif
        third(x);
      }
    }
    }
    void fourth() { fifth(); }
"""


def test_branches_of_an_if_that_split_a_function(tmp_path):
    index = port_trees.index_of(tmp_path, {"a.cu": BRANCHES})
    symbols = [one.symbol for one in index.functions_in("a.cu")]
    assert symbols == ["ns::run", "ns::second", "fourth"]
    assert calls(index, "ns::run") == ["first"]
    assert calls(index, "second") == ["third"]
    told = [(gap.file, gap.line) for gap in index.sources.gaps]
    assert told == [("a.cu", 5), ("a.cu", 13)]


def test_branches_that_are_whole_are_both_read(tmp_path):
    text = "void run() {\n#if A\n  first();\n#else\n  second();\n#endif\n}"
    index = port_trees.index_of(tmp_path, {"a.cu": text})
    assert calls(index, "run") == ["first", "second"]
    assert index.sources.gaps == []


def test_specifier_macros_are_seen_through(tmp_path):
    text = """\
        MYLIB_DEVICE
        void one(int x) { MYLIB_UNROLL
          for (int i = 0; i < x; ++i) { inside(i); } }
        struct MYLIB_ALIGNAS(16) Storage { int a; };
        MYLIB_HOST_DEVICE float2 two(float x) { return make(x); }
        void three() { auto f = [&](int x) __attribute__((always_inline)) { deep(x); }; f(1); }
        """
    index = port_trees.index_of(tmp_path, {"a.cu": text})
    assert [one.symbol for one in index.functions_in("a.cu")] == ["one", "two", "three"]
    assert index.named("one")[0].is_device
    assert calls(index, "one") == ["inside"]
    assert "deep" in calls(index, "three")
    assert index.sources.gaps == []


def test_what_the_parser_lost_is_found_or_told(tmp_path):
    text = """\
        namespace ns {
        int before(int x) { return x; }
        decltype(auto) @@ broken <<< ( class... T, class... > ;
        template <int N>
        void after(int x) { called(x); }
        }
        """
    index = port_trees.index_of(tmp_path, {"a.cu": text})
    assert [one.symbol for one in index.named("after")] == ["ns::after"]
    assert calls(index, "after") == ["called"]


def test_a_file_of_nonsense_is_told_not_fatal(tmp_path):
    index = port_trees.index_of(tmp_path, {"a.cu": "void ((((( f( { { { g(x) ]]] = ;" * 20})
    index.functions_in("a.cu")
    assert index.sources.gaps


def test_non_ascii_text_keeps_its_places(tmp_path):
    text = "// größer ≥ 3\nFOO_DEVICE void f() { g(); } // ≤\nFOO_DEVICE void h() {}\n"
    index = port_trees.index_of(tmp_path, {"a.cu": text})
    f, h = index.functions_in("a.cu")
    assert index.raw("a.cu")[h.node.start_byte : h.node.end_byte] == b"void h() {}"
    assert (f.line, h.line) == (2, 3)


def test_a_thousand_files_are_quick(tmp_path):
    import time

    filler = "".join(f"  value = compute(value, {at});\n" for at in range(200))
    files = {
        f"d{at % 20}/f{at}.cu": f"namespace n{at} {{ void run{at}(int value) {{\n{filler}}} }}\n"
        for at in range(1000)
    }
    files["entry.cu"] = "void entry() { n7::run7(1); }"
    began = time.process_time()
    index = port_trees.index_of(tmp_path, files)
    assert [one.file for one in index.named("n7::run7")] == ["d7/f7.cu"]
    assert index.named("compute") == []
    assert time.process_time() - began < 10.0  # of the 20 s that a whole survey may take
