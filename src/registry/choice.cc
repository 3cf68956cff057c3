#include "src/registry/choice.h"

#include <cstdlib>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/registry/glob.h"
#include "src/registry/suggest.h"

namespace einkorn::detail {
namespace {

std::vector<const Variant*> matching(const OpEntry& entry, std::string_view pattern) {
  std::vector<const Variant*> out;
  std::vector<std::string> names;
  for (const Variant* variant : entry.variants) {
    names.push_back(variant->name());
    if (glob_match(pattern, names.back(), '/') || glob_match(pattern, variant->id(), '/')) {
      out.push_back(variant);
    }
  }
  EK_CHECK(!out.empty(), ErrorKind::kValue,
           fmt::format("{}: variant: {}", entry.op->name,
                       expected_one_of(pattern, {names.begin(), names.end()})));
  return out;
}

}  // namespace

Asked asked_for(std::string_view op, std::string_view choice) {
  if (!is_auto(choice)) return {std::string(choice), "argument"};
  std::string name = environment_name(op);
  const char* value = std::getenv(name.c_str());
  if (value != nullptr && !is_auto(value)) return {value, std::move(name)};
  return {{}, "list order"};
}

std::vector<const Variant*> allowed_by(const OpEntry& entry, std::string_view choice) {
  if (is_auto(choice)) return entry.variants;
  if (is_glob(choice)) return matching(entry, choice);
  return {&registry()->find_variant(entry, choice)};
}

std::vector<const Variant*> allowed_by(const OpEntry& entry, const Asked& asked) {
  try {
    return allowed_by(entry, asked.choice);
  } catch (const Error& error) {
    throw_error(error.kind(), fmt::format("{}\n  from: {}", error.what(), in_words(asked.source)));
  }
}

std::string in_words(std::string_view source) {
  return source == "argument" ? "the argument" : std::string(source);
}

}  // namespace einkorn::detail
