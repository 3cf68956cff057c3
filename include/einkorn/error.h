#pragma once

#include <exception>
#include <source_location>
#include <string>
#include <string_view>

namespace einkorn {

/// Whose fault and of which sort; maps one to one to Python's exceptions.
enum class ErrorKind {
  kType,            ///< TypeError: wrong dtype, rank, device kind, or kind of value
  kValue,           ///< ValueError: a size, stride, pointer, name or number out of bounds
  kNotImplemented,  ///< NotImplementedError: a valid request that no variant serves
  kRuntime,         ///< RuntimeError: the machine, the driver, a compiler, or einkorn itself
};

/// Python's name of the kind, e.g. "ValueError".
std::string_view name(ErrorKind kind);

/// The only exception einkorn throws on purpose.
///
/// `what()` reads `<op>: <argument> <property>: expected <X>, got <Y>`, then, each on a line of its
/// own, the tensor in full and `hint: <what to do>`. It never holds the place in the source, which
/// is the developer's business: see `where()`.
class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message,
        std::source_location where = std::source_location::current());

  const char* what() const noexcept override { return message_.c_str(); }
  ErrorKind kind() const noexcept { return kind_; }
  const std::source_location& where() const noexcept { return where_; }

 private:
  ErrorKind kind_;
  std::string message_;
  std::source_location where_;
};

[[noreturn]] void throw_error(ErrorKind kind, std::string message,
                              std::source_location where = std::source_location::current());

/// A fault of einkorn's own: says so, gives the place, and asks for a report.
[[noreturn]] void throw_internal(std::string_view condition, std::string message,
                                 std::source_location where = std::source_location::current());

}  // namespace einkorn

/// The caller's fault. `message` is evaluated only on failure, so formatting costs nothing else.
#define EK_CHECK(condition, kind, message)   \
  do {                                       \
    if (!(condition)) [[unlikely]]           \
      ::einkorn::throw_error(kind, message); \
  } while (false)

/// Our fault: an invariant that no input can break.
#define EK_ICHECK(condition, message)                 \
  do {                                                \
    if (!(condition)) [[unlikely]]                    \
      ::einkorn::throw_internal(#condition, message); \
  } while (false)
