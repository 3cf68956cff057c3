#include "src/jit/settings.h"

#include <unistd.h>

#include <charconv>
#include <limits>
#include <string_view>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/core/environment.h"

namespace einkorn::jit {
namespace {

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
           fmt::format("{}: expected bytes such as 512M or 10G (units: K, M, G, T), got \"{}\"",
                       variable, text));
  return value << shift;
}

Settings Settings::from_environment() {
  Settings out;
  if (const std::string text = environment("EINKORN_JIT"); !text.empty())
    out.mode = parse_mode(text);
  if (const std::string text = environment("EINKORN_CACHE_DIR"); !text.empty())
    out.cache_dir = text;
  if (const std::string text = environment("EINKORN_PACK"); !text.empty())
    out.packs = split_list(text);
  if (const std::string text = environment("EINKORN_CACHE_MAX"); !text.empty()) {
    out.max_bytes = parse_bytes("EINKORN_CACHE_MAX", text);
  }
  if (const std::string text = environment("EINKORN_CACHE_TRUST"); !text.empty()) {
    out.trust = parse_flag("EINKORN_CACHE_TRUST", text);
  }
  return out;
}

std::vector<std::string> cache_candidates(const Settings& settings) {
  if (!settings.cache_dir.empty()) return {settings.cache_dir};
  std::vector<std::string> out;
  if (const std::string cache = environment("XDG_CACHE_HOME"); !cache.empty()) {
    out.push_back(cache + "/einkorn");
  }
  if (const std::string home = environment("HOME"); !home.empty()) {
    out.push_back(home + "/.cache/einkorn");
  }
  out.push_back(fmt::format("{}/einkorn-{}/cache", temporary_root(), geteuid()));
  return out;
}

}  // namespace einkorn::jit
