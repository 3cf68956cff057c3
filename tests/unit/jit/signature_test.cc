#include "src/jit/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/jit/compile_cubin.h"

namespace einkorn::jit {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;
using testing::Optional;
using Kind = Parameter::Kind;

std::vector<std::string> texts(std::string_view lowered) {
  const auto parameters = parse_signature(lowered);
  if (!parameters) return {"no signature"};
  std::vector<std::string> out;
  for (const Parameter& parameter : *parameters) out.push_back(parameter.text);
  return out;
}

/// Of a kernel with that one parameter; `v` mangles it.
Parameter only(const std::string& mangled) {
  const auto parameters = parse_signature("_Z1k" + mangled);
  if (!parameters || parameters->size() != 1) {
    ADD_FAILURE() << mangled << " is not one parameter";
    return {};
  }
  return parameters->front();
}

TEST(Signature, Demangle) {
  EXPECT_EQ(demangle("_ZN4test7reverseIfLi4EEEvPT_"), "void test::reverse<float, 4>(float*)");
  EXPECT_EQ(demangle("plain"), "plain");
  EXPECT_EQ(demangle("_Z"), "_Z");
  EXPECT_EQ(demangle("_ZN4test"), "_ZN4test");
  EXPECT_EQ(demangle(""), "");
}

TEST(Signature, NamesThatAreNotMangled) {
  for (const char* name : {"", "plain", "_Z", "_Zx", "_ZN4test", "Z1ki", "main", "_Z1a"}) {
    EXPECT_EQ(parse_signature(name), std::nullopt) << name;
  }
}

TEST(Signature, NoParametersIsNotNoSignature) {
  EXPECT_THAT(parse_signature("_Z6noargsv"), Optional(IsEmpty()));
  EXPECT_THAT(parse_signature("_ZN7einkorn4packIJEEEvDpT_"), Optional(IsEmpty()));
}

TEST(Signature, Scalars) {
  struct Row {
    const char* mangled;
    const char* text;
    int bytes;
    bool is_floating, is_signed;
    std::optional<DType> dtype = {}, signed_dtype = {};
  };
  for (const Row& row : {
           Row{"b", "bool", 1, false, false, kBool},
           Row{"c", "char", 1, false, true},
           Row{"a", "signed char", 1, false, true, kI8},
           Row{"h", "unsigned char", 1, false, false, kU8},
           Row{"s", "short", 2, false, true},
           Row{"t", "unsigned short", 2, false, false},
           Row{"i", "int", 4, false, true, kI32},
           Row{"j", "unsigned int", 4, false, false, {}, kI32},
           Row{"l", "long", 8, false, true, kI64},
           Row{"m", "unsigned long", 8, false, false, {}, kI64},
           Row{"x", "long long", 8, false, true, kI64},
           Row{"y", "unsigned long long", 8, false, false, {}, kI64},
           Row{"f", "float", 4, true, true, kF32},
           Row{"d", "double", 8, true, true, kF64},
           Row{"N7einkorn3f16E", "einkorn::f16", 2, true, true, kF16},
           Row{"6__half", "__half", 2, true, true, kF16},
           Row{"N7einkorn4bf16E", "einkorn::bf16", 2, true, true, kBF16},
           Row{"13__nv_bfloat16", "__nv_bfloat16", 2, true, true, kBF16},
           Row{"N7einkorn6f8e4m3E", "einkorn::f8e4m3", 1, true, true, kF8E4M3},
           Row{"13__nv_fp8_e4m3", "__nv_fp8_e4m3", 1, true, true, kF8E4M3},
           Row{"N7einkorn6f8e5m2E", "einkorn::f8e5m2", 1, true, true, kF8E5M2},
           Row{"13__nv_fp8_e5m2", "__nv_fp8_e5m2", 1, true, true, kF8E5M2},
           Row{"13__nv_fp8_e8m0", "__nv_fp8_e8m0", 1, true, false, kE8M0},
       }) {
    SCOPED_TRACE(row.text);
    const Parameter scalar = only(row.mangled);
    EXPECT_EQ(scalar.text, row.text);
    EXPECT_EQ(scalar.kind, Kind::kScalar);
    EXPECT_EQ(scalar.bytes, row.bytes);
    EXPECT_EQ(scalar.is_floating, row.is_floating);
    EXPECT_EQ(scalar.is_signed, row.is_signed);
    EXPECT_EQ(scalar.dtype, row.dtype);
    EXPECT_EQ(scalar.signed_dtype, row.signed_dtype);
    EXPECT_FALSE(scalar.is_const);
    EXPECT_EQ(scalar.bytes * 8, row.dtype ? bits(*row.dtype) : scalar.bytes * 8);

    const Parameter pointer = only(std::string("PK") + row.mangled);
    EXPECT_EQ(pointer.text, std::string(row.text) + " const*");
    EXPECT_EQ(pointer.kind, Kind::kPointer);
    EXPECT_EQ(pointer.bytes, 8);
    EXPECT_TRUE(pointer.is_const);
    EXPECT_EQ(pointer.dtype, row.dtype);
    EXPECT_EQ(pointer.signed_dtype, row.signed_dtype);
    EXPECT_FALSE(pointer.is_floating) << "of scalars only";
  }
}

TEST(Signature, Pointers) {
  struct Row {
    const char* mangled;
    const char* text;
    bool is_const;
    std::optional<DType> dtype = {};
  };
  for (const Row& row : {
           Row{"Pf", "float*", false, kF32},
           Row{"PKf", "float const*", true, kF32},
           Row{"PVKi", "int const volatile*", true, kI32},
           Row{"PVi", "int volatile*", false, kI32},
           Row{"Pv", "void*", false},
           Row{"PKv", "void const*", true},
           Row{"PPf", "float**", false},
           Row{"PKPf", "float* const*", true},
           Row{"PKPKf", "float const* const*", true},
           Row{"PPKf", "float const**", false},
           Row{"PrPf", "float* restrict*", false},
           Row{"Rf", "float&", false, kF32},
           Row{"RKf", "float const&", true, kF32},
           Row{"RPf", "float*&", false},
           Row{"PA4_i", "int (*) [4]", false},
           Row{"P6Params", "Params*", false},
           Row{"P6float4", "float4*", false},
       }) {
    SCOPED_TRACE(row.text);
    const Parameter parameter = only(row.mangled);
    EXPECT_EQ(parameter.text, row.text);
    EXPECT_EQ(parameter.kind, Kind::kPointer);
    EXPECT_EQ(parameter.bytes, 8);
    EXPECT_EQ(parameter.is_const, row.is_const);
    EXPECT_EQ(parameter.dtype, row.dtype);
  }
}

TEST(Signature, WhatIsNeitherPointerNorScalar) {
  for (const char* mangled : {"6Params", "N7einkorn8rms_norm6ParamsE", "1E", "6float4",
                              "PFviPfE",  // void (*)(int, float*)
                              "M6Hiddeni", "N2AlIdE4typeE", "Dn", "n", "N4test3f16E"}) {
    const Parameter parameter = only(mangled);
    EXPECT_EQ(parameter.kind, Kind::kOther) << parameter.text;
    EXPECT_EQ(parameter.bytes, 0) << parameter.text;
    EXPECT_EQ(parameter.dtype, std::nullopt) << parameter.text;
  }
}

struct Case {
  std::string expression;
  std::vector<std::string> texts;
};

// Each is compiled: the names are those that NVRTC gives.
TEST(Signature, OfCompiledKernels) {
  const std::string source = R"(
    enum class E : short { a, b };
    namespace einkorn {
    struct f16 { unsigned short bits; };
    struct bf16 { unsigned short bits; };
    namespace rms_norm {
    struct Params { int a; };
    template <class T, int N, bool B = true, class U = float>
    __global__ void k(T* x, const U* __restrict__ w, const __grid_constant__ Params p, const int n) {
    }
    }  // namespace rms_norm
    }  // namespace einkorn
    template <class... Ts> __global__ void pack(Ts... ts) {}
    template <int (*F)(int, int)> __global__ void with_function(int* x) { x[0] = F(1, 2); }
    __device__ int add(int a, int b) { return a + b; }
    template <auto V> __global__ void with_value(int* x) {}
    template <class T> struct Wrap { T t; template <class U> struct Inner { U u; }; };
    template <bool B> struct If {};
    template <int N> struct Int {};
    template <int A, int B>
    __global__ void compare(If<(A > B)> a, Wrap<If<(A < B)>>* b, If<(A >= B)> c, int d) {}
    template <int A> __global__ void shift(Int<(A >> 1)>* a, Wrap<Int<(A << 1)>> b, int c) {}
    namespace {
    struct Hidden { int a; };
    __global__ void unnamed(int a, Hidden* b) {}
    }
    static __global__ void internal(float a) {}
    __global__ void functions(void (*f)(int, float*), int (*(*g)(double))(long), int Hidden::* m,
                              int last) {}
    __global__ void nested(Wrap<int>::Inner<float> a, Wrap<Wrap<int>> b, Wrap<Wrap<int>>* c) {}
    struct Op {
      int x;
      __device__ bool operator<(const Op&) const { return true; }
      __device__ int operator()(int, int) const { return 1; }
    };
    template <bool (Op::*M)(const Op&) const> __global__ void with_less(int a) {}
    template <class T> __global__ void of_call(decltype(&T::operator()) m, int a) {}
    template <class T> __global__ void of_expression(decltype(T{} + 1) a, T* b) {}
    template <class T> struct Alias { using type = T; };
    template <class T> __global__ void dependent(typename Alias<T>::type a, T* b) {}
    template <template <class> class C, class T> __global__ void of_template(C<T> a, C<Wrap<T>>* b) {}
    __global__ void restricted(float* __restrict__ a, const float* __restrict__ b, int n[8]) {}
    __global__ void references(float& a, float*& b, const int& c) {}
    extern "C" __global__ void plain(int a, float* b) {}
  )";
  const std::vector<Case> cases = {
      {"einkorn::rms_norm::k<float, 4>",
       {"float*", "float const*", "einkorn::rms_norm::Params", "int"}},
      {"einkorn::rms_norm::k<einkorn::bf16, 8, false, einkorn::f16>",
       {"einkorn::bf16*", "einkorn::f16 const*", "einkorn::rms_norm::Params", "int"}},
      {"pack<int, float*, einkorn::f16>", {"int", "float*", "einkorn::f16"}},
      {"pack<>", {}},
      {"with_function<add>", {"int*"}},
      {"with_value<E::b>", {"int*"}},
      {"with_value<-3>", {"int*"}},
      {"with_value<','>", {"int*"}},
      {"with_value<&add>", {"int*"}},
      {"compare<1, 2>", {"If<((1)>(2))>", "Wrap<If<(1)<(2)> >*", "If<(1)>=(2)>", "int"}},
      {"shift<4>", {"Int<(4)>>(1)>*", "Wrap<Int<(4)<<(1)> >", "int"}},
      {"unnamed", {"int", "(anonymous namespace)::Hidden*"}},
      {"internal", {"float"}},
      {"functions",
       {"void (*)(int, float*)", "int (*(*)(double))(long)", "int (anonymous namespace)::Hidden::*",
        "int"}},
      {"nested", {"Wrap<int>::Inner<float>", "Wrap<Wrap<int> >", "Wrap<Wrap<int> >*"}},
      {"with_less<&Op::operator<>", {"int"}},
      {"of_call<Op>", {"decltype (&Op::operator())", "int"}},
      {"of_expression<char>", {"decltype (char{}+(1))", "char*"}},
      {"dependent<double>", {"Alias<double>::type", "double*"}},
      {"of_template<Wrap, int>", {"Wrap<int>", "Wrap<Wrap<int> >*"}},
      {"restricted", {"float*", "float const*", "int*"}},
      {"references", {"float&", "float*&", "int const&"}},
      {"plain", {"no signature"}},
  };
  std::vector<std::string> expressions;
  expressions.reserve(cases.size());
  for (const Case& one : cases) expressions.push_back(one.expression);
  const auto compiled = test::compile_cubin(source, expressions, "sm_90");
  for (const Case& one : cases) {
    const std::string& lowered = compiled.lowered.at(one.expression);
    EXPECT_THAT(texts(lowered), ElementsAreArray(one.texts)) << lowered << " " << demangle(lowered);
  }
}

// Names that the mangling allows and that would confuse a search for commas and brackets.
TEST(Signature, OperatorsInTemplateArguments) {
  EXPECT_EQ(demangle("_Z1kIXadL_ZN1AlsEiEEEvPf1AIiiE"),
            "void k<&A::operator<<>(float*, A<int, int>)");
  EXPECT_THAT(texts("_Z1kIXadL_ZN1AlsEiEEEvPf1AIiiE"), ElementsAre("float*", "A<int, int>"));
  // The same in a parameter's own type.
  struct Row {
    const char* mangled;
    const char* text;
  };
  for (const Row& row : {Row{"cm", "A<&B::operator,>"}, Row{"pt", "A<&B::operator-> >"},
                         Row{"gt", "A<&B::operator> >"}, Row{"ls", "A<&B::operator<<>"},
                         Row{"lt", "A<&B::operator<>"}, Row{"rs", "A<&B::operator>> >"},
                         Row{"cl", "A<&B::operator()>"}, Row{"ix", "A<&B::operator[]>"},
                         Row{"ss", "A<&B::operator<=> >"}, Row{"pl", "A<&B::operator+>"}}) {
    EXPECT_THAT(texts("_Z1k1AIXadL_ZN1B" + std::string(row.mangled) + "EiEEEPf"),
                ElementsAre(row.text, "float*"));
  }
  EXPECT_THAT(texts("_Z1k1AIXadL_ZNK1BltERKS0_EEEPf"),
              ElementsAre("A<&(B::operator<(B const&) const)>", "float*"));
  EXPECT_THAT(texts("_Z1k1AIXadL_ZN1BleEiEEEPf"), ElementsAre("no signature")) << "ambiguous";
}

TEST(Signature, DamagedNamesDoNoHarm) {
  const std::string name =
      "_ZN7einkorn8rms_norm1kINS_4bf16ELi8ELb0ENS_3f16EEEvPT_PKT2_NS0_6ParamsEi";
  for (std::size_t length = 0; length <= name.size(); ++length) {
    parse_signature(name.substr(0, length));
  }
  for (std::size_t i = 0; i < name.size(); ++i) {
    for (const char c : {'_', 'E', 'I', 'P', '0', '9', 'X', '\0', '\x80'}) {
      std::string damaged = name;
      damaged[i] = c;
      parse_signature(damaged);
    }
  }
}

}  // namespace
}  // namespace einkorn::jit
