#include "src/report/page.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "src/report/data.h"
#include "src/report/html.h"

namespace einkorn::report {
namespace {

Documents documents(const std::string& name) {
  Documents out;
  BenchDocument bench{{}, name, {}};
  bench.origin.device = name;
  bench.origin.path = name;
  Result row;
  row.variant = name;
  row.time = {1, 1, 1};
  bench.results.push_back(row);
  out.benches.push_back(bench);
  out.skipped.push_back({"file", 3, 2, name});
  return out;
}

TEST(ReportPage, IsCompleteInItself) {
  const std::string page = page_html(report_data(documents("device"), "now"));
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_LT(page.size(), 1'500'000U);
  EXPECT_EQ(page.find("<link rel=\"stylesheet"), std::string::npos);
  EXPECT_EQ(page.find("<script src"), std::string::npos);
  EXPECT_EQ(page.find("@import"), std::string::npos);
  EXPECT_NE(page.find("Copyright 2010-2020 Mike Bostock"), std::string::npos);
}

TEST(ReportPage, HostileNamesStayText) {
  const std::string hostile = "</script><img onerror=x>{{data}}";
  const std::string page = page_html(report_data(documents(hostile), hostile));
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_NE(page.find("&lt;img onerror=x&gt;{{data}}"), std::string::npos);
}

TEST(ReportPage, HoldsItsData) {
  const Json data = report_data(documents("d"), "now");
  const std::string page = page_html(data);
  const std::size_t begin = page.find("id=\"einkorn-data\">") + 18;
  EXPECT_EQ(Json::parse(page.substr(begin, page.find("</script>", begin) - begin)), data);
}

TEST(ReportPage, FilesAreSortedAndTheChartsCannotEndTheirScripts) {
  const auto files = page_files();
  EXPECT_TRUE(std::is_sorted(files.begin(), files.end(),
                             [](const PageFile& a, const PageFile& b) { return a.path < b.path; }));
  for (const PageFile& file : files) {
    if (file.path.ends_with(".js")) {
      EXPECT_EQ(file.text.find("</script"), std::string_view::npos) << file.path;
    }
  }
}

}  // namespace
}  // namespace einkorn::report
