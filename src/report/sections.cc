#include "src/report/sections.h"

#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/report/html.h"
#include "src/report/tables.h"

namespace einkorn::report {
namespace {

/// Long tables begin folded.
constexpr std::size_t kShortTable = 8;

std::string joined(const Json& texts) {
  return escaped(fmt::format("{}", fmt::join(texts.get<std::vector<std::string>>(), ", ")));
}

std::string fact(std::string_view name, const std::string& html) {
  return html.empty() ? std::string()
                      : fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, html);
}

std::string versions_html(const Json& versions) {
  std::string out;
  for (const auto& [name, values] : versions.items()) {
    if (!out.empty()) out += ", ";
    out += fmt::format("{}&nbsp;{}", escaped(name), joined(values));
  }
  return out;
}

std::string date_html(const Json& first, const Json& last) {
  if (first.is_null()) return {};
  // The days; times are in the tables.
  constexpr std::size_t kDay = 10;
  const std::string from = first.get<std::string>().substr(0, kDay);
  const std::string to = last.get<std::string>().substr(0, kDay);
  return escaped(from == to ? from : from + " to " + to);
}

std::string facts_html(const Json& device) {
  return "<dl class=\"facts\">\n" + fact("Driver", joined(device["drivers"])) +
         fact("Measured", date_html(device["first_date"], device["last_date"])) +
         fact("Commits", joined(device["commits"])) +
         fact("Versions", versions_html(device["versions"])) + "</dl>\n";
}

/// A place that the scripts draw a chart into. `text` says in words what it shows.
std::string figure(std::string_view chart, std::size_t device, std::string_view text) {
  return fmt::format(
      "<figure class=\"chart\" data-chart=\"{}\" data-device=\"{}\">\n"
      "<div class=\"plot\"></div>\n<figcaption>{}</figcaption>\n</figure>\n",
      chart, device, text);
}

std::string section(std::string_view title, const std::string& body) {
  return fmt::format("<section>\n<h3>{}</h3>\n{}</section>\n", title, body);
}

/// Nothing is held against a roof that is not known.
std::string attained_html(const Json& device, std::size_t index) {
  if (device["memory_peaks"].empty()) {
    return "<p class=\"missing\">No memory roof of this device is known. To have one measured: "
           "<code>einkorn doctor --measure --json &gt; out/doctor.json</code></p>\n";
  }
  return figure("attained", index,
                "The same results as a share of what the roof above them allows. A small bar is a "
                "plain copy of the same bytes, timed in the same rounds.");
}

std::string results_section(const Json& device, std::size_t index) {
  const Json& rows = device["results"];
  std::string body =
      figure("roofline", index,
             "Useful flops a second over useful flops a byte, both axes logarithmic. Lines are the "
             "device&rsquo;s roofs: solid by datasheet, dashed as measured. A hollow mark is a "
             "problem that fits the last-level cache, which the memory roof does not bound. Older "
             "documents&rsquo; results of the same variant and problem are in the table alone.") +
      attained_html(device, index);
  Json peaks = Json::array();
  for (const char* kind : {"memory_peaks", "compute_peaks"}) {
    for (Json peak : device[kind]) {
      peak["basis"] = peak["measured"].get<bool>() ? "measured" : "datasheet";
      peaks.push_back(std::move(peak));
    }
  }
  if (!peaks.empty()) body += table_html("Roofs", kPeakColumns, peaks);
  return section("Roofline", body + table_html("All results", kResultColumns, rows,
                                               rows.size() <= kShortTable));
}

/// The rows of `inner` lists as one list, each with the outer object's members before its own.
Json flattened(const Json& outer, const char* inner) {
  Json out = Json::array();
  for (const Json& one : outer) {
    for (const Json& row : one[inner]) {
      Json merged = one;
      merged.erase(inner);
      merged.update(row);
      out.push_back(std::move(merged));
    }
  }
  return out;
}

std::string comparisons_section(const Json& device, std::size_t index) {
  const Json& all = device["comparisons"];
  const Json rows = flattened(all, "bars");
  std::string body =
      figure(
          "comparisons", index,
          "Median time of one call, shorter is better; the line across a bar&rsquo;s end is the "
          "range between the quartiles. All bars of one problem were timed in the same rounds on "
          "the same inputs.") +
      table_html("Times", kBarColumns, rows, rows.size() <= kShortTable);
  const Json skipped = flattened(all, "skipped");
  if (!skipped.empty()) body += table_html("Not measured", kNotMeasuredColumns, skipped);
  return section("Against a copy and other libraries", body);
}

std::string ladders_section(const Json& device, std::size_t index) {
  const Json rows = flattened(device["ladders"], "steps");
  return section(
      "Versions",
      figure("ladders", index, "Versions of one design on one problem, measured in one run.") +
          table_html("Times by version", kLadderColumns, rows, rows.size() <= kShortTable));
}

std::string tuning_section(const Json& device, std::size_t index) {
  const Json rows = flattened(device["tuning"], "trials");
  return section(
      "Tuning", figure("tuning", index,
                       "One mark a trial. First its time in the order of the trials, with the best "
                       "so far as a line; a cross at the top is a candidate without a time. Then "
                       "measured over predicted time; on the diagonal the prediction is exact.") +
                    table_html("Trials", kTrialColumns, rows, rows.size() <= kShortTable));
}

std::string stages_section(const Json& device, std::size_t index) {
  const Json rows = flattened(device["stages"], "stages");
  return section("Stages",
                 figure("stages", index,
                        "Median time of each stage, parts below the stage that they belong to; the "
                        "upright mark is the predicted time.") +
                     table_html("Stage times", kStageColumns, rows, rows.size() <= kShortTable));
}

}  // namespace

std::string device_html(const Json& device, std::size_t index) {
  struct Part {
    const char* key;
    const char* missing;
    std::string (*html)(const Json&, std::size_t);
  };
  constexpr Part kParts[] = {
      {"results", "results", results_section},
      {"comparisons", "comparisons", comparisons_section},
      {"ladders", "version ladders", ladders_section},
      {"tuning", "tuning trials", tuning_section},
      {"stages", "stage times", stages_section},
  };
  std::string body;
  std::vector<std::string> missing;
  for (const Part& part : kParts) {
    if (device[part.key].empty()) {
      missing.emplace_back(part.missing);
    } else {
      body += part.html(device, index);
    }
  }
  if (!missing.empty()) {
    body += fmt::format("<p class=\"missing\">None of this device in these documents: {}.</p>\n",
                        fmt::join(missing, ", "));
  }
  return fmt::format(
      "<section class=\"device\" id=\"device-{0}\">\n<h2>{1}</h2>\n{2}{3}</section>\n", index,
      escaped(device["device"].get<std::string>()), facts_html(device), body);
}

std::string sources_html(const Json& data) {
  std::string out = "<section class=\"sources\">\n<h2>Sources</h2>\n";
  out += table_html("Read", kSourceColumns, data["sources"], data["sources"].size() <= kShortTable);
  if (!data["skipped"].empty()) out += table_html("Skipped", kSkippedColumns, data["skipped"]);
  return out + "</section>\n";
}

}  // namespace einkorn::report
