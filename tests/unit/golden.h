#pragma once

#include <exception>
#include <functional>
#include <string>
#include <string_view>

namespace einkorn::test {

/// Compares with tests/golden/<path>. A difference or a missing file fails the current test;
/// UPDATE_GOLDEN=1 in the environment writes the file instead.
void expect_golden(std::string_view path, std::string_view actual);

/// Runs `call`; "<kind>: <what()>" of the Error it throws. No Error is reported as a failure of
/// the current test and gives "no error".
std::string error_text(const std::function<void()>& call);

/// Error texts of one test, kept in one golden file and compared when this goes out of scope:
///
///     GoldenErrors errors("errors/match_shape.txt");
///     errors.add("rank", [&] { match("op", "x", x).shape(2).verify(); });
class GoldenErrors {
 public:
  explicit GoldenErrors(std::string_view path) : path_(path) {}
  GoldenErrors(const GoldenErrors&) = delete;
  GoldenErrors& operator=(const GoldenErrors&) = delete;
  /// Not when an exception is on its way: the texts are incomplete then, and it fails the test.
  ~GoldenErrors();

  void add(std::string_view title, const std::function<void()>& call);

 private:
  std::string path_;
  std::string text_;
  int exceptions_at_start_ = std::uncaught_exceptions();
};

}  // namespace einkorn::test
