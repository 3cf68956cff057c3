#include "src/versions/measured.h"

#include <einkorn/error.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace einkorn::versions {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? std::string() : found->get<std::string>();
}

double number_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? 0 : found->get<double>();
}

Measured measured_of(const Json& row) {
  Measured out;
  out.variant = text_of(row, "variant");
  out.problem = text_of(row, "problem");
  out.tiling = text_of(row, "tiling");
  out.median_us = number_of(row, "median_us");
  out.q1_us = number_of(row, "q1_us");
  out.q3_us = number_of(row, "q3_us");
  out.samples = static_cast<int>(number_of(row, "samples"));
  out.tflops = number_of(row, "tflops");
  out.gbps = number_of(row, "gbps");
  out.roof = text_of(row, "roof");
  out.percent_of_roof = number_of(row, "percent_of_roof");
  out.copy_us = number_of(row, "copy_us");
  out.percent_of_copy = number_of(row, "percent_of_copy");
  return out;
}

std::string versions_of(const Json& document) {
  std::string out;
  const auto found = document.find("versions");
  if (found == document.end() || !found->is_object()) return out;
  for (const auto& [name, version] : found->items()) {
    if (name == "einkorn" || !version.is_string()) continue;
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, version.get<std::string>());
  }
  return out;
}

}  // namespace

ResultFile parse_results(std::string_view text, std::string path) {
  ResultFile out;
  out.path = std::move(path);
  try {
    const Json document = Json::parse(text);
    if (!document.is_object() || !document.contains("results") ||
        !document.at("results").is_array()) {
      return out;
    }
    out.op = text_of(document, "op");
    out.device = text_of(document, "device");
    out.driver = text_of(document, "driver");
    out.commit = text_of(document, "commit");
    out.date = text_of(document, "date");
    out.versions = versions_of(document);
    for (const Json& row : document.at("results")) {
      Measured one = measured_of(row);
      if (one.median_us > 0 && text_of(row, "failure").empty()) {
        out.results.push_back(std::move(one));
      }
    }
  } catch (const Json::exception& error) {
    throw_error(ErrorKind::kValue,
                fmt::format("{}: expected a result file of einkorn bench, got: {}", out.path,
                            error.what()));
  }
  return out;
}

const Measured* best(const ResultFile& file, std::string_view variant, std::string_view problem) {
  const Measured* found = nullptr;
  for (const Measured& one : file.results) {
    if (one.variant != variant || one.problem != problem) continue;
    if (found == nullptr || one.median_us < found->median_us) found = &one;
  }
  return found;
}

}  // namespace einkorn::versions
