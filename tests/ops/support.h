#pragma once

// What the tests of operators share.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <einkorn/error.h>
#include <einkorn/op.h>
#include <einkorn/registry.h>

#include "src/measure/check.h"

namespace einkorn::test {

/// EINKORN_TEST_LEVEL, 0 to 3; 1 when it is not set. ValueError for anything else.
int test_level();

/// The CPU, and each CUDA device of this machine.
std::vector<Device> devices();

/// One device for each architecture that variants are written for; none of them needs to be here.
inline constexpr std::string_view kKnownDevices[] = {"a100", "h100", "b200"};

/// Checks every variant that serves the prepared problem on the device; a failure is the running
/// test's, and so is a problem that nothing but the reference serves.
void expect_all_pass(const OpEntry& entry, const measure::Prepared& prepared, Device device);

/// The same of arguments made by hand, on every device.
void expect_pass(const OpEntry& entry, const CaseData& data, std::string_view title);

/// prepare() for a problem as typed on the command line.
measure::Prepared prepare(const OpEntry& entry, std::string_view keys, std::uint64_t seed = 1);

/// Inputs for a problem as typed on the command line, on the CPU.
CaseData make_data(const OpEntry& entry, std::string_view keys, std::uint64_t seed = 1);

/// The contract's own arguments of a case.
template <class C>
typename C::Args& args_of(const CaseData& data) {
  return *static_cast<typename C::Args*>(data.args.get());
}

/// Calls the op on a copy of the data on the device; it has to throw an Error of that kind whose
/// message holds `text`, and no byte of the memory may change.
void expect_refused(const OpEntry& entry, const CaseData& data, Device device, ErrorKind kind,
                    std::string_view text);

/// The op, run through its public entry point by every variant that serves; rows = 0 must leave
/// all memory alone and plan nothing.
void expect_nothing_launched(const OpEntry& entry, std::string_view keys, Device device);

/// Some variant serves, on this CPU and on every known device.
void expect_served(const OpEntry& entry, std::string_view keys);

/// The same for every number of columns up to `dense`, ever fewer up to `widest`, and `others`,
/// with each of `keys` for the rest of the problem.
void expect_cols_served(const OpEntry& entry, const std::vector<std::string>& keys,
                        std::int64_t dense, const std::vector<std::int64_t>& others,
                        std::int64_t widest = 262144);

/// Sets an element of a tensor [rows, cols] on the CPU.
void set_element(const TensorView& view, std::int64_t row, std::int64_t col, double value);

/// Every CUDA variant is right at the start, around element 2^31 and at the end of tensors of a few
/// rows more than that. `keys` give everything but rows. Skips the running test below level 3 and
/// without a device; needs about 5 GB of device memory for each 16-bit tensor.
void expect_right_past_2_31(const OpEntry& entry, std::string_view keys);

/// Letters, digits and underscores of a name, as gtest wants them.
std::string test_name(std::string_view text);

}  // namespace einkorn::test
