#include "cli/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "cli/status.h"

namespace einkorn::cli {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;

void on_interrupt(int) {
  g_interrupted = 1;
  static constexpr std::string_view kText =
      "\neinkorn: stopping after this measurement; Ctrl-C again stops at once\n";
  const int saved = errno;
  // Nothing can be done about a failed write here.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kText.data(), kText.size());
  errno = saved;
}

bool stderr_is_terminal() {
  static const bool kTerminal = ::isatty(STDERR_FILENO) == 1;
  return kTerminal;
}

// Columns of a line that is rewritten: a wrapped one could not be.
constexpr std::size_t kColumns = 79;

/// At most kColumns bytes, and no part of a character of UTF-8 at the end.
std::string_view cut(std::string_view line) {
  if (line.size() <= kColumns) return line;
  std::size_t end = kColumns;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0U) == 0x80U) --end;
  return line.substr(0, end);
}

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(std::lround(std::max(seconds, 0.0)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string paint(std::string_view text, Colour colour) {
  static const bool kEnabled = ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  if (!kEnabled) return std::string(text);
  const char* code = "2";
  if (colour == Colour::kGreen) code = "32";
  if (colour == Colour::kRed) code = "31";
  if (colour == Colour::kYellow) code = "33";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string plain(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      while (i < text.size() && text[i] != 'm') ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

void print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    throw Exit(kFailed, "stdout: could not write the result\n  hint: is the disk full?");
  }
}

void warn(std::string_view message) { fmt::print(stderr, "einkorn: warning: {}\n", message); }

void Progress::show(std::string_view text) {
  // NOLINTNEXTLINE(bugprone-std-exception-baseclass): on purpose, see Interrupted
  if (interrupted()) throw Interrupted{};
  const auto now = std::chrono::steady_clock::now();
  const std::string line =
      (subject_.empty() ? std::string() : subject_ + ": ") + time_text(now) + std::string(text);
  if (stderr_is_terminal()) {
    fmt::print(stderr, "\r\x1b[K{}", cut(line));
    std::fflush(stderr);
    visible_ = true;
  } else if (now - last_ >= std::chrono::seconds(2)) {
    fmt::print(stderr, "{}\n", line);
    last_ = now;
  }
}

void Progress::of(double done, double total) {
  share_ = total > 0 ? std::clamp(done / total, 0.0, 1.0) : 0;
}

std::string Progress::time_text(std::chrono::steady_clock::time_point now) const {
  const double passed = std::chrono::duration<double>(now - begin_).count();
  if (passed < 1) return {};
  // Less than a fiftieth done says nothing about the pace yet.
  if (share_ < 0.02) return duration_text(passed) + ": ";
  return fmt::format("{}, about {} left: ", duration_text(passed),
                     duration_text(passed / share_ * (1 - share_)));
}

void Progress::clear() {
  if (!visible_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  visible_ = false;
}

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  // SA_RESETHAND: the second Ctrl-C meets the default action.
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

bool interrupted() { return g_interrupted != 0; }

}  // namespace einkorn::cli
