// What every contract does with each of its tensors when that alone is wrong: missing, given where
// it has no place, of another dtype, device, rank or layout, or sharing memory with another. The
// outcome of each is in errors/<op>_<topic>.txt, "accepted" where the contract allows it.

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <einkorn/error.h>
#include <einkorn/signature.h>
#include <gtest/gtest.h>

#include "tests/unit/golden.h"
#include "tests/unit/ops/composite_arguments.h"
#include "tests/unit/ops/gated_arguments.h"
#include "tests/unit/ops/qk_norm_arguments.h"
#include "tests/unit/ops/rms_arguments.h"

namespace einkorn {
namespace {

/// An heir of test::Arguments, with the topic of its golden file.
template <class Valid>
struct Plain : Valid {
  static constexpr std::string_view kTopic = "boundary";
};
template <class Valid>
struct Packed : Valid {
  static constexpr std::string_view kTopic = "boundary_packed";
  Packed() { this->pack(SiluMul::Packing::kHalves); }
};

template <class Valid>
TensorView& tensor(Valid& valid, std::string_view wanted) {
  TensorView* found = nullptr;
  for_each_tensor(valid.args, [&](std::string_view name, Role, TensorView& view) {
    if (name == wanted) found = &view;
  });
  return *found;
}

/// `view` with other strides, on memory of its own: room for twice as many elements.
template <class Valid>
TensorView strided(Valid& valid, const TensorView& view, const std::vector<std::int64_t>& strides) {
  const TensorView room = valid.make({2 * view.numel()}, view.dtype());
  return {room.data(), view.dtype(), view.shape(), strides, view.device()};
}

std::vector<std::int64_t> strides_of(const TensorView& view) {
  return {view.strides().begin(), view.strides().end()};
}

template <class Valid>
void double_strides(Valid& valid, TensorView& view) {
  std::vector<std::int64_t> strides = strides_of(view);
  for (std::int64_t& stride : strides) stride *= 2;
  view = strided(valid, view, strides);
}

template <class Valid>
void broadcast(Valid& valid, TensorView& view) {
  std::vector<std::int64_t> strides = strides_of(view);
  strides[0] = 0;
  view = strided(valid, view, strides);
}

/// Every leading dimension of 4 becomes two of 2; those of `gapped` have strides of their own.
template <class Valid>
void split_rows(Valid& valid, std::string_view gapped) {
  for_each_tensor(valid.args, [&](std::string_view name, Role, TensorView& view) {
    if (!view.defined() || view.size(0) != 4) return;
    std::vector<std::int64_t> shape = {2, name == gapped ? 3 : 2};
    shape.insert(shape.end(), view.shape().begin() + 1, view.shape().end());
    valid.storage.push_back(Tensor::empty(shape, view.dtype(), kCpuDevice));
    view = valid.storage.back().view().slice(1, 0, 2);
  });
}

/// One more row than any contract takes, at addresses that nothing reads.
template <class Valid>
void too_many_rows(Valid& valid) {
  std::uintptr_t address = 0;
  for_each_tensor(valid.args, [&](std::string_view, Role, TensorView& view) {
    address += std::uintptr_t{1} << 50;
    if (!view.defined()) return;
    std::vector<std::int64_t> shape(view.shape().begin(), view.shape().end());
    if (shape[0] == 4) shape[0] = Valid::Contract::kMaxRows + 1;
    view = {std::bit_cast<void*>(address), view.dtype(), shape, view.device()};
  });
}

/// Both on one piece of memory, `output` 8 bytes behind the begin of `other`.
template <class Valid>
void overlap(Valid& valid, TensorView& output, TensorView& other) {
  const TensorView room = valid.make({64}, kI64);
  const auto at = [&](const TensorView& view, int bytes) {
    return TensorView(room.data_as<char>() + bytes, view.dtype(), view.shape(), view.device());
  };
  other = at(other, 0);
  output = at(output, 8);
}

template <class Valid>
class Outcomes {
 public:
  using C = typename Valid::Contract;

  Outcomes() = default;
  Outcomes(const Outcomes&) = delete;
  Outcomes& operator=(const Outcomes&) = delete;
  ~Outcomes() {
    test::expect_golden(
        "errors/" + std::string(C::kName) + '_' + std::string(Valid::kTopic) + ".txt", text_);
  }

  template <class F>
  void add(std::string_view title, F&& spoil) {
    Valid valid;
    ASSERT_NO_THROW(static_cast<void>(C::match(valid.args)));
    spoil(valid);
    text_ += (text_.empty() ? "## " : "\n## ") + std::string(title) + '\n';
    try {
      static_cast<void>(C::match(valid.args));
      text_ += "accepted\n";
    } catch (const Error& error) {
      text_ += std::string(name(error.kind())) + ": " + error.what() + '\n';
    }
  }

  void add_tensor(const std::string& name) {
    add(name + " missing", [&](Valid& valid) { tensor(valid, name) = {}; });
    add(name + " dtype", [&](Valid& valid) {
      TensorView& view = tensor(valid, name);
      const Tensor other = Tensor::empty(view.shape(), kI64, kCpuDevice);
      valid.storage.push_back(other);
      view = other;
    });
    add(name + " device", [&](Valid& valid) {
      TensorView& view = tensor(valid, name);
      view = {view.data(), view.dtype(), view.shape(), cuda_device(1)};
    });
    add(name + " rank", [&](Valid& valid) {
      TensorView& view = tensor(valid, name);
      view = valid.make({}, view.dtype());
    });
    add(name + " strides doubled",
        [&](Valid& valid) { double_strides(valid, tensor(valid, name)); });
    add(name + " broadcast", [&](Valid& valid) { broadcast(valid, tensor(valid, name)); });
    add(name + " rows of two strides", [&](Valid& valid) { split_rows(valid, name); });
  }

 private:
  std::string text_;
};

template <class Valid>
class Boundary : public testing::Test {};

using AllArguments =
    testing::Types<Plain<test::RmsNormArguments>, Plain<test::RmsNormBwdArguments>,
                   Plain<test::SiluMulArguments>, Packed<test::SiluMulArguments>,
                   Plain<test::SiluMulBwdArguments>, Packed<test::SiluMulBwdArguments>,
                   Plain<test::GatedRmsNormArguments>, Plain<test::GatedNormPairArguments>,
                   Plain<test::QkNormArguments>>;

struct Names {
  template <class Valid>
  static std::string GetName(int) {  // NOLINT(readability-identifier-naming): GoogleTest's
    return std::string(Valid::Contract::kName) + '_' + std::string(Valid::kTopic);
  }
};

TYPED_TEST_SUITE(Boundary, AllArguments, Names);

TYPED_TEST(Boundary, OneTensorIsWrong) {
  Outcomes<TypeParam> outcomes;
  TypeParam model;
  std::vector<ArgumentInfo> present;
  for (const ArgumentInfo& info : describe_arguments<typename TypeParam::Contract::Args>()) {
    if (info.kind != ArgumentKind::kTensor) continue;
    if (tensor(model, info.name).defined()) {
      present.push_back(info);
      outcomes.add_tensor(std::string(info.name));
    } else {
      outcomes.add(std::string(info.name) + " given",
                   [&](TypeParam& valid) { tensor(valid, info.name) = valid.make({4, 6}, kBF16); });
    }
  }
  for (const ArgumentInfo& output : present) {
    for (const ArgumentInfo& other : present) {
      // Two outputs in one order: which of them a message names first is the contract's affair.
      const bool once = other.role == Role::kInput || other.offset > output.offset;
      if (output.role != Role::kOutput || !once) continue;
      outcomes.add(std::string(output.name) + " over " + std::string(other.name),
                   [&](TypeParam& valid) {
                     overlap(valid, tensor(valid, output.name), tensor(valid, other.name));
                   });
    }
  }
  outcomes.add("too many rows", [](TypeParam& valid) { too_many_rows(valid); });
}

TYPED_TEST(Boundary, OneKeyIsWrong) {
  using C = typename TypeParam::Contract;
  test::GoldenErrors errors("errors/" + std::string(C::kName) + "_boundary_keys.txt");
  const std::string widest = " cols=" + std::to_string(C::kMaxCols);
  for (const std::string& keys :
       {std::string("align=3"), std::string("align=1"), std::string("cols=33 align=4"),
        std::string("dtype=i8"), "rows=" + std::to_string(C::kMaxRows) + widest}) {
    errors.add(keys, [&] { static_cast<void>(test::parse<C>(keys)); });
  }
}

}  // namespace
}  // namespace einkorn
