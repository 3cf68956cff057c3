from einkorn.port.cpp.tokens import directives_of, macros_of, tokens_of, words_of

TEXT = r"""
// #define COMMENT 1
/* #define BLOCK
   2 */
#define EMPTY
#define VALUE 3 // three
#  define CALLED(a, b...) \
  f(a, b);                \
  g("#define STRING")
const char* text = "#define INSIDE \" 4";
auto raw = R"x(
#define RAW 5
)x";
char quote = '"'; int number = 1'000'000;
#ifdef EMPTY // why
#endif
"""


def test_tokens():
    found = [(one.kind, one.text) for one in tokens_of("a->b<<<1, 0x1p-3>>>('\\'') // c\n#if x\n")]
    assert found == [
        ("word", "a"),
        ("punctuation", "->"),
        ("word", "b"),
        ("punctuation", "<<<"),
        ("number", "1"),
        ("punctuation", ","),
        ("number", "0x1p-3"),
        ("punctuation", ">>>"),
        ("punctuation", "("),
        ("string", "'\\''"),
        ("punctuation", ")"),
        ("directive", "#if x"),
    ]


def test_every_character_is_in_a_token_or_between():
    position = 0
    for token in tokens_of(TEXT):
        assert token.start >= position
        assert TEXT[token.start : token.end] == token.text
        position = token.end


def test_macros():
    found = macros_of(TEXT, "a.h")
    assert list(found) == ["EMPTY", "VALUE", "CALLED"]
    assert found["EMPTY"].body == ""
    assert found["EMPTY"].parameters is None
    assert (found["VALUE"].line, found["CALLED"].line) == (6, 7)
    assert found["CALLED"].parameters == ("a", "b...")
    assert "g(" in found["CALLED"].body


def test_directives_are_not_in_comments_or_strings():
    assert [one.text.split()[0] for one in directives_of(TEXT)] == [
        *("#define", "#define", "#", "#ifdef", "#endif")
    ]


def test_words_leave_comments_and_strings_out():
    assert words_of('f(x); // g\n/* h */ "i" #if J\n') == {"f", "x", "if", "J"}


def test_unclosed_strings_and_comments_end():
    assert [one.text for one in tokens_of('a "b\nc /* d')] == ["a", '"b', "c"]
