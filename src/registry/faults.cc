#include "src/registry/faults.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace einkorn::detail {
namespace {

int badness(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kValue:
      return 3;
    case ErrorKind::kType:
      return 2;
    case ErrorKind::kRuntime:
      return 1;
    case ErrorKind::kNotImplemented:
      break;
  }
  return 0;
}

std::string indented(std::string_view text, std::string_view by) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += by;
  }
  return out;
}

}  // namespace

void Faults::add(ErrorKind kind, std::string subject, std::string text) {
  const auto same = std::ranges::find_if(
      faults_, [&](const Fault& one) { return one.kind == kind && one.text == text; });
  if (same != faults_.end()) {
    same->subjects.push_back(std::move(subject));
  } else {
    faults_.push_back({kind, {std::move(subject)}, std::move(text)});
  }
}

void Faults::throw_if_any(std::string_view who) const {
  if (faults_.empty()) return;
  const Fault& worst =
      *std::ranges::max_element(faults_, {}, [](const Fault& one) { return badness(one.kind); });
  std::string message = fmt::format("{}: expected no fault, got {}", who, faults_.size());
  for (const Fault& one : faults_) {
    message +=
        fmt::format("\n  {}:\n    {}", fmt::join(one.subjects, ", "), indented(one.text, "    "));
  }
  throw_error(worst.kind, std::move(message));
}

}  // namespace einkorn::detail
