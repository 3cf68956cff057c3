#include "src/versions/lexer.h"

#include <string>

#include <einkorn/error.h>
#include <gmock/gmock.h>

namespace einkorn::versions {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> texts(std::string_view source, TokenKind kind) {
  std::vector<std::string> out;
  for (const Token& token : lex(source, "file.cc")) {
    if (token.kind == kind) out.emplace_back(token.text);
  }
  return out;
}

TEST(Lexer, TokensJoinedAreTheSource) {
  const std::string source =
      "#include <a/b.h>\n#include \"c.h\"\nint x = 0x1p-24 + 1'000; /* two\nlines */ char c = "
      "'\"';\n"
      "auto s = R\"x(a \" )\" ) )x\"; // end\\\nstill the comment\nfoo<T>::bar(\"\\\"q\\\\\");";
  std::string joined;
  for (const Token& token : lex(source, "file.cc")) {
    EXPECT_EQ(token.offset, joined.size());
    joined += token.text;
  }
  EXPECT_EQ(joined, source);
}

TEST(Lexer, StringsOfEveryForm) {
  EXPECT_THAT(
      texts(R"__(a "b\"c" u8"d" LR"(e " f)" R"xy(g)" )xy" 'h' L'"' "i")__", TokenKind::kString),
      ElementsAre(R"("b\"c")", R"(u8"d")", R"_(LR"(e " f)")_", R"_(R"xy(g)" )xy")_", R"("i")"));
}

TEST(Lexer, CommentsAreNotStringsNorTheOtherWayRound) {
  EXPECT_THAT(texts("\"// no\" // yes \"a\n/* \"b */ 'c' // it's\n", TokenKind::kComment),
              ElementsAre("// yes \"a", "/* \"b */", "// it's"));
  EXPECT_THAT(texts("\"/* no */\" // \"x\"\n", TokenKind::kString), ElementsAre("\"/* no */\""));
}

TEST(Lexer, NumbersWithSignsAndSeparators) {
  EXPECT_THAT(texts("x1 = 1e-3 + 0x1p+4 - 2 + 1'000'000LL + .5F;", TokenKind::kNumber),
              ElementsAre("1e-3", "0x1p+4", "2", "1'000'000LL", ".5F"));
}

TEST(Lexer, AngleBracketsAreAHeaderOnlyAfterInclude) {
  EXPECT_THAT(texts("#include <a/rows_v1.h>\n# include <b>\nx <c> y\n", TokenKind::kHeader),
              ElementsAre("<a/rows_v1.h>", "<b>"));
}

TEST(Lexer, AQuoteInAnErrorTextIsNoString) {
  EXPECT_THAT(texts("#error it's wrong\nint rows;\n", TokenKind::kIdentifier),
              ElementsAre("error", "it", "s", "wrong", "int", "rows"));
}

TEST(Lexer, SaysWhereSomethingHasNoEnd) {
  try {
    lex("int x;\n\n/* open", "file.cc");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kValue);
    EXPECT_THAT(error.what(), HasSubstr("file.cc:3: a comment without an end"));
  }
  EXPECT_THROW(lex("auto s = R\"(open", "file.cc"), Error);
}

}  // namespace
}  // namespace einkorn::versions
