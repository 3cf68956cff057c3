#pragma once

// What a person at a terminal sees besides the result: progress, colours, Ctrl-C.

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace einkorn::cli {

enum class Colour { kGreen, kRed, kYellow, kDim };

/// `text` in colour when stdout is a terminal and NO_COLOR is unset, otherwise as it is.
std::string paint(std::string_view text, Colour colour);

/// `text` without colours, for files.
std::string plain(std::string_view text);

/// Writes all of `text` to stdout. Exit(kFailed) when that fails, e.g. on a full disk.
void print(std::string_view text);

/// A warning on stderr, in the form of errors.
void warn(std::string_view message);

/// "8 s", "2 min 05 s", "1 h 03 min"; whole seconds, negative ones count as 0.
std::string duration_text(double seconds);

/// What goes on, on stderr: one line that is rewritten when stderr is a terminal, otherwise a line
/// at most every two seconds. From the second second on it says how long the work has taken, and
/// with of() how long the rest will probably take.
class Progress {
 public:
  Progress() : begin_(std::chrono::steady_clock::now()), last_(begin_) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Also where the work stops after a Ctrl-C: throws Interrupted.
  void show(std::string_view text);
  /// What the following texts are about; printed before each.
  void about(std::string subject) { subject_ = std::move(subject); }
  /// How much of the whole work is done, in any unit that takes about the same time each: problems,
  /// rounds. The rest is taken to go on at the pace so far. A total of 0: not known.
  void of(double done, double total);
  /// Removes the line, so that results can be printed.
  void clear();

 private:
  std::string time_text(std::chrono::steady_clock::time_point now) const;

  std::string subject_;
  double share_ = 0;  // of the work that is done, 0 to 1; 0: not known
  bool visible_ = false;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point last_;
};

/// Thrown by Progress::show after a Ctrl-C. Not a std::exception: code between that turns a failed
/// measurement into a row must let it pass.
struct Interrupted {};

/// From now on the first Ctrl-C asks the work to stop, and a second one ends the process.
void catch_interrupts();
bool interrupted();

}  // namespace einkorn::cli
