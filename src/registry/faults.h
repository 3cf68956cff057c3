#pragma once

// Faults of a configuration, collected so that one error tells all of them.

#include <string>
#include <vector>

#include <einkorn/error.h>

namespace einkorn::detail {

class Faults {
 public:
  /// `subject`: what it is about, a rule or a slot. Subjects of the same fault are told together.
  void add(ErrorKind kind, std::string subject, std::string text);

  bool empty() const { return faults_.empty(); }

  /// One error with all of them, of the kind that is worst: the caller's mistakes before what the
  /// machine lacks, and that before what no variant serves. Nothing when there are none.
  void throw_if_any(std::string_view who) const;

 private:
  struct Fault {
    ErrorKind kind;
    std::vector<std::string> subjects;
    std::string text;
  };
  std::vector<Fault> faults_;
};

}  // namespace einkorn::detail
