#pragma once

// What the tests of several ops share.

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <einkorn/fields.h>
#include <einkorn/registry.h>
#include <einkorn/tensor.h>
#include <gtest/gtest.h>

#include "src/core/float.h"
#include "src/measure/check.h"

namespace einkorn::test {

/// A contiguous CPU tensor with these values, rounded to the dtype.
inline Tensor tensor_of(DType dtype, std::initializer_list<std::int64_t> shape,
                        const std::vector<double>& values) {
  Tensor tensor = Tensor::empty(shape, dtype, kCpuDevice);
  for (std::size_t i = 0; i < values.size(); ++i) {
    store_from_double(tensor, static_cast<std::int64_t>(i), values[i]);
  }
  return tensor;
}

/// The elements of a contiguous tensor.
inline std::vector<double> values_of(const TensorView& tensor) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(tensor.numel()));
  for (std::int64_t i = 0; i < tensor.numel(); ++i) values.push_back(load_as_double(tensor, i));
  return values;
}

/// make_inputs' arguments are what parse said, for every case; and print is parse's inverse.
template <class C>
void expect_inputs_match(std::string_view keys) {
  SCOPED_TRACE(keys);
  const auto problem = C::parse(split_key_values(keys));
  EXPECT_EQ(C::parse(split_key_values(C::print(problem))), problem) << C::print(problem);
  Rng rng(1);
  const auto inputs = C::make_inputs(problem, rng);
  const auto matched = C::match(inputs.args);
  EXPECT_EQ(matched, problem) << C::print(matched);
}

/// One variant on one problem in all its tilings: guards, gaps, run-to-run equality and tolerance
/// are check's.
inline void expect_correct(std::string_view op, std::string_view variant_name,
                           std::string_view keys) {
  SCOPED_TRACE(keys);
  const auto view = registry();
  const OpEntry& entry = view->find(op);
  const Variant& variant = view->find_variant(entry, variant_name);
  const AnyProblem problem = entry.op->parse(split_key_values(keys));
  const auto prepared = measure::prepare(entry, problem, keys, 1);
  for (const std::string& tiling : variant.tilings(problem.get(), cpu_info())) {
    const auto result = measure::check_prepared(entry, variant, prepared, kCpuDevice, tiling);
    EXPECT_EQ(measure::name(result.status), "pass") << "tiling " << tiling << ": " << result.reason;
  }
}

/// The same for arguments made by hand, such as in place.
template <class Args>
void expect_correct_args(std::string_view op, std::string_view variant_name, const Args& args,
                         std::vector<Tensor> storage, std::string_view title) {
  SCOPED_TRACE(title);
  const auto view = registry();
  const OpEntry& entry = view->find(op);
  const Variant& variant = view->find_variant(entry, variant_name);
  const CaseData data{std::make_shared<Args>(args), std::move(storage)};
  const auto prepared = measure::prepare(entry, data, title);
  const auto result = measure::check_prepared(entry, variant, prepared, kCpuDevice);
  EXPECT_EQ(measure::name(result.status), "pass") << result.reason;
}

}  // namespace einkorn::test
