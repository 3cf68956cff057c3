#pragma once

// What the tuner and its worker say to each other: one JSON object a line.

#include <string>
#include <string_view>
#include <variant>

#include "src/tune/lab.h"

namespace einkorn::tune::protocol {

struct Prepare {
  std::size_t id = 0;
  std::string tiling;
  bool check = true;
};
struct Sample {
  std::size_t id = 0;
  int count = 1;
};
struct Drop {
  std::size_t id = 0;
};
using Request = std::variant<Subject, Prepare, Sample, Drop>;

/// The worker cannot do what was asked.
struct Failure {
  std::string message;
  bool is_fatal = false;  ///< nor anything else from now on: the device's context is broken
};
struct Dropped {};
using Answer = std::variant<Started, Prepared, Samples, Dropped, Failure>;

std::string print(const Request& request);
std::string print(const Answer& answer);

/// RuntimeError for a line that is none.
Request parse_request(std::string_view line);
Answer parse_answer(std::string_view line);

}  // namespace einkorn::tune::protocol
