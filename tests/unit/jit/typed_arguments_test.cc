#include "src/jit/typed_arguments.h"

#include <cstring>

#include <einkorn/error.h>
#include <gtest/gtest.h>

#include "tests/unit/allocation_count.h"
#include "tests/unit/golden.h"

namespace einkorn::jit {
namespace {

constexpr Device kGpu = cuda_device(0);

/// A kernel as its mangled name tells it, with the layout that the compiler would give.
struct Kernel {
  std::optional<std::vector<Parameter>> signature;
  std::vector<CubinParameter> layout;

  /// `bytes` for parameters whose size is not in the name, in order.
  explicit Kernel(const std::string& lowered, std::vector<std::int64_t> bytes = {})
      : signature(parse_signature(lowered)) {
    std::size_t used = 0;
    if (!signature) {
      for (const std::int64_t size : bytes) add(size);
      return;
    }
    for (const Parameter& parameter : *signature) {
      add(parameter.bytes != 0 ? parameter.bytes : bytes.at(used++));
    }
  }

  void add(std::int64_t bytes) { layout.push_back({static_cast<int>(layout.size()), 0, bytes}); }
  const std::vector<Parameter>* types() const { return signature ? &*signature : nullptr; }
};

/// The parameters' values, each in its size.
std::vector<std::vector<std::byte>> bound(const Kernel& kernel,
                                          const std::vector<Argument>& arguments) {
  BoundArguments result("scale", arguments, kernel.types(), kernel.layout, kGpu);
  std::vector<std::vector<std::byte>> out;
  for (std::size_t i = 0; i < kernel.layout.size(); ++i) {
    const auto* value = static_cast<const std::byte*>(result.pointers()[i]);
    out.emplace_back(value, value + kernel.layout[i].bytes);
  }
  return out;
}

template <class T>
T value_of(const std::vector<std::byte>& bytes) {
  T value;
  EXPECT_EQ(bytes.size(), sizeof(T));
  std::memcpy(static_cast<void*>(&value), bytes.data(), std::min(bytes.size(), sizeof(T)));
  return value;
}

TensorView tensor(DType dtype, Device device = kGpu, void* data = nullptr) {
  return TensorView(data, dtype, {2, 8}, device);
}

struct Params {
  float* data;
  std::int64_t rows;
  float scale;
  bool operator==(const Params&) const = default;
};

struct Wide {
  std::array<int, 1000> values;
};

// scale(float*, float const*, Params, int, float)
constexpr const char* kScale = "_Z5scalePfPKf6Paramsif";

TEST(TypedArguments, EachAsItsParameterWantsIt) {
  std::array<float, 4> memory;
  const Params params{memory.data(), 7, 0.5f};
  const auto values = bound(Kernel(kScale, {sizeof(Params)}),
                            {tensor(kF32, kGpu, memory.data()), memory.data() + 1,
                             Argument::bytes_of(params), std::int64_t{1048576}, 0.1});
  EXPECT_EQ(value_of<float*>(values[0]), memory.data());
  EXPECT_EQ(value_of<float*>(values[1]), memory.data() + 1);
  EXPECT_EQ(value_of<Params>(values[2]), params);
  EXPECT_EQ(value_of<int>(values[3]), 1048576);
  EXPECT_EQ(value_of<float>(values[4]), 0.1f);
}

TEST(TypedArguments, ATensorPassesItsFirstElement) {
  std::array<float, 64> memory;
  const TensorView whole(memory.data(), kF32, {4, 16}, kGpu);
  const auto values = bound(Kernel("_Z1kPf"), {whole.slice(0, 2, 3)});
  EXPECT_EQ(value_of<float*>(values[0]), memory.data() + 32);

  std::int64_t shape = 4;
  DLTensor raw{};
  raw.data = memory.data();
  raw.device = {kDLCUDA, 0};
  raw.ndim = 1;
  raw.dtype = to_dlpack(kF32);
  raw.shape = &shape;
  raw.byte_offset = 8;
  EXPECT_EQ(value_of<float*>(bound(Kernel("_Z1kPf"), {TensorView(raw)})[0]), memory.data() + 2);
}

TEST(TypedArguments, NothingIsNull) {
  const Kernel kernel("_Z1kPfPKfPv");
  for (const auto& value : bound(kernel, {TensorView(), nullptr, Tensor()})) {
    EXPECT_EQ(value_of<void*>(value), nullptr);
  }
}

TEST(TypedArguments, WhichTensorsAPointerTakes) {
  struct Row {
    const char* mangled;  // of the pointer
    std::vector<DType> takes;
  };
  const std::vector<DType> all(all_dtypes().begin(), all_dtypes().end());
  for (const Row& row : {Row{"Pf", {kF32}},
                         Row{"PKd", {kF64}},
                         Row{"PN7einkorn3f16E", {kF16}},
                         Row{"PK13__nv_bfloat16", {kBF16}},
                         Row{"Pi", {kI32}},
                         Row{"Pj", {kI32}},
                         Row{"Pl", {kI64}},
                         Row{"Px", {kI64}},
                         Row{"Py", {kI64}},
                         Row{"Pm", {kI64}},
                         Row{"Pa", {kI8}},
                         Row{"Ph", {kU8}},
                         Row{"Pb", {kBool}},
                         Row{"P13__nv_fp8_e4m3", {kF8E4M3}},
                         Row{"Pv", all},
                         Row{"PKv", all},
                         Row{"Pc", all},
                         Row{"Ps", all},
                         Row{"PPf", all},
                         Row{"P5uint4", all}}) {
    const Kernel kernel(std::string("_Z1k") + row.mangled);
    for (const DType dtype : all) {
      const bool takes = std::count(row.takes.begin(), row.takes.end(), dtype) != 0;
      try {
        bound(kernel, {tensor(dtype)});
        EXPECT_TRUE(takes) << row.mangled << " " << name(dtype);
      } catch (const Error& error) {
        EXPECT_FALSE(takes) << error.what();
      }
    }
  }
}

TEST(TypedArguments, WhichPointersAPointerTakes) {
  const Kernel kernel("_Z1kPj");  // unsigned int*
  unsigned u = 0;
  int i = 0;
  unsigned char byte = 0;
  for (const Argument& argument :
       {Argument(&u), Argument(&i), Argument(&byte), Argument(static_cast<void*>(&u)),
        Argument(static_cast<const volatile unsigned*>(&u))}) {
    EXPECT_EQ(value_of<void*>(bound(kernel, {argument})[0]) == nullptr, false);
  }
  float f = 0;
  std::int64_t l = 0;
  EXPECT_THROW(bound(kernel, {&f}), Error);
  EXPECT_THROW(bound(kernel, {&l}), Error);
}

TEST(TypedArguments, AReferenceIsAnAddress) {
  float f = 0;
  EXPECT_EQ(value_of<float*>(bound(Kernel("_Z1kRKf"), {&f})[0]), &f);
  EXPECT_EQ(value_of<float*>(bound(Kernel("_Z1kRf"), {tensor(kF32, kGpu, &f)})[0]), &f);
}

enum class Mode : short { kA, kB = 5 };

TEST(TypedArguments, OtherTypesGoBySize) {
  const Kernel kernel("_Z1k4ModeN5AliasIfE4typeEPFvvE", {2, 4, 8});
  const auto values = bound(kernel, {Argument::bytes_of(Mode::kB), 0.5f, nullptr});
  EXPECT_EQ(value_of<Mode>(values[0]), Mode::kB);
  EXPECT_EQ(value_of<float>(values[1]), 0.5f);
  EXPECT_EQ(value_of<short>(bound(kernel, {short{-7}, 1, nullptr})[0]), -7);
}

TEST(TypedArguments, WithoutASignatureGoesBySize) {
  const Kernel kernel("plain", {8, 4, 8, 1, 2, 24});
  int memory = 0;
  const Params params{nullptr, 3, 1};
  const auto values = bound(kernel, {tensor(kBF16, kGpu, &memory), -5, 0.1, true, std::uint16_t{9},
                                     Argument::bytes_of(params)});
  EXPECT_EQ(value_of<void*>(values[0]), &memory);
  EXPECT_EQ(value_of<int>(values[1]), -5);
  EXPECT_EQ(value_of<double>(values[2]), 0.1);
  EXPECT_EQ(value_of<bool>(values[3]), true);
  EXPECT_EQ(value_of<std::uint16_t>(values[4]), 9);
  EXPECT_EQ(value_of<Params>(values[5]), params);
  EXPECT_EQ(value_of<float>(bound(Kernel("plain", {4}), {0.1f})[0]), 0.1f);
}

// The caller's own struct of the name __half: the cubin is right about its size.
TEST(TypedArguments, ATypeWithAMisleadingName) {
  Kernel kernel("_Z1k6__half");
  kernel.layout[0].bytes = 4;
  EXPECT_EQ(value_of<float>(bound(kernel, {Argument::bytes_of(2.5f)})[0]), 2.5f);
  EXPECT_EQ(value_of<float>(bound(kernel, {2.5f})[0]), 2.5f);
}

TEST(TypedArguments, ASignatureOfAnotherCountIsNotUsed) {
  Kernel kernel("_Z1ki");
  kernel.add(4);
  EXPECT_EQ(value_of<float>(bound(kernel, {0.5f, 1.5f})[0]), 0.5f);
}

TEST(TypedArguments, SmallFloats) {
  const auto values =
      bound(Kernel("_Z1kN7einkorn3f16EN7einkorn4bf16E13__nv_fp8_e4m3"), {1.0, 1.0f, 2});
  EXPECT_EQ(value_of<std::uint16_t>(values[0]), 0x3c00);
  EXPECT_EQ(value_of<std::uint16_t>(values[1]), 0x3f80);
  EXPECT_EQ(value_of<std::uint8_t>(values[2]), 0x40);
}

TEST(TypedArguments, LargeStructs) {
  Wide wide{};
  wide.values[999] = 42;
  const auto values = bound(Kernel("_Z1k4Wide", {sizeof(Wide)}), {Argument::bytes_of(wide)});
  EXPECT_EQ(value_of<Wide>(values[0]).values[999], 42);
}

TEST(TypedArguments, CopiesOfAnArgumentAreWhole) {
  std::vector<Argument> arguments;
  {
    Wide wide{};
    wide.values[1] = 3;
    arguments.push_back(Argument::bytes_of(wide));
    std::array<std::int64_t, 2> shape = {2, 8};
    arguments.emplace_back(TensorView(nullptr, kF32, shape, kGpu));
  }
  const std::vector<Argument> copies = arguments;
  arguments.clear();
  EXPECT_EQ(value_of<Wide>(bound(Kernel("_Z1k4WidePf", {sizeof(Wide)}), copies)[0]).values[1], 3);
}

TEST(TypedArguments, ManyParameters) {
  std::string lowered = "_Z1k";
  std::vector<Argument> arguments;
  for (int i = 0; i < 40; ++i) {
    lowered += i % 2 == 0 ? 'i' : 'd';
    arguments.emplace_back(i);
  }
  const auto values = bound(Kernel(lowered), arguments);
  for (std::size_t i = 0; i < 40; ++i) {
    if (i % 2 == 0) {
      EXPECT_EQ(value_of<int>(values[i]), static_cast<int>(i));
    } else {
      EXPECT_EQ(value_of<double>(values[i]), static_cast<double>(i));
    }
  }
}

TEST(TypedArguments, NoParameters) {
  BoundArguments bound("scale", {}, nullptr, {}, kGpu);
  EXPECT_NE(bound.pointers(), nullptr);
}

TEST(TypedArguments, NoAllocationUpToSixteen) {
  std::string lowered = "_Z1k";
  for (int i = 0; i < 4; ++i) lowered += "Pf6Paramsif";
  Kernel kernel(lowered, {24, 24, 24, 24});
  const TensorView x = tensor(kF32);
  const Params params{};
  const std::int64_t before = test::allocations();
  const std::array<Argument, 16> arguments = {
      x, Argument::bytes_of(params), 1, 2.0, x, Argument::bytes_of(params), 1, 2.0,
      x, Argument::bytes_of(params), 1, 2.0, x, Argument::bytes_of(params), 1, 2.0};
  BoundArguments result("scale", arguments, kernel.types(), kernel.layout, kGpu);
  EXPECT_NE(result.pointers()[15], nullptr);
  EXPECT_EQ(test::allocations() - before, 0);
}

TEST(TypedArguments, Errors) {
  const Kernel scale(kScale, {sizeof(Params)});
  const Kernel plain("plain", {8, 4});
  const TensorView x = tensor(kF32);
  const Argument params = Argument::bytes_of(Params{});
  float f = 0;
  test::GoldenErrors errors("errors/typed_arguments.txt");
  errors.add("too few", [&] { bound(scale, {x, x, params, 1}); });
  errors.add("too many for a kernel without parameters", [&] { bound(Kernel("_Z1kv"), {1}); });
  errors.add("too few, no signature", [&] { bound(plain, {}); });
  errors.add("tensor of another dtype", [&] { bound(scale, {x, tensor(kBF16), params, 1, 1.0}); });
  errors.add("i64 for unsigned int*", [&] { bound(Kernel("_Z1kPj"), {tensor(kI64)}); });
  errors.add("tensor on the CPU",
             [&] { bound(scale, {x, tensor(kF32, kCpuDevice), params, 1, 1.0}); });
  errors.add("tensor on another GPU",
             [&] { bound(scale, {tensor(kF32, cuda_device(1)), x, params, 1, 1.0}); });
  errors.add("tensor on the CPU, no signature",
             [&] { bound(plain, {tensor(kF32, kCpuDevice), 1}); });
  errors.add("pointer to another type", [&] { bound(Kernel("_Z1kPi"), {&f}); });
  errors.add("number for a pointer", [&] { bound(scale, {0, x, params, 1, 1.0}); });
  errors.add("tensor for a number", [&] { bound(scale, {x, x, params, tensor(kI32), 1.0}); });
  errors.add("pointer for a number", [&] { bound(scale, {x, x, params, &f, 1.0}); });
  errors.add("no tensor for a number", [&] { bound(scale, {x, x, params, TensorView(), 1.0}); });
  errors.add("null for a number", [&] { bound(scale, {x, x, params, nullptr, 1.0}); });
  errors.add("null for a reference", [&] { bound(Kernel("_Z1kRf"), {nullptr}); });
  errors.add("no tensor for a reference", [&] { bound(Kernel("_Z1kRKf"), {TensorView()}); });
  errors.add("empty tensor for a reference", [&] { bound(Kernel("_Z1kRf"), {x}); });
  errors.add("integer out of range",
             [&] { bound(scale, {x, x, params, std::int64_t{1} << 40, 1.0}); });
  errors.add("negative for unsigned", [&] { bound(Kernel("_Z1ky"), {-1}); });
  errors.add("fraction for an integer", [&] { bound(scale, {x, x, params, 1.5, 1.0}); });
  errors.add("float for an integer", [&] { bound(scale, {x, x, params, 0.1f, 1.0}); });
  errors.add("integer that a float rounds", [&] { bound(scale, {x, x, params, 1, 16777217}); });
  errors.add("beyond the largest float", [&] { bound(scale, {x, x, params, 1, 1e300}); });
  errors.add("two for a bool", [&] { bound(Kernel("_Z1kb"), {2}); });
  errors.add("number for a struct", [&] { bound(scale, {x, x, std::uint8_t{5}, 1, 1.0}); });
  errors.add("struct of another size",
             [&] { bound(scale, {x, x, Argument::bytes_of(Wide{}), 1, 1.0}); });
  errors.add("struct for a number", [&] { bound(scale, {x, x, params, params, 1.0}); });
  errors.add("double for 4 bytes, no signature", [&] { bound(plain, {x, 0.5}); });
  errors.add("bool for 4 bytes, no signature", [&] { bound(plain, {x, true}); });
  errors.add("number for 8 bytes, no signature", [&] { bound(plain, {1, 1}); });
  errors.add("bytes that no kernel takes", [] {
    const std::vector<std::byte> bytes(40000);
    Argument::bytes_of(std::span<const std::byte>(bytes));
  });
}

}  // namespace
}  // namespace einkorn::jit
