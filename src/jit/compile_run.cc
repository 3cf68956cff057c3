#include "src/jit/compile_run.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "src/core/subprocess.h"
#include "src/jit/compiler.h"
#include "src/jit/time_limit.h"

namespace einkorn::jit {
namespace {

/// The line in which a driver says that the compiler proper died.
std::string_view line_about_crash(std::string_view log) {
  for (std::string_view mark : {"died due to signal", "signal terminated program"}) {
    const std::size_t at = log.find(mark);
    if (at == std::string_view::npos) continue;
    const std::size_t before = log.rfind('\n', at);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    return log.substr(begin, std::min(log.find('\n', at), log.size()) - begin);
  }
  return {};
}

}  // namespace

CompileRun::CompileRun(const CompileInputs& inputs, std::string compiler, double limit)
    : inputs_(inputs), compiler_(std::move(compiler)), limit_(limit) {
  count_compilation();
}

bool CompileRun::run(const std::vector<std::string>& argv, const std::string& folder,
                     const std::vector<std::string>& environment) {
  subprocess::Options options;
  options.working_folder = folder;
  options.environment = environment;
  options.environment.emplace_back("LC_ALL=C");  // messages are read by first_error()
  // Within what a clock counts, and not 0, which the first look would find exceeded.
  const double left = std::clamp(limit_ * 1000 - elapsed_ms(), 1.0, 1e12);
  options.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(left));
  const subprocess::Result result = subprocess::run(argv, options);
  log_ += result.output;
  log_ += result.errors;
  if (result.timed_out) throw_time_limit(inputs_, compiler_, limit_);
  if (result.signal != 0 || result.over_output) {
    throw_crash(inputs_, compiler_, subprocess::describe(result, options));
  }
  if (result.ok()) return true;
  if (const std::string_view line = line_about_crash(log_); !line.empty()) {
    throw_crash(inputs_, compiler_, line);
  }
  return false;
}

double CompileRun::elapsed_ms() const {
  return std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
}

}  // namespace einkorn::jit
