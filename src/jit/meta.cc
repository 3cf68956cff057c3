#include "src/jit/meta.h"

#include <nlohmann/json.hpp>

#include "src/core/utc_time.h"

namespace einkorn::jit {
namespace {

using Json = nlohmann::ordered_json;

Json files_json(const std::vector<std::pair<std::string, Digest>>& files) {
  Json out = Json::array();
  for (const auto& [name, digest] : files)
    out.push_back({{"name", name}, {"blake2b", digest.hex()}});
  return out;
}

std::vector<std::pair<std::string, Digest>> parse_files(const Json& json) {
  std::vector<std::pair<std::string, Digest>> out;
  for (const Json& file : json) {
    out.emplace_back(file.at("name").get<std::string>(),
                     Digest::parse(file.at("blake2b").get<std::string>()).value_or(Digest{}));
  }
  return out;
}

Json entry_json(const EntryPoint& entry) {
  const Resources& r = entry.resources;
  return {{"expression", entry.expression}, {"lowered", entry.lowered},
          {"registers", r.registers},       {"static_smem", r.static_smem},
          {"stack_bytes", r.stack_bytes},   {"spill_stores", r.spill_stores},
          {"spill_loads", r.spill_loads}};
}

EntryPoint parse_entry(const Json& json) {
  return {json.at("expression").get<std::string>(),
          json.at("lowered").get<std::string>(),
          {json.at("registers").get<int>(), json.at("static_smem").get<std::int64_t>(),
           json.at("stack_bytes").get<std::int64_t>(), json.at("spill_stores").get<std::int64_t>(),
           json.at("spill_loads").get<std::int64_t>()}};
}

}  // namespace

std::string meta_text(const Digest& key, const Artifact& artifact, const KeyParts& parts) {
  Json entries = Json::array();
  for (const EntryPoint& entry : artifact.entries) entries.push_back(entry_json(entry));
  const Json json = {{"key", key.hex()},
                     {"target", parts.target},
                     {"arch", parts.arch},
                     {"compiler", artifact.compiler},
                     {"compiler_identity", parts.compiler},
                     {"options", parts.options},
                     {"expressions", parts.entries},
                     {"entries", std::move(entries)},
                     {"files", files_json(parts.files)},
                     {"dependencies", files_json(parts.dependencies)},
                     {"image_bytes", artifact.image.size()},
                     {"compile_ms", artifact.compile_ms},
                     {"created", utc_now()}};
  // Names of files may hold any bytes; the key does not depend on this text.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<Meta> parse_meta(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return std::nullopt;
  try {
    Meta meta;
    meta.key = json.at("key").get<std::string>();
    meta.parts.compiler = json.at("compiler_identity").get<std::string>();
    meta.parts.target = json.at("target").get<std::string>();
    meta.parts.arch = json.at("arch").get<std::string>();
    meta.parts.options = json.at("options").get<std::vector<std::string>>();
    meta.parts.entries = json.at("expressions").get<std::vector<std::string>>();
    meta.parts.files = parse_files(json.at("files"));
    meta.parts.dependencies = parse_files(json.at("dependencies"));
    meta.compiler = json.at("compiler").get<std::string>();
    meta.compile_ms = json.at("compile_ms").get<double>();
    for (const Json& entry : json.at("entries")) meta.entries.push_back(parse_entry(entry));
    meta.created = json.at("created").get<std::string>();
    return meta;
  } catch (const Json::exception&) {
    return std::nullopt;  // another version's, or damaged
  }
}

}  // namespace einkorn::jit
