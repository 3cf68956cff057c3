#include "src/trials/bundled.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/core/warning.h"
#include "src/trials/embedded.h"
#include "src/trials/lookup.h"

namespace einkorn::trials {
namespace {

using Json = nlohmann::ordered_json;

Trial trial_of(const Json& document, const Json& entry) {
  Trial out;
  out.op = document.at("op").get<std::string>();
  out.place.device = document.at("device").get<std::string>();
  out.place.cc = document.at("cc").get<int>();
  out.place.sm_count = document.at("sm_count").get<int>();
  out.place.driver = entry.at("driver").get<std::string>();
  out.variant = entry.at("variant").get<std::string>();
  out.source = entry.at("source").get<std::string>();
  out.problem = entry.at("problem").get<std::string>();
  out.tiling = entry.at("tiling").get<std::string>();
  out.mode = entry.value("mode", "graph");
  out.median_us = out.q1_us = out.q3_us = entry.at("median_us").get<double>();
  out.samples = 1;
  out.date = entry.at("date").get<std::string>();
  EK_CHECK(out.variant.starts_with(out.op + '/'), ErrorKind::kValue,
           fmt::format("variant: expected one of {}, got '{}'", out.op, out.variant));
  EK_CHECK(out.median_us > 0, ErrorKind::kValue,
           fmt::format("median_us: expected more than 0, got {}", out.median_us));
  return out;
}

/// What one winner is written for.
using Key = std::tuple<std::string, std::string, std::string, std::string>;

Key key_of(const Trial& trial) { return {trial.variant, trial.problem, trial.source, trial.mode}; }

Query query_of(const Trial& trial) {
  return {.op = trial.op,
          .variant = trial.variant,
          .problem = trial.problem,
          .keys = {},
          .device = trial.place.device,
          .cc = trial.place.cc,
          .sm_count = trial.place.sm_count,
          .source = trial.source,
          .mode = trial.mode,
          .l2 = "cold"};
}

Json entry_of(const Trial& trial) {
  return {{"variant", trial.variant}, {"source", trial.source},      {"problem", trial.problem},
          {"tiling", trial.tiling},   {"mode", trial.mode},          {"median_us", trial.median_us},
          {"date", trial.date},       {"driver", trial.place.driver}};
}

/// The winner's trial in each group.
Json entries_of(const std::vector<Trial>& trials) {
  std::map<Key, const Trial*> keys;
  for (const Trial& trial : trials) keys.try_emplace(key_of(trial), &trial);
  Json out = Json::array();
  for (const auto& [key, first] : keys) {
    const auto list = standings(trials, query_of(*first), first->problem);
    const auto winner = pick_winner(list);
    if (!winner) continue;
    const Trial* last = nullptr;
    for (const Trial& trial : trials) {
      if (key_of(trial) == key && trial.tiling == list[*winner].tiling && trial.l2 == "cold") {
        last = &trial;
      }
    }
    out.push_back(entry_of(*last));
  }
  return out;
}

Reading read_embedded(std::string_view op) {
  const std::string folder = fmt::format("/{}/tunings/", op);
  Reading out;
  for (const EmbeddedFile& file : embedded_tunings()) {
    if (file.path.find(folder) == std::string_view::npos) continue;
    try {
      for (Trial& trial : parse_bundled(file.text, std::string(file.path))) {
        out.trials.push_back(std::move(trial));
        out.lines.push_back(0);
      }
    } catch (const Error& error) {
      warn_once(fmt::format("bundled tunings are left out: {}", error.what()));
    }
  }
  return out;
}

struct Kept {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<const Reading>, std::less<>> by_op;
};

}  // namespace

std::vector<Trial> parse_bundled(std::string_view text, const std::string& file) {
  std::vector<Trial> out;
  std::string where = file;
  try {
    const Json document = Json::parse(text);
    const int schema = document.at("schema").get<int>();
    EK_CHECK(schema == kSchema, ErrorKind::kValue,
             fmt::format("schema: expected {}, got {}", kSchema, schema));
    std::size_t number = 0;
    for (const Json& entry : document.at("entries")) {
      where = fmt::format("{}: entry {}", file, ++number);
      out.push_back(trial_of(document, entry));
    }
  } catch (const Error& error) {
    throw_error(ErrorKind::kValue, fmt::format("{}: {}", where, error.what()));
  } catch (const Json::exception& error) {
    throw_error(ErrorKind::kValue, fmt::format("{}: {}", where, error.what()));
  }
  return out;
}

std::string print_bundled(const std::vector<Trial>& trials) {
  EK_CHECK(!trials.empty(), ErrorKind::kValue, "tunings: expected a trial at least, got none");
  const Trial& first = trials.front();
  for (const Trial& trial : trials) {
    EK_CHECK(trial.op == first.op && trial.place.device == first.place.device &&
                 trial.place.cc == first.place.cc && trial.place.sm_count == first.place.sm_count,
             ErrorKind::kValue,
             fmt::format("tunings: expected trials of {} on {}, got one of {} on {}", first.op,
                         first.place.device, trial.op, trial.place.device));
  }
  Json entries = entries_of(trials);
  EK_CHECK(!entries.empty(), ErrorKind::kValue,
           fmt::format("tunings: expected a trial that was measured well, got none of {} on {}",
                       first.op, first.place.device));
  const Json document{{"schema", kSchema},
                      {"op", first.op},
                      {"device", first.place.device},
                      {"cc", first.place.cc},
                      {"sm_count", first.place.sm_count},
                      {"entries", std::move(entries)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

const Reading& bundled(std::string_view op) {
  static Kept& kept = *new Kept;  // references to it are handed out
  const std::lock_guard lock(kept.mutex);
  const auto found = kept.by_op.find(op);
  if (found != kept.by_op.end()) return *found->second;
  auto reading = std::make_unique<const Reading>(read_embedded(op));
  return *kept.by_op.emplace(std::string(op), std::move(reading)).first->second;
}

}  // namespace einkorn::trials
