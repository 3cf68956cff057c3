#include "src/tune/protocol.h"

#include <type_traits>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace einkorn::tune::protocol {
namespace {

using Json = nlohmann::json;

Json json_of(const Subject& one) {
  return {{"do", "start"},          {"op", one.op},         {"variant", one.variant},
          {"problem", one.problem}, {"device", one.device}, {"seed", one.seed}};
}
Json json_of(const Prepare& one) {
  return {{"do", "prepare"}, {"id", one.id}, {"tiling", one.tiling}, {"check", one.check}};
}
Json json_of(const Sample& one) { return {{"do", "sample"}, {"id", one.id}, {"count", one.count}}; }
Json json_of(const Drop& one) { return {{"do", "drop"}, {"id", one.id}}; }

Json json_of(const Started& one) {
  return {{"is", "started"}, {"seconds", one.seconds}, {"input_sets", one.input_sets}};
}
Json json_of(const Prepared& one) {
  return {{"is", "prepared"},
          {"status", static_cast<int>(one.status)},
          {"reason", one.reason},
          {"seconds", one.seconds},
          {"sample_seconds", one.sample_seconds},
          {"compiler", one.compiler},
          {"threads", one.resources.threads},
          {"registers", one.resources.registers},
          {"smem", one.resources.smem}};
}
Json json_of(const Samples& one) {
  return {{"is", "samples"}, {"us", one.us}, {"sm_mhz", one.sm_mhz}, {"throttle", one.throttle}};
}
Json json_of(const Dropped&) { return {{"is", "dropped"}}; }
Json json_of(const Failure& one) {
  return {{"is", "failure"}, {"message", one.message}, {"fatal", one.is_fatal}};
}

std::string line_of(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// `read` of the line as JSON; what the library finds wrong becomes an error of ours.
template <class Read>
auto parse(std::string_view line, Read&& read) {
  try {
    return read(Json::parse(line));
  } catch (const Json::exception& error) {
    throw_error(ErrorKind::kRuntime, fmt::format("tuning worker: expected a message, got '{}': {}",
                                                 line.substr(0, 200), error.what()));
  }
}

[[noreturn]] void throw_unknown(const std::string& what) {
  throw_error(ErrorKind::kRuntime, fmt::format("tuning worker: unknown message '{}'", what));
}

}  // namespace

std::string print(const Request& request) {
  return std::visit([](const auto& one) { return line_of(json_of(one)); }, request);
}

std::string print(const Answer& answer) {
  return std::visit([](const auto& one) { return line_of(json_of(one)); }, answer);
}

Request parse_request(std::string_view line) {
  return parse(line, [](const Json& in) -> Request {
    const auto what = in.at("do").get<std::string>();
    if (what == "start") {
      return Subject{in.at("op"), in.at("variant"), in.at("problem"), in.at("device"),
                     in.at("seed")};
    }
    if (what == "prepare") return Prepare{in.at("id"), in.at("tiling"), in.at("check")};
    if (what == "sample") return Sample{in.at("id"), in.at("count")};
    if (what == "drop") return Drop{in.at("id")};
    throw_unknown(what);
  });
}

Answer parse_answer(std::string_view line) {
  return parse(line, [](const Json& in) -> Answer {
    const auto what = in.at("is").get<std::string>();
    if (what == "started") return Started{in.at("seconds"), in.at("input_sets")};
    if (what == "prepared") {
      return Prepared{static_cast<trials::Status>(in.at("status").get<int>()),
                      in.at("reason"),
                      in.at("seconds"),
                      in.at("sample_seconds"),
                      in.at("compiler"),
                      {in.at("threads"), in.at("registers"), in.at("smem")}};
    }
    if (what == "samples") {
      return Samples{in.at("us").get<std::vector<double>>(), in.at("sm_mhz"), in.at("throttle")};
    }
    if (what == "dropped") return Dropped{};
    if (what == "failure") return Failure{in.at("message"), in.at("fatal")};
    throw_unknown(what);
  });
}

}  // namespace einkorn::tune::protocol
