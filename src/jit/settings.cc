#include "src/jit/settings.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>

#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn::jit {
namespace {

/// Nothing when it is unset or empty.
std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read only
  if (value == nullptr || value[0] == '\0') return std::nullopt;
  return value;
}

Mode parse_mode(const std::string& text) {
  if (text == "on") return Mode::kOn;
  if (text == "cache-only") return Mode::kCacheOnly;
  if (text == "off") return Mode::kOff;
  throw_error(ErrorKind::kValue,
              fmt::format("EINKORN_JIT: expected on, cache-only or off, got \"{}\"", text));
}

bool parse_flag(const char* name, const std::string& text) {
  EK_CHECK(text == "0" || text == "1", ErrorKind::kValue,
           fmt::format("{}: expected 0 or 1, got \"{}\"", name, text));
  return text == "1";
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(':'), text.size());
    if (end > 0) out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace

std::uint64_t parse_bytes(const std::string& variable, const std::string& text) {
  constexpr std::string_view kUnits = "KMGT";
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, value);
  const std::size_t unit = after == end ? std::string_view::npos : kUnits.find(*after);
  const bool unit_ok = after == end || (unit != std::string_view::npos && after + 1 == end);
  const unsigned shift = after == end ? 0 : 10 * (static_cast<unsigned>(unit) + 1);
  EK_CHECK(error == std::errc() && unit_ok &&
               value <= (std::numeric_limits<std::uint64_t>::max() >> (unit_ok ? shift : 0)),
           ErrorKind::kValue,
           fmt::format("{}: expected bytes such as 512M or 10G, got \"{}\"", variable, text));
  return value << shift;
}

Settings Settings::from_environment() {
  Settings out;
  if (const auto text = variable("EINKORN_JIT")) out.mode = parse_mode(*text);
  if (const auto text = variable("EINKORN_CACHE_DIR")) out.cache_dir = *text;
  if (const auto text = variable("EINKORN_PACK")) out.packs = split(*text);
  if (const auto text = variable("EINKORN_CACHE_MAX")) {
    out.max_bytes = parse_bytes("EINKORN_CACHE_MAX", *text);
  }
  if (const auto text = variable("EINKORN_CACHE_TRUST")) {
    out.trust = parse_flag("EINKORN_CACHE_TRUST", *text);
  }
  return out;
}

std::vector<std::string> cache_candidates(const Settings& settings) {
  if (!settings.cache_dir.empty()) return {settings.cache_dir};
  std::vector<std::string> out;
  if (const auto cache = variable("XDG_CACHE_HOME")) out.push_back(*cache + "/einkorn");
  if (const auto home = variable("HOME")) out.push_back(*home + "/.cache/einkorn");
  out.push_back(fmt::format("{}/einkorn-{}/cache", variable("TMPDIR").value_or("/tmp"), geteuid()));
  return out;
}

}  // namespace einkorn::jit
