#include "src/tune/child_lab.h"

#include <utility>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/core/self_command.h"

namespace einkorn::tune {

ChildLab::ChildLab(std::vector<std::string> command, TimeLimits limits)
    : command_(std::move(command)), limits_(limits) {}

std::vector<std::string> ChildLab::own_command() {
  std::vector<std::string> words = self_command();
  words.emplace_back("tune-worker");
  return words;
}

protocol::Answer ChildLab::ask(const protocol::Request& request, std::chrono::milliseconds limit) {
  if (!child_) throw LabLost(false, "no worker");
  std::string line;
  try {
    child_->write_line(protocol::print(request));
    line = child_->read_line(limit);
  } catch (const measure::NoAnswer&) {
    child_.reset();  // kills it
    throw LabLost(true,
                  fmt::format("no answer in {} s", static_cast<double>(limit.count()) * 1e-3));
  } catch (const Error& error) {
    std::string reason = error.what();
    // Where the executable lies is not the candidate's matter.
    if (const std::string own = command_[0] + ": "; reason.starts_with(own)) {
      reason.replace(0, own.size(), "its process ");
    }
    child_.reset();
    throw LabLost(false, reason);
  }
  protocol::Answer answer = protocol::parse_answer(line);
  if (const auto* failure = std::get_if<protocol::Failure>(&answer)) {
    if (failure->is_fatal) {
      const std::string reason = failure->message;
      child_.reset();
      throw LabLost(false, reason);
    }
    throw_error(ErrorKind::kRuntime, failure->message);
  }
  return answer;
}

template <class Wanted>
Wanted ChildLab::expect(const protocol::Request& request, std::chrono::milliseconds limit) {
  protocol::Answer answer = ask(request, limit);
  auto* wanted = std::get_if<Wanted>(&answer);
  EK_CHECK(
      wanted != nullptr, ErrorKind::kRuntime,
      fmt::format("tuning worker: an answer to another question: {}", protocol::print(answer)));
  return std::move(*wanted);
}

Started ChildLab::start(const Subject& subject) {
  child_.reset();
  child_ = std::make_unique<measure::ChildProcess>(command_);
  return expect<Started>(subject, limits_.start);
}

Prepared ChildLab::prepare(std::size_t id, std::string_view tiling, bool check) {
  return expect<Prepared>(protocol::Prepare{id, std::string(tiling), check}, limits_.prepare);
}

Samples ChildLab::sample(std::size_t id, int count) {
  return expect<Samples>(protocol::Sample{id, count}, limits_.sample * count);
}

void ChildLab::drop(std::size_t id) {
  expect<protocol::Dropped>(protocol::Drop{id}, limits_.sample);
}

}  // namespace einkorn::tune
