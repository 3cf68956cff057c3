#include "cli/checks.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/status.h"
#include "cli/table.h"

namespace einkorn::cli {
namespace {

using measure::CheckResult;
using measure::Status;

void count(CheckTotals& totals, Status status) {
  if (status == Status::kPass) ++totals.pass;
  if (status == Status::kFail) ++totals.fail;
  if (status == Status::kRefused) ++totals.refused;
  if (status == Status::kSkipped) ++totals.skipped;
}

std::string painted(Status status) {
  const std::string_view text = measure::name(status);
  if (status == Status::kPass) return paint(text, Colour::kGreen);
  if (status == Status::kFail) return paint(text, Colour::kRed);
  return paint(text, Colour::kDim);
}

std::string number_or_blank(int count) { return count > 0 ? std::to_string(count) : ""; }

std::string table_of_cases(const std::vector<CheckResult>& results) {
  Table table({"variant", "case", ">level", "status", ">error / tolerance", "reason"});
  for (const CheckResult& r : results) {
    const bool ran = r.status == Status::kPass || r.status == Status::kFail;
    table.add({r.variant, r.case_name, std::to_string(r.level), painted(r.status),
               ran ? fmt::format("{:.3f}", r.error) : "", r.reason.substr(0, r.reason.find('\n'))});
  }
  return table.text();
}

std::string table_of_variants(const std::vector<CheckResult>& results) {
  std::vector<std::string> order;
  for (const CheckResult& r : results) {
    if (std::ranges::find(order, r.variant) == order.end()) order.push_back(r.variant);
  }
  Table table({"variant", ">pass", ">fail", ">refused", ">skipped", ">worst error / tolerance",
               "first reason"});
  for (const std::string& variant : order) {
    CheckTotals sum;
    double worst = 0;
    std::string reason;
    for (const CheckResult& r : results) {
      if (r.variant != variant) continue;
      count(sum, r.status);
      // NaN compares with nothing, but is the worst there is.
      worst = std::isnan(r.error) || std::isnan(worst) ? NAN : std::max(worst, r.error);
      if (reason.empty()) reason = r.reason.substr(0, r.reason.find('\n'));
    }
    table.add({variant, number_or_blank(sum.pass),
               sum.fail > 0 ? paint(std::to_string(sum.fail), Colour::kRed) : "",
               number_or_blank(sum.refused), number_or_blank(sum.skipped),
               sum.ran() > 0 ? fmt::format("{:.3f}", worst) : "", sum.pass > 0 ? "" : reason});
  }
  return table.text();
}

}  // namespace

CheckTotals totals(const std::vector<CheckResult>& results) {
  CheckTotals out;
  for (const CheckResult& r : results) count(out, r.status);
  return out;
}

std::string check_text(const std::vector<CheckResult>& results, bool verbose) {
  std::string out = verbose ? table_of_cases(results) : table_of_variants(results);
  for (const CheckResult& r : results) {
    if (r.status != Status::kFail) continue;
    out += fmt::format("\n{} {}, case {}: {}\n", paint("fail", Colour::kRed), r.variant,
                       r.case_name, r.reason);
  }
  return out;
}

Json check_json(const std::vector<CheckResult>& results) {
  Json out = Json::array();
  for (const CheckResult& r : results) {
    const bool ran = r.status == Status::kPass || r.status == Status::kFail;
    out.push_back({{"variant", r.variant},
                   {"case", r.case_name},
                   {"level", r.level},
                   {"status", measure::name(r.status)},
                   {"reason", text_or_null(r.reason)},
                   // JSON has no infinity: an error that is none is null, and the reason says so.
                   {"error", ran && std::isfinite(r.error) ? Json(r.error) : Json()},
                   {"tolerance",
                    {{"relative", r.tolerance.relative},
                     {"absolute", r.tolerance.absolute},
                     {"rms", r.tolerance.rms}}}});
  }
  return out;
}

std::string summary(const CheckTotals& totals) {
  std::string out = fmt::format("{} passed, {} failed", totals.pass, totals.fail);
  if (totals.refused > 0) out += fmt::format(", {} refused", totals.refused);
  if (totals.skipped > 0) out += fmt::format(", {} skipped", totals.skipped);
  return out;
}

int check_status(const CheckTotals& totals) {
  if (totals.fail > 0) return kFailed;
  return totals.ran() > 0 ? kAllWell : kNothingRan;
}

}  // namespace einkorn::cli
