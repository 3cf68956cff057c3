#include "src/report/html.h"

#include <gtest/gtest.h>

namespace einkorn::report {
namespace {

TEST(ReportHtml, EscapesMarkup) {
  EXPECT_EQ(escaped("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
}

TEST(ReportHtml, JsonInAScriptCannotEndIt) {
  const Json value{{"</script><!--", "&\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\x9c"}};
  const std::string text = json_in_script(value);
  for (const char* bad : {"<", ">", "&", "\xe2\x80\xa8", "\xe2\x80\xa9"}) {
    EXPECT_EQ(text.find(bad), std::string::npos) << bad;
  }
  EXPECT_EQ(Json::parse(text), value);
}

TEST(ReportHtml, JsonInAScriptReplacesWhatIsNoUtf8) {
  EXPECT_EQ(Json::parse(json_in_script(Json("a\xff"))), Json("a\xef\xbf\xbd"));
}

TEST(ReportHtml, NumbersHaveFourDigitsAndNoExponent) {
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(0.018), "0.01800");
  EXPECT_EQ(number_text(1), "1.000");
  EXPECT_EQ(number_text(0.99994), "0.9999");
  EXPECT_EQ(number_text(0.99996), "1.000");
  EXPECT_EQ(number_text(95.125), "95.13");
  EXPECT_EQ(number_text(999.96), "1000");
  EXPECT_EQ(number_text(77832.553), "77833");
  EXPECT_EQ(number_text(1e-12), "0.000000000");
  EXPECT_EQ(number_text(1e20), "100000000000000000000");
}

constexpr Column kColumns[] = {
    {"name", "name", Cell::kCode},   {"time", "time", Cell::kNumber},
    {"nobody has it", "none"},       {"ok", "ok"},
    {"file", "file", Cell::kOrigin},
};

TEST(ReportHtml, TableKeepsExactNumbers) {
  const Json rows{{{"name", "<a>"}, {"time", 12.114}, {"ok", true}, {"file", "f"}},
                  {{"name", "b"}, {"time", nullptr}, {"ok", false}, {"none", ""}}};
  const std::string text = table_html("A & B", kColumns, rows);
  EXPECT_NE(text.find("<td><code>&lt;a&gt;</code></td><td class=\"number\">"
                      "<data value=\"12.114\">12.11</data></td><td>yes</td>"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("<td><code>b</code></td><td class=\"number\"></td><td>no</td>"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("nobody"), std::string::npos);
  EXPECT_NE(text.find("<caption>A &amp; B</caption>"), std::string::npos);
  EXPECT_NE(text.find(" open>"), std::string::npos);
  EXPECT_NE(text.find("2 rows"), std::string::npos);
}

TEST(ReportHtml, LongTablesBeginFolded) {
  EXPECT_EQ(table_html("A", kColumns, Json::array({{{"name", "a"}}}), false).find(" open>"),
            std::string::npos);
}

}  // namespace
}  // namespace einkorn::report
