#pragma once

#include <optional>
#include <stdexcept>

namespace einkorn::test {

/// What an optional holds; a test ends with an exception where it holds nothing.
template <class T>
const T& the(const std::optional<T>& value) {
  if (!value) throw std::logic_error("expected a value, got nothing");
  return *value;
}

}  // namespace einkorn::test
