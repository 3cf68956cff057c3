#include "src/jit/time_limit.h"

#include <charconv>
#include <cmath>
#include <string>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/core/environment.h"
#include "src/jit/failure.h"

namespace einkorn::jit {
namespace {

constexpr const char* kVariable = "EINKORN_JIT_TIMEOUT";

double parse_seconds(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  EK_CHECK(
      error == std::errc() && end == text.data() + text.size() && std::isfinite(value) && value > 0,
      ErrorKind::kValue, fmt::format("{}: expected seconds above 0, got \"{}\"", kVariable, text));
  return value;
}

}  // namespace

double time_limit_of(const CompileInputs& inputs, double fallback) {
  if (inputs.time_limit > 0) return inputs.time_limit;
  const std::string text = environment(kVariable);
  return text.empty() ? fallback : parse_seconds(text);
}

void throw_time_limit(const CompileInputs& inputs, std::string_view compiler, double seconds) {
  throw_error(ErrorKind::kRuntime,
              fmt::format("jit: {}: still compiling after {:g} s, ended{}\n"
                          "  hint: Request::time_limit, or {} for all, allows more seconds",
                          shown_name(inputs), seconds, shown_context(inputs, compiler), kVariable));
}

void throw_crash(const CompileInputs& inputs, std::string_view compiler, std::string_view how) {
  throw_error(ErrorKind::kRuntime,
              fmt::format("jit: {}: the compiler crashed: {}{}\n"
                          "  hint: the next try starts it anew; signal 9 (Killed) mostly means "
                          "that memory ran out",
                          shown_name(inputs), how, shown_context(inputs, compiler)));
}

}  // namespace einkorn::jit
