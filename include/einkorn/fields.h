#pragma once

// One declaration of a plain struct's fields gives its parsing, printing, hashing and listing.
//
// A struct takes part by a static constexpr function:
//
//   struct Problem {
//     std::int64_t rows = 1;
//     DType dtype = kBF16;
//     bool operator==(const Problem&) const = default;
//     static constexpr auto fields() {
//       return std::tuple{field("rows", &Problem::rows, "rows of x", 0, kMaxRows),
//                         field("dtype", &Problem::dtype, "of x and y")};
//     }
//   };
//
// Field types: bool, integers, float, double, DType, std::optional<DType> ("none"), and enums that
// specialise EnumNames. Problems and tilings are described this way.

#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <einkorn/dtype.h>

namespace einkorn {

/// Names of an enum's values, which must count up from 0:
/// `template <> struct EnumNames<Rounding> { static constexpr std::array<std::string_view, 3>
/// kNames{"llama", "gemma", "none"}; };`
template <class E>
struct EnumNames;

template <class E>
concept NamedEnum = std::is_enum_v<E> && requires { EnumNames<E>::kNames.size(); };

template <NamedEnum E>
std::string_view name(E value) {
  return EnumNames<E>::kNames[static_cast<std::size_t>(value)];
}

/// How a field is given on the command line; one row of `einkorn list ops`.
struct Key {
  std::string name;
  std::string type;           ///< "int", "bool", "number", "dtype", "one of"
  std::string allowed;        ///< "0..1048576", "f32|f16|bf16", "llama|gemma|none"
  std::string default_value;  ///< as it would be typed
  std::string doc;
};

/// `key=value` pairs in the order given.
using KeyValues = std::vector<std::pair<std::string, std::string>>;

/// Splits "rows=16 cols=4096" at blanks. ValueError for a word without '=' or a key given twice.
KeyValues split_key_values(std::string_view text);

template <class S, class T>
struct Field {
  std::string_view name;
  T S::* member;
  std::string_view doc;
  double min;  ///< inclusive; numbers only
  double max;  ///< inclusive
};

template <class S, class T>
constexpr Field<S, T> field(std::string_view name, T S::* member, std::string_view doc,
                            double min = std::numeric_limits<double>::lowest(),
                            double max = std::numeric_limits<double>::max()) {
  return {name, member, doc, min, max};
}

namespace detail {

// One pair of functions for each kind of field; `where` names the struct and key in errors.
std::int64_t parse_integer(std::string_view where, std::string_view text, double min, double max);
double parse_number(std::string_view where, std::string_view text, double min, double max);
bool parse_bool(std::string_view where, std::string_view text);
DType parse_dtype_field(std::string_view where, std::string_view text);
std::size_t parse_enum(std::string_view where, std::string_view text,
                       std::span<const std::string_view> names);
std::string print_number(double value);
std::string print_number(float value);
std::string print_range(double min, double max);
std::string join(std::span<const std::string_view> names, std::string_view separator);
[[noreturn]] void throw_unknown_key(std::string_view where, std::string_view key,
                                    const std::vector<std::string_view>& known);

template <class T>
void parse_field(std::string_view where, std::string_view text, double min, double max, T& out) {
  if constexpr (std::same_as<T, bool>) {
    out = parse_bool(where, text);
  } else if constexpr (std::integral<T>) {
    // What the member can hold bounds it, too.
    const auto lowest = static_cast<double>(std::numeric_limits<T>::lowest());
    const auto highest = static_cast<double>(std::numeric_limits<T>::max());
    out = static_cast<T>(
        parse_integer(where, text, min < lowest ? lowest : min, max > highest ? highest : max));
  } else if constexpr (std::floating_point<T>) {
    out = static_cast<T>(parse_number(where, text, min, max));
  } else if constexpr (std::same_as<T, DType>) {
    out = parse_dtype_field(where, text);
  } else if constexpr (std::same_as<T, std::optional<DType>>) {
    out = text == "none" ? std::nullopt : std::optional(parse_dtype_field(where, text));
  } else {
    out = static_cast<T>(parse_enum(where, text, EnumNames<T>::kNames));
  }
}

template <class T>
std::string print_field(const T& value) {
  if constexpr (std::same_as<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::integral<T>) {
    return std::to_string(value);
  } else if constexpr (std::floating_point<T>) {
    return print_number(value);
  } else if constexpr (std::same_as<T, std::optional<DType>>) {
    return value ? std::string(name(*value)) : "none";
  } else {
    return std::string(name(value));
  }
}

template <class T>
Key describe_field(std::string_view field_name, std::string_view doc, double min, double max,
                   const T& default_value) {
  Key key{std::string(field_name), {}, {}, print_field(default_value), std::string(doc)};
  if constexpr (std::same_as<T, bool>) {
    key.type = "bool";
    key.allowed = "true|false";
  } else if constexpr (std::integral<T>) {
    key.type = "int";
    key.allowed = print_range(min, max);
  } else if constexpr (std::floating_point<T>) {
    key.type = "number";
    key.allowed = print_range(min, max);
  } else if constexpr (std::same_as<T, DType>) {
    key.type = "dtype";
  } else if constexpr (std::same_as<T, std::optional<DType>>) {
    key.type = "dtype";
    key.allowed = "none";
  } else {
    key.type = "one of";
    key.allowed = join(EnumNames<T>::kNames, "|");
  }
  return key;
}

inline std::size_t hash_mix(std::size_t seed, std::size_t value) {
  // splitmix64's finaliser: cheap and good enough that unordered_map buckets spread.
  std::uint64_t x = seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2));
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  return static_cast<std::size_t>(x);
}

}  // namespace detail

/// Calls f(field) for every declared field of S.
template <class S, class F>
void for_each_field(F&& f) {
  std::apply([&](const auto&... one) { (f(one), ...); }, S::fields());
}

/// Fills a struct from pairs; fields not named keep their defaults. ValueError: unknown key (with
/// the nearest known one), value that does not parse or is out of range.
template <class S>
S parse_fields(std::string_view where, const KeyValues& pairs) {
  S out{};
  for (const auto& [key, text] : pairs) {
    bool found = false;
    std::vector<std::string_view> known;
    for_each_field<S>([&](const auto& one) {
      known.push_back(one.name);
      if (one.name != key) return;
      detail::parse_field(std::string(where) + ": " + key, text, one.min, one.max,
                          out.*(one.member));
      found = true;
    });
    if (!found) detail::throw_unknown_key(where, key, known);
  }
  return out;
}

/// "rows=16 cols=4096 dtype=bf16"; fields at their default are left out after the first
/// `always` ones.
template <class S>
std::string print_fields(const S& value, std::size_t always = 0, const S& defaults = S{}) {
  std::string out;
  std::size_t index = 0;
  for_each_field<S>([&](const auto& one) {
    if (index++ >= always && value.*(one.member) == defaults.*(one.member)) return;
    if (!out.empty()) out += ' ';
    out += std::string(one.name) + '=' + detail::print_field(value.*(one.member));
  });
  return out;
}

template <class S>
std::vector<Key> describe_fields() {
  const S defaults{};
  std::vector<Key> keys;
  for_each_field<S>([&](const auto& one) {
    keys.push_back(
        detail::describe_field(one.name, one.doc, one.min, one.max, defaults.*(one.member)));
  });
  return keys;
}

template <class S>
std::size_t hash_fields(const S& value) {
  std::size_t seed = 0;
  for_each_field<S>([&](const auto& one) {
    const auto& member = value.*(one.member);
    using T = std::remove_cvref_t<decltype(member)>;
    if constexpr (std::same_as<T, std::optional<DType>>) {
      seed = detail::hash_mix(seed, member ? static_cast<std::size_t>(*member) + 1 : 0);
    } else if constexpr (std::floating_point<T>) {
      seed = detail::hash_mix(seed, std::hash<T>{}(member));
    } else {
      seed = detail::hash_mix(seed, static_cast<std::size_t>(member));
    }
  });
  return seed;
}

}  // namespace einkorn
