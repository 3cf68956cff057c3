#include "src/tune/history.h"

#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace einkorn::tune {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kColumns[] = {
    "order",     "op",     "variant",  "problem", "tiling",       "status",  "reason",
    "median_us", "q1_us",  "q3_us",    "samples", "predicted_us", "threads", "registers",
    "smem",      "sm_mhz", "throttle", "mode",    "l2",           "device",  "driver",
    "compiler",  "date",   "version",  "commit",  "reused"};

Json row_of(std::size_t order, const Known& known) {
  const trials::Trial& one = known.trial;
  const Json values[] = {order,
                         one.op,
                         one.variant,
                         one.problem,
                         one.tiling,
                         trials::name(one.status),
                         one.reason,
                         one.median_us,
                         one.q1_us,
                         one.q3_us,
                         one.samples,
                         one.predicted_us,
                         one.resources.threads,
                         one.resources.registers,
                         one.resources.smem,
                         one.sm_mhz,
                         one.throttle,
                         one.mode,
                         one.l2,
                         one.place.device,
                         one.place.driver,
                         one.place.compiler,
                         one.date,
                         one.version,
                         one.commit,
                         known.is_reused};
  static_assert(std::size(values) == std::size(kColumns));
  Json row = Json::object();
  for (std::size_t i = 0; i < std::size(values); ++i) row[kColumns[i]] = values[i];
  return row;
}

std::vector<Json> rows_of(std::span<const Outcome> outcomes) {
  std::vector<Json> out;
  for (const Outcome& outcome : outcomes) {
    for (const Known& known : outcome.known) out.push_back(row_of(out.size() + 1, known));
  }
  return out;
}

std::string cell(const Json& value) {
  if (!value.is_string()) return value.dump();
  auto text = value.get<std::string>();
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::span<const char* const> history_columns() { return kColumns; }

std::string history_csv(std::span<const Outcome> outcomes) {
  std::string out = fmt::format("{}\r\n", fmt::join(kColumns, ","));
  for (const Json& row : rows_of(outcomes)) {
    const char* separator = "";
    for (const char* column : kColumns) {
      out += std::exchange(separator, ",") + cell(row.at(column));
    }
    out += "\r\n";
  }
  return out;
}

std::string history_json(std::span<const Outcome> outcomes) {
  Json out = Json::array();
  for (Json& row : rows_of(outcomes)) out.push_back(std::move(row));
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace einkorn::tune
