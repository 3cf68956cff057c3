#include "src/jit/kernel_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace einkorn::jit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(KernelNames, KernelsAndTemplates) {
  EXPECT_THAT(kernel_names("extern \"C\" __global__ void a(int* p) { *p = f(1); }\n"
                           "template <class T, int N>\n__global__ void b(T* y);\n"
                           "template<class T = X<int>> static __global__ void c() {}\n"
                           "template <class T> void host(T t) { g<T>(t); }\n"
                           "__global__ void d() {}\n"),
              ElementsAre("a", "b<class T, int N>", "c<class T = X<int>>", "d"));
}

TEST(KernelNames, Attributes) {
  EXPECT_THAT(kernel_names("__global__ void __launch_bounds__(256, 2) a(int) {}\n"
                           "void __global__ __cluster_dims__(N / (2)) b() {}\n"),
              ElementsAre("a", "b"));
}

TEST(KernelNames, EachOnceAndNoneOfComments) {
  EXPECT_THAT(kernel_names("// __global__ void old() {}\n/* __global__ void older() {} */\n"
                           "__global__ void a();\n__global__ void a() {}\n"),
              ElementsAre("a"));
  EXPECT_THAT(kernel_names("float addf(float a) { return a; }"), IsEmpty());
  EXPECT_THAT(kernel_names("#define KERNEL __global__\n"), IsEmpty());
  EXPECT_THAT(kernel_names("__global__"), IsEmpty());
}

TEST(FunctionNames, DefinedAndVoid) {
  EXPECT_THAT(function_names("void add(float* y, int n) {}\n// void old() {}\n"
                             "template <class T> inline void scale(T* y) noexcept { add(y, 1); }\n"
                             "void declared(int);\nint number() { return 1; }\n"
                             "void* address() {}\navoid(x) {}\nvoid add(double*) {}\n"),
              ElementsAre("add", "scale"));
  EXPECT_THAT(function_names("void"), IsEmpty());
  EXPECT_THAT(function_names("void f("), IsEmpty());
}

}  // namespace
}  // namespace einkorn::jit
