#include <einkorn/error.h>

#include <utility>

#include <fmt/format.h>

namespace einkorn {
namespace {

/// The path from the repository's root on: what a report needs, without the builder's directories.
std::string_view in_repository(std::string_view path) {
  for (std::string_view root : {"/src/", "/include/", "/ops/", "/cli/", "/tests/"}) {
    if (const auto at = path.rfind(root); at != std::string_view::npos) return path.substr(at + 1);
  }
  return path;
}

}  // namespace

std::string_view name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kType:
      return "TypeError";
    case ErrorKind::kValue:
      return "ValueError";
    case ErrorKind::kNotImplemented:
      return "NotImplementedError";
    case ErrorKind::kRuntime:
      return "RuntimeError";
  }
  return "RuntimeError";
}

Error::Error(ErrorKind kind, std::string message, std::source_location where)
    : kind_(kind), message_(std::move(message)), where_(where) {}

void throw_error(ErrorKind kind, std::string message, std::source_location where) {
  throw Error(kind, std::move(message), where);
}

void throw_internal(std::string_view condition, std::string message, std::source_location where) {
  throw Error(ErrorKind::kRuntime,
              fmt::format("internal error: {}: expected {} at {}:{}\n"
                          "  hint: this is a fault of einkorn, not of the call; please report it "
                          "with this message",
                          message, condition, in_repository(where.file_name()), where.line()),
              where);
}

}  // namespace einkorn
