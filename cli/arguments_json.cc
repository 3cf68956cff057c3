#include "cli/arguments_json.h"

#include <string>
#include <string_view>
#include <utility>

namespace einkorn::cli {
namespace {

std::string_view role_name(Role role) {
  switch (role) {
    case Role::kInput:
      return "input";
    case Role::kOutput:
      return "output";
    case Role::kInOut:
      return "inout";
  }
  return "?";
}

std::string_view kind_name(const ArgumentInfo& one) {
  switch (one.kind) {
    case ArgumentKind::kTensor:
      return role_name(one.role);
    case ArgumentKind::kBool:
      return "bool";
    case ArgumentKind::kInteger:
      return "int";
    case ArgumentKind::kNumber:
      return "number";
    case ArgumentKind::kChoice:
      return "one of";
  }
  return "?";
}

}  // namespace

Json arguments_json(const OpDef& op) {
  Json out = Json::array();
  for (const ArgumentInfo& one : op.arguments()) {
    Json row{{"name", one.name}, {"kind", kind_name(one)}, {"doc", one.doc}};
    if (one.kind != ArgumentKind::kTensor) {
      row["default"] = one.default_value;
      if (one.kind == ArgumentKind::kChoice) row["choices"] = one.choices;
    } else {
      row["optional"] = one.optional;
      if (is_read(one.role)) {
        row["alternative"] = one.alternative > 0 ? Json(one.alternative) : Json();
      }
      if (one.role == Role::kOutput) {
        row["like"] = one.like.tensor.empty()
                          ? Json()
                          : Json{{"tensor", one.like.tensor},
                                 {"shape", text_or_null(std::string(one.like.shape))},
                                 {"dtype", text_or_null(std::string(one.like.dtype))}};
      }
    }
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace einkorn::cli
