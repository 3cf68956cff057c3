#include "src/trials/trial.h"

#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace einkorn::trials {
namespace {

// Keys in the order they are written in.
using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 6> kStatuses{"ok",    "invalid", "wrong",
                                                    "crash", "hang",    "error"};

/// Four digits after the point: a tenth of a nanosecond.
double rounded(double value) { return std::round(value * 1e4) / 1e4; }

const Json& member(const Json& object, const char* key) {
  const auto found = object.find(key);
  EK_CHECK(found != object.end(), ErrorKind::kValue,
           fmt::format("{}: expected a value, got none", key));
  return *found;
}

std::string text_of(const Json& object, const char* key) {
  const Json& value = member(object, key);
  EK_CHECK(value.is_string(), ErrorKind::kValue,
           fmt::format("{}: expected a text, got {}", key, value.type_name()));
  return value.get<std::string>();
}

std::string nonempty_text_of(const Json& object, const char* key) {
  std::string text = text_of(object, key);
  EK_CHECK(!text.empty(), ErrorKind::kValue,
           fmt::format("{}: expected a text, got an empty one", key));
  return text;
}

/// A number, zero or more, that T can hold.
template <class T>
T number_of(const Json& object, const char* key) {
  const Json& value = member(object, key);
  const bool fits = std::is_integral_v<T> ? value.is_number_integer() : value.is_number();
  EK_CHECK(fits, ErrorKind::kValue,
           fmt::format("{}: expected {}, got {}", key,
                       std::is_integral_v<T> ? "an integer" : "a number", value.dump()));
  const auto number = value.get<double>();
  EK_CHECK(number >= 0 && number <= static_cast<double>(std::numeric_limits<T>::max()),
           ErrorKind::kValue,
           fmt::format("{}: expected 0 or more and no overflow, got {}", key, value.dump()));
  return value.get<T>();
}

std::string one_of(const Json& object, const char* key, std::string_view a, std::string_view b) {
  std::string text = text_of(object, key);
  EK_CHECK(text == a || text == b, ErrorKind::kValue,
           fmt::format("{}: expected {} or {}, got '{}'", key, a, b, text));
  return text;
}

Status status_of(const Json& object) {
  const std::string text = text_of(object, "status");
  for (std::size_t i = 0; i < kStatuses.size(); ++i) {
    if (text == kStatuses[i]) return static_cast<Status>(i);
  }
  throw_error(ErrorKind::kValue, fmt::format("status: expected one of {}, got '{}'",
                                             fmt::join(kStatuses, ", "), text));
}

Json parse_object(std::string_view line) {
  Json object;
  try {
    object = Json::parse(line);
  } catch (const Json::exception&) {
    throw_error(ErrorKind::kValue, "no JSON: cut or damaged");
  }
  EK_CHECK(object.is_object(), ErrorKind::kValue,
           fmt::format("expected a JSON object, got {}", object.type_name()));
  return object;
}

void check_times(const Trial& trial) {
  if (trial.status != Status::kOk) return;
  EK_CHECK(
      trial.samples > 0 && trial.median_us > 0 && trial.q1_us <= trial.median_us &&
          trial.median_us <= trial.q3_us,
      ErrorKind::kValue,
      fmt::format("median_us: expected a time between its quartiles and a sample at least, got "
                  "{} of {} samples between {} and {}",
                  trial.median_us, trial.samples, trial.q1_us, trial.q3_us));
}

Place place_of(const Json& object) {
  return {.device = nonempty_text_of(object, "device"),
          .cc = number_of<int>(object, "cc"),
          .sm_count = number_of<int>(object, "sm_count"),
          .driver = text_of(object, "driver"),
          .compiler = text_of(object, "compiler")};
}

Resources resources_of(const Json& object) {
  const Json& value = member(object, "resources");
  EK_CHECK(value.is_object(), ErrorKind::kValue,
           fmt::format("resources: expected an object, got {}", value.type_name()));
  return {.threads = number_of<int>(value, "threads"),
          .registers = number_of<int>(value, "registers"),
          .smem = number_of<std::int64_t>(value, "smem")};
}

}  // namespace

std::string_view name(Status status) { return kStatuses[static_cast<std::size_t>(status)]; }

std::string to_line(const Trial& trial) {
  const Json object{{"schema", kSchema},
                    {"op", trial.op},
                    {"variant", trial.variant},
                    {"problem", trial.problem},
                    {"tiling", trial.tiling},
                    {"device", trial.place.device},
                    {"cc", trial.place.cc},
                    {"sm_count", trial.place.sm_count},
                    {"driver", trial.place.driver},
                    {"compiler", trial.place.compiler},
                    {"source", trial.source},
                    {"mode", trial.mode},
                    {"l2", trial.l2},
                    {"status", name(trial.status)},
                    {"reason", trial.reason},
                    {"median_us", rounded(trial.median_us)},
                    {"q1_us", rounded(trial.q1_us)},
                    {"q3_us", rounded(trial.q3_us)},
                    {"samples", trial.samples},
                    {"predicted_us", rounded(trial.predicted_us)},
                    {"resources",
                     {{"threads", trial.resources.threads},
                      {"registers", trial.resources.registers},
                      {"smem", trial.resources.smem}}},
                    {"sm_mhz", trial.sm_mhz},
                    {"throttle", trial.throttle},
                    {"date", trial.date},
                    {"version", trial.version},
                    {"commit", trial.commit}};
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Trial parse_line(std::string_view line) {
  const Json object = parse_object(line);
  const int schema = number_of<int>(object, "schema");
  EK_CHECK(schema == kSchema, ErrorKind::kValue,
           fmt::format("schema: expected {}, got {}", kSchema, schema));
  Trial out;
  out.op = nonempty_text_of(object, "op");
  out.variant = nonempty_text_of(object, "variant");
  EK_CHECK(out.variant.starts_with(out.op + '/'), ErrorKind::kValue,
           fmt::format("variant: expected one of {}, got '{}'", out.op, out.variant));
  out.problem = nonempty_text_of(object, "problem");
  out.tiling = text_of(object, "tiling");
  out.place = place_of(object);
  out.source = text_of(object, "source");
  out.mode = one_of(object, "mode", "graph", "eager");
  out.l2 = one_of(object, "l2", "cold", "warm");
  out.status = status_of(object);
  out.reason = text_of(object, "reason");
  out.median_us = number_of<double>(object, "median_us");
  out.q1_us = number_of<double>(object, "q1_us");
  out.q3_us = number_of<double>(object, "q3_us");
  out.samples = number_of<int>(object, "samples");
  check_times(out);
  out.predicted_us = number_of<double>(object, "predicted_us");
  out.resources = resources_of(object);
  out.sm_mhz = number_of<unsigned>(object, "sm_mhz");
  out.throttle = text_of(object, "throttle");
  out.date = text_of(object, "date");
  out.version = text_of(object, "version");
  out.commit = text_of(object, "commit");
  return out;
}

}  // namespace einkorn::trials
