#include "cli/terminal.h"

#include <unistd.h>

#include <cerrno>
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

}  // namespace

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
  const std::string line =
      subject_.empty() ? std::string(text) : fmt::format("{}: {}", subject_, text);
  const auto now = std::chrono::steady_clock::now();
  if (stderr_is_terminal()) {
    // Cut to one line: a wrapped one could not be rewritten.
    fmt::print(stderr, "\r\x1b[K{}", line.substr(0, 79));
    std::fflush(stderr);
    visible_ = true;
  } else if (now - last_ >= std::chrono::seconds(2)) {
    fmt::print(stderr, "{}\n", line);
    last_ = now;
  }
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
