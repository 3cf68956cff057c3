#pragma once

#include <span>
#include <string>
#include <string_view>

#include <einkorn/match.h>

/// How patterns read in messages.
namespace einkorn {

/// "in [1, 8]", "at least 1" or "at most 8".
std::string text(Range range);

/// What an unbound name asks of a value, e.g. "in [8, 64] and divisible by 8".
std::string bounds(const Dim& dim);

/// The formula alone, e.g. "ceil(cols / 128)".
std::string text(const DimExpr& expr);

std::string text(const DimSpec& spec);

/// "(..., cols, 128)".
std::string text(std::span<const DimSpec> pattern);

/// "f32", or "one of f32, f16, bf16" in declaration order.
std::string text(DTypeSet set);

std::string_view text(DeviceKind kind);

}  // namespace einkorn
