#include "src/report/data.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include <einkorn/version.h>

namespace einkorn::report {
namespace {

using Texts = std::map<std::string, std::set<std::string>>;

/// What the documents of one device say about how they came about.
struct Provenance {
  std::set<std::string> drivers;
  std::set<std::string> commits;
  std::set<std::string> dates;
  Texts versions;

  void add(const Origin& origin) {
    if (!origin.driver.empty()) drivers.insert(origin.driver);
    if (!origin.commit.empty()) commits.insert(origin.commit);
    if (!origin.date.empty()) dates.insert(origin.date);
    for (const auto& [name, version] : origin.versions) versions[name].insert(version);
  }
};

template <class Documents>
void split(const std::vector<Documents>& from, std::map<std::string, Provenance>& devices) {
  for (const auto& document : from) devices[document.origin.device].add(document.origin);
}

template <class Item>
std::vector<Item> of_device(const std::vector<Item>& all, const std::string& device) {
  std::vector<Item> out;
  std::copy_if(all.begin(), all.end(), std::back_inserter(out),
               [&](const Item& item) { return item.origin.device == device; });
  return out;
}

Json peaks_json(const std::vector<Peak>& peaks, const char* unit) {
  Json out = Json::array();
  for (const Peak& peak : peaks) {
    out.push_back({{"name", peak.name},
                   {unit, computed(peak.value)},
                   {"measured", peak.measured},
                   {"from", peak.from}});
  }
  return out;
}

Json device_json(const std::string& device, const Provenance& provenance,
                 const Documents& documents) {
  const auto benches = of_device(documents.benches, device);
  const Peaks peaks = peaks_of(device, documents.rates, documents.benches);
  Json versions = Json::object();
  for (const auto& [name, values] : provenance.versions) versions[name] = values;
  return {{"device", device},
          {"drivers", provenance.drivers},
          {"versions", std::move(versions)},
          {"commits", provenance.commits},
          {"first_date", provenance.dates.empty() ? Json() : Json(*provenance.dates.begin())},
          {"last_date", provenance.dates.empty() ? Json() : Json(*provenance.dates.rbegin())},
          {"memory_peaks", peaks_json(peaks.memory, "gbps")},
          {"compute_peaks", peaks_json(peaks.compute, "tflops")},
          {"results", results_data(benches, peaks)},
          {"comparisons", comparisons_data(benches)},
          {"ladders", ladders_data(benches)},
          {"tuning", tuning_data(of_device(documents.trials, device))},
          {"stages", stages_data(of_device(documents.profiles, device))}};
}

Json sources_json(const std::vector<Source>& sources) {
  Json out = Json::array();
  for (const Source& source : sources) {
    out.push_back({{"path", source.origin.path},
                   {"kind", source.kind},
                   {"count", source.count},
                   {"device", source.origin.device},
                   {"commit", source.origin.commit},
                   {"date", source.origin.date}});
  }
  return out;
}

Json skipped_json(const std::vector<Skipped>& skipped) {
  Json out = Json::array();
  for (const Skipped& one : skipped) {
    out.push_back({{"path", one.path},
                   {"line", one.line > 0 ? Json(one.line) : Json()},
                   {"count", one.count},
                   {"reason", one.reason}});
  }
  return out;
}

}  // namespace

Json known(double value) { return value > 0 ? Json(value) : Json(); }

Json computed(double value) {
  if (!(value > 0) || !std::isfinite(value)) return {};
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 5);
  // Divided where the unit is below 1: 0.001 has no exact double, 1000 has.
  return unit < 1 ? std::round(value / unit) / std::round(1 / unit)
                  : std::round(value / unit) * unit;
}

Json report_data(const Documents& documents, std::string_view date) {
  std::map<std::string, Provenance> devices;
  split(documents.benches, devices);
  split(documents.profiles, devices);
  split(documents.trials, devices);
  split(documents.rates, devices);

  // Devices with a driver first: the others are CPUs.
  std::vector<std::string> order;
  order.reserve(devices.size());
  for (const auto& [device, provenance] : devices) order.push_back(device);
  std::stable_partition(order.begin(), order.end(), [&](const std::string& device) {
    return !devices[device].drivers.empty();
  });

  Json out{{"version", std::string(version())},
           {"commit", std::string(git_commit())},
           {"date", std::string(date)},
           {"devices", Json::array()}};
  for (const std::string& device : order) {
    out["devices"].push_back(device_json(device, devices[device], documents));
  }
  out["sources"] = sources_json(documents.sources);
  out["skipped"] = skipped_json(documents.skipped);
  return out;
}

}  // namespace einkorn::report
