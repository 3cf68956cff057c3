#pragma once

// What the tests of contracts share.

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <einkorn/fields.h>
#include <einkorn/op.h>
#include <gtest/gtest.h>

#include "tests/unit/allocation_count.h"
#include "tests/unit/golden.h"
#include "tests/unit/ops/op_test.h"

namespace einkorn::test {

/// Arguments with their memory. An heir's constructor makes them match; tests spoil them one at a
/// time.
template <class C>
struct Arguments {
  using Contract = C;
  typename C::Args args;
  std::vector<Tensor> storage;

  TensorView make(std::initializer_list<std::int64_t> shape, DType dtype) {
    storage.push_back(Tensor::empty(shape, dtype, kCpuDevice));
    return storage.back();
  }
};

/// The errors of matching spoiled arguments, in errors/<op>_<topic>.txt. Valid is an heir of
/// Arguments.
template <class Valid>
class MatchErrors {
 public:
  using C = typename Valid::Contract;

  explicit MatchErrors(std::string_view topic)
      : errors_("errors/" + std::string(C::kName) + '_' + std::string(topic) + ".txt") {}

  template <class F>
  void add(std::string_view title, F&& spoil) {
    Valid valid;
    ASSERT_NO_THROW(static_cast<void>(C::match(valid.args)));
    spoil(valid, valid.args);
    errors_.add(title, [&] { static_cast<void>(C::match(valid.args)); });
  }

 private:
  GoldenErrors errors_;
};

/// The errors of parsing keys, in errors/<op>_parse.txt.
template <class C>
void expect_parse_errors(std::initializer_list<const char*> all) {
  GoldenErrors errors("errors/" + std::string(C::kName) + "_parse.txt");
  for (const char* keys : all) {
    errors.add(keys, [keys] { static_cast<void>(C::parse(split_key_values(keys))); });
  }
}

template <class C>
typename C::Problem parse(std::string_view keys) {
  return C::parse(split_key_values(keys));
}

/// What print leaves of keys that parse has completed.
template <class C>
std::string printed(std::string_view keys) {
  return C::print(parse<C>(keys));
}

template <class C>
void expect_cases_match() {
  for (const Case& one : C::cases()) {
    const auto problem = parse<C>(one.keys);
    EXPECT_EQ(parse<C>(C::print(problem)), problem) << one.name;
    if (one.level > 1 || C::work(problem).min_bytes > 0x1p26) continue;
    expect_inputs_match<C>(one.keys);
  }
}

/// expect_inputs_match() of many sizes and layouts with `keys`, each of `endings` added.
template <class C>
void expect_layouts_match(const std::string& keys, const std::vector<std::string>& endings) {
  for (const std::string rows : {"0", "1", "2", "5"}) {
    for (const std::string cols : {"1", "3", "6", "8", "33"}) {
      const std::string sized = "rows=" + rows + " cols=" + cols + ' ' + keys;
      for (const std::string& ending : endings) expect_inputs_match<C>(sized + ending);
      if (rows < "2") continue;
      const std::string strided = sized + " layout=row_strided";
      expect_inputs_match<C>(strided);
      const auto widest = parse<C>(strided);
      for (const int align : {4, 8}) {
        if (align < bits(widest.dtype) / 8 || align >= widest.align) continue;
        expect_inputs_match<C>(strided + " align=" + std::to_string(align));
      }
    }
  }
}

template <class C>
void expect_match_allocates_nothing(const typename C::Args& args) {
  const auto before = allocations();
  for (int i = 0; i < 10; ++i) static_cast<void>(C::match(args));
  EXPECT_EQ(allocations(), before);
}

/// Names of a typed suite's types, heirs of Arguments: their ops.
struct OpNames {
  template <class Valid>
  static std::string GetName(int) {  // NOLINT(readability-identifier-naming): GoogleTest's
    return std::string(Valid::Contract::kName);
  }
};

}  // namespace einkorn::test
