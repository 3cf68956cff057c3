// A module in the style of frameworks that compile host and device code together, built by nvcc
// here and called; with tensors of a GPU where there is one.

#include "src/jit/ffi_module.h"

#include <array>
#include <numeric>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/jit/compiler.h"
#include "src/jit/tvm_ffi.h"
#include "tests/unit/jit/compiler_tests.h"

namespace einkorn::jit {
namespace {

using test::failure_text;
using test::thrown_text;
using test::Variable;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kModule = R"(
#include <cuda_runtime.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/optional.h>
#include <tvm/ffi/string.h>

namespace {

using tvm::ffi::TensorView;

// Binds a size by the first tensor that has it, holds the others against it.
class Size {
 public:
  explicit Size(const char* name) : name_(name) {}
  void match(int64_t size) {
    if (value_ < 0) value_ = size;
    if (value_ == size) return;
    TVM_FFI_THROW(ValueError) << "size " << name_ << ": expected " << value_ << ", got " << size;
  }
  int64_t value() const { return value_; }

 private:
  const char* name_;
  int64_t value_ = -1;
};

void match(const char* name, const TensorView& tensor, Size& size) {
  if (tensor.ndim() != 1) {
    TVM_FFI_THROW(ValueError) << name << " rank: expected 1, got " << tensor.ndim();
  }
  if (tensor.dtype().code != kDLInt || tensor.dtype().bits != 32) {
    TVM_FFI_THROW(TypeError) << name << " dtype: expected int32";
  }
  size.match(tensor.size(0));
}

template <int kConstant>
__global__ void add_constant_kernel(int* out, const int* in, int64_t count) {
  const int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (i < count) out[i] = in[i] + kConstant;
}

template <int kConstant>
void add_constant(TensorView out, TensorView in) {
  Size n("n");
  match("out", out, n);
  match("in", in, n);
  if (in.device().device_type != kDLCUDA) {
    TVM_FFI_THROW(NotImplementedError) << "in is not on a GPU";
  }
  const auto stream = static_cast<cudaStream_t>(
      TVMFFIEnvGetStream(in.device().device_type, in.device().device_id));
  const auto blocks = static_cast<unsigned>((n.value() + 255) / 256);
  add_constant_kernel<kConstant><<<blocks, 256, 0, stream>>>(
      static_cast<int*>(out.data_ptr()), static_cast<const int*>(in.data_ptr()), n.value());
  if (cudaGetLastError() != cudaSuccess) TVM_FFI_THROW(RuntimeError) << "launch failed";
}

double mixed(int64_t a, double b, bool c) { return static_cast<double>(a) + b + (c ? 100 : 0); }
tvm::ffi::String greet(tvm::ffi::String name) { return "hello " + std::string(name); }
bool is_none(tvm::ffi::Optional<TensorView> tensor) { return !tensor.has_value(); }
int64_t bits(DLDataType dtype) { return dtype.bits; }
int64_t stream_of(int device) {
  return reinterpret_cast<int64_t>(TVMFFIEnvGetStream(kDLCUDA, device));
}
int64_t offset_of(TensorView tensor) { return static_cast<int64_t>(tensor.stride(0)); }
void fail(tvm::ffi::String kind) {
  if (kind == "std") throw std::runtime_error("from the standard library");
  TVM_FFI_THROW(InternalError) << "inside";
}
tvm::ffi::Shape shape(TensorView tensor) { return tensor.shape(); }

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(add_constant, add_constant<7>);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(mixed, mixed);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(greet, greet);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(is_none, is_none);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(bits, bits);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(stream_of, stream_of);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(stride, offset_of);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(fail, fail);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(shape, shape);
)";

CompileInputs inputs_of(std::string source, Expressions entries) {
  const std::string arch =
      cuda::available() ? native_arch(cuda::device_info(0).cc) : std::string("sm_90a");
  return resolve_inputs({.file = "module.cu",
                         .source = std::move(source),
                         .instantiate = std::move(entries),
                         .arch = arch,
                         .target = Target::kFfi});
}

/// nvcc with its host half takes seconds, so all tests share one module.
struct Compiled {
  std::optional<std::string> reason;  ///< why nothing was compiled
  Outcome outcome;
};

const Compiled& compiled() {
  static const Compiled kOnce = [] {
    const CompileInputs inputs = inputs_of(kModule, {"add_constant", "mixed"});
    Compiled out{ffi_module_compiler().refusal(inputs), {}};
    if (!out.reason) out.outcome = ffi_module_compiler().compile(inputs);
    return out;
  }();
  return kOnce;
}

class FfiModuleTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto& reason = compiled().reason) GTEST_SKIP() << *reason;
    ASSERT_EQ(failure_text(compiled().outcome), "");
  }

  static FfiModule module() { return FfiModule::load(*compiled().outcome.artifact, "module.cu"); }
  template <class T>
  static T call(const std::string& function, std::initializer_list<FfiArgument> arguments) {
    return std::get<T>(module().call(function, arguments));
  }
};

TensorView view_of(std::span<int> values) {
  return {values.data(), DType::kI32, {static_cast<std::int64_t>(values.size())}, kCpuDevice};
}

TEST_F(FfiModuleTest, TheArtifact) {
  const Artifact& artifact = *compiled().outcome.artifact;
  EXPECT_EQ(artifact.target, Target::kFfi);
  EXPECT_THAT(artifact.compiler, EndsWith(" for tvm-ffi"));
  ASSERT_EQ(artifact.entries.size(), 2u);
  EXPECT_EQ(artifact.entries[0].lowered, "__tvm_ffi_add_constant");
  EXPECT_THAT(compiled().outcome.dependencies, Contains(EndsWith("/tvm/ffi/function.h")));
  EXPECT_THAT(compiled().outcome.dependencies, Contains(EndsWith("/cuda_runtime.h")));
  EXPECT_THAT(module().functions(), ElementsAre("add_constant", "bits", "fail", "greet", "is_none",
                                                "mixed", "shape", "stream_of", "stride"));
  EXPECT_THAT(ffi_module_compiler().identity(), HasSubstr(", tvm-ffi "));
}

TEST_F(FfiModuleTest, ArgumentsAndResults) {
  EXPECT_EQ(call<double>("mixed", {std::int64_t{-2}, 0.5, true}), 98.5);
  EXPECT_EQ(call<std::string>("greet", {"you"}), "hello you");  // an object
  EXPECT_EQ(call<std::string>("greet", {std::string(200, 'x')}).size(), 206u);
  EXPECT_EQ(call<bool>("is_none", {std::monostate()}), true);
  EXPECT_EQ(call<bool>("is_none", {TensorView()}), true);
  EXPECT_EQ(call<std::int64_t>("bits", {DType::kBF16}), 16);
  std::array<int, 6> values{};
  EXPECT_EQ(call<bool>("is_none", {view_of(values)}), false);
  const std::array<std::int64_t, 1> shape = {3};
  const std::array<std::int64_t, 1> strides = {2};
  EXPECT_EQ(call<std::int64_t>(
                "stride", {TensorView(values.data(), DType::kI32, shape, strides, kCpuDevice)}),
            2);
}

TEST_F(FfiModuleTest, RaisedErrorsKeepKindAndText) {
  std::array<int, 4> four{};
  std::array<int, 3> three{};
  const auto error_of = [&](const std::string& function, std::initializer_list<FfiArgument> list) {
    try {
      module().call(function, list);
    } catch (const Error& error) {
      return std::string(name(error.kind())) + ": " + error.what();
    }
    return std::string("no error");
  };
  EXPECT_EQ(error_of("add_constant", {view_of(four), view_of(three)}),
            "ValueError: module.cu: add_constant: size n: expected 4, got 3");
  EXPECT_EQ(error_of("add_constant", {view_of(four), view_of(four)}),
            "NotImplementedError: module.cu: add_constant: in is not on a GPU");
  std::array<float, 4> floats{};
  EXPECT_EQ(error_of("add_constant",
                     {view_of(four), TensorView(floats.data(), DType::kF32, {4}, kCpuDevice)}),
            "TypeError: module.cu: add_constant: in dtype: expected int32");
  EXPECT_EQ(error_of("fail", {"tvm"}), "RuntimeError: module.cu: fail: InternalError: inside");
  EXPECT_THAT(error_of("fail", {"std"}), HasSubstr("from the standard library"));
  EXPECT_THAT(error_of("mixed", {std::int64_t{1}}),
              testing::AllOf(StartsWith("TypeError: module.cu: mixed: "), HasSubstr("Expected 3")));
  EXPECT_THAT(error_of("mixed", {"a", 0.5, true}), StartsWith("TypeError: "));
}

TEST_F(FfiModuleTest, WhatCannotBeCalledOrReturned) {
  EXPECT_EQ(
      thrown_text([&] { module().call("gone", {}); }),
      "jit: module.cu: expected a function \"gone\", got none of that name\n"
      "  exported: add_constant, bits, fail, greet, is_none, mixed, shape, stream_of, stride\n"
      "  hint: TVM_FFI_DLL_EXPORT_TYPED_FUNC(name, function) exports one");
  std::array<int, 4> values{};
  EXPECT_THAT(thrown_text([&] { module().call("shape", {view_of(values)}); }),
              StartsWith("module.cu: shape: expected a result of type None, int, bool, float or "
                         "str, got tvm-ffi's type 69\n"));
}

TEST_F(FfiModuleTest, TheStreamHoldsForOneCall) {
  int place = 0;
  const auto own = reinterpret_cast<std::int64_t>(&place);
  const std::array<FfiArgument, 1> device = {std::int64_t{0}};
  EXPECT_EQ(std::get<std::int64_t>(module().call("stream_of", device, Stream::cuda(0, &place))),
            own);
  EXPECT_EQ(std::get<std::int64_t>(module().call("stream_of", device)), 0);
  // Also after an error.
  const std::array<FfiArgument, 1> kind = {"tvm"};
  thrown_text([&] { module().call("fail", kind, Stream::cuda(0, &place)); });
  EXPECT_EQ(std::get<std::int64_t>(module().call("stream_of", device)), 0);
}

TEST_F(FfiModuleTest, AddsOnTheGpu) {
  std::string reason;
  if (!cuda::available(&reason)) GTEST_SKIP() << reason;
  constexpr std::int64_t kCount = 1000;
  std::vector<int> host(kCount);
  std::iota(host.begin(), host.end(), 0);
  const Tensor in = Tensor::empty({kCount}, DType::kI32, cuda_device(0));
  const Tensor out = Tensor::empty({kCount}, DType::kI32, cuda_device(0));
  copy(view_of(host), in);
  const cuda::OwnedStream stream(0);
  module().call("add_constant", std::array<FfiArgument, 2>{out.view(), in.view()}, stream.get());
  stream.synchronize();
  std::vector<int> result(kCount);
  copy(out, view_of(result));
  for (int& value : host) value += 7;
  EXPECT_EQ(result, host);
}

TEST_F(FfiModuleTest, ErrorsOfTheSource) {
  const std::string text =
      failure_text(ffi_module_compiler().compile(inputs_of("\n#include <tvm/ffi/nope.h>\n", "f")));
  EXPECT_THAT(text, StartsWith("jit: module.cu(2): error: tvm/ffi/nope.h: No such file"));
  EXPECT_THAT(text, HasSubstr("compiler: nvcc "));
  EXPECT_THAT(failure_text(ffi_module_compiler().compile(
                  inputs_of("extern \"C\" int f() { return 1; }\n", "f"))),
              HasSubstr("error: no tvm-ffi function \"f\"; exported are: none (TVM_FFI_DLL_"));
}

TEST(FfiFunctions, AreThoseWithThePrefixAlone) {
  const std::vector<std::string> symbols = {"__tvm_ffi_", "__tvm_ffi___metadata_f", "__tvm_ffi_add",
                                            "__tvm_ffi_f", "f"};
  EXPECT_THAT(ffi_functions(symbols), testing::ElementsAre("add", "f"));
}

TEST(TvmFfi, RefusesWithoutTheWheel) {
  const CompileInputs inputs = inputs_of("\n", "f");
  const Variable missing("EINKORN_TVM_FFI", "/nowhere/libtvm_ffi.so");
  const std::string reason = ffi_module_compiler().refusal(inputs).value_or("");
  // Without nvcc that is said first.
  EXPECT_THAT(reason, testing::AnyOf(HasSubstr("nvcc"), HasSubstr("pip install apache-tvm-ffi")));
  CompileInputs other = inputs;
  other.target = Target::kCuda;
  EXPECT_NE(ffi_module_compiler().refusal(other), std::nullopt);
}

}  // namespace
}  // namespace einkorn::jit
