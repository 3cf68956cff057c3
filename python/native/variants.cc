#include "python/native/variants.h"

#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <einkorn/registry.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "python/native/values.h"

namespace einkorn::python {
namespace {

using jit::FfiAny;

/// A callable kept for the process.
void* kept(const FfiAny& value) {
  void* const function = const_cast<void*>(value.pointer);
  jit::tvm_ffi().retain(function);
  return function;
}

struct PythonVariant {
  const OpDef* op = nullptr;
  std::vector<ArgumentInfo> arguments;
  std::string name, design, summary, source;
  std::vector<std::string> tilings;
  void* supports = nullptr;
  void* call = nullptr;
  Variant variant{};
};

/// A tensor lent for one call: the object of tvm-ffi that Python sees, over the caller's memory.
struct Lent {
  DLManagedTensorVersioned managed{};
  TensorView view;
};

FfiAny lend(const TensorView& view) {
  auto lent = std::make_unique<Lent>();
  lent->view = view;  // what the shape and strides below point into
  lent->managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  lent->managed.manager_ctx = lent.get();
  lent->managed.dl_tensor = lent->view.dlpack();
  lent->managed.deleter = [](DLManagedTensorVersioned* self) {
    delete static_cast<Lent*>(self->manager_ctx);
  };
  FfiAny out;
  void* object = nullptr;
  EK_CHECK(jit::tvm_ffi().make_tensor(&lent->managed, 0, 0, &object) == 0, ErrorKind::kRuntime,
           "tvm-ffi takes no tensor");
  static_cast<void>(lent.release());  // NOLINT(bugprone-unused-return-value): the object's now
  out.type = jit::kFfiTensorObject;
  out.pointer = object;
  return out;
}

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

/// The value of one argument for Python. Texts are the registry's, which stays.
FfiAny value_of(const ArgumentInfo& one, const std::byte* args) {
  const std::byte* const at = args + one.offset;
  switch (one.kind) {
    case ArgumentKind::kTensor: {
      const auto& view = *reinterpret_cast<const TensorView*>(at);
      return view.defined() ? lend(view) : FfiAny{};
    }
    case ArgumentKind::kBool:
      return jit::bool_value(load<bool>(at));
    case ArgumentKind::kInteger:
      return jit::integer_value(one.size == 8 ? load<std::int64_t>(at) : load<std::int32_t>(at));
    case ArgumentKind::kNumber:
      return jit::number_value(one.size == 8 ? load<double>(at)
                                             : static_cast<double>(load<float>(at)));
    case ArgumentKind::kChoice:
      // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): of a literal, ends with a zero
      return jit::text_value(one.choices[load<std::uint8_t>(at)].data());
  }
  return {};
}

/// Values of which some are objects of ours to release.
class Values {
 public:
  Values() = default;
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
  ~Values() {
    for (const FfiAny& value : all_) jit::release(value);
  }
  void add(FfiAny value) { all_.push_back(value); }
  std::span<const FfiAny> all() const { return all_; }

 private:
  std::vector<FfiAny> all_;
};

const PythonVariant& of(const void* context) { return *static_cast<const PythonVariant*>(context); }

std::optional<Refusal> supports(const void* context, const void* problem,
                                const DeviceInfo& device) {
  const PythonVariant& self = of(context);
  if (self.supports == nullptr) return std::nullopt;
  const std::string text = self.op->print(problem);
  const char* const on = device.device.kind == DeviceKind::kCpu ? "cpu" : "cuda";
  const FfiAny values[] = {jit::text_value(text.c_str()), jit::text_value(on),
                           jit::integer_value(device.cc)};
  const FfiAny result = call_python(self.name + ": supports", self.supports, values);
  std::optional<Refusal> out;
  if (const auto reason = jit::text_of(result)) out = Refusal{std::string(*reason)};
  const bool none = result.type == jit::kFfiNone;
  jit::release(result);
  EK_CHECK(out || none, ErrorKind::kType,
           fmt::format("{}: supports: expected None or the reason as a str, got {}", self.name,
                       type_name(result)));
  return out;
}

std::vector<std::string> tilings(const void* context, const void*, const DeviceInfo&) {
  return of(context).tilings;
}

std::optional<Refusal> validate(const void* context, const void*, const DeviceInfo&,
                                std::string_view tiling) {
  for (const std::string& one : of(context).tilings) {
    if (one == tiling) return std::nullopt;
  }
  return Refusal{"it is not among the variant's candidates"};
}

void run(const PythonVariant& self, const std::string& tiling, const void* args, Stream stream) {
  Values values;
  values.add(jit::integer_value(
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(stream.handle))));
  values.add(jit::text_value(tiling.c_str()));
  for (const ArgumentInfo& one : self.arguments) {
    values.add(value_of(one, static_cast<const std::byte*>(args)));
  }
  jit::release(call_python(self.name, self.call, values.all()));
}

Plan plan(const void* context, const void*, const DeviceInfo& device, std::string_view tiling) {
  const PythonVariant& self = of(context);
  const std::string chosen(tiling.empty() ? std::string_view(self.tilings.front()) : tiling);
  if (const auto refusal = validate(context, nullptr, device, chosen)) {
    detail::throw_refused_tiling(self.name, chosen, refusal->reason);
  }
  Plan out;
  out.tiling = chosen;
  out.stages.emplace_back(
      CallStage{.name = self.design, .run = [&self, chosen](const void* args, Stream stream) {
                  run(self, chosen, args, stream);
                }});
  return out;
}

std::unique_ptr<PythonVariant> described(const nlohmann::json& json) {
  auto self = std::make_unique<PythonVariant>();
  const auto view = registry();
  self->op = view->find(json.at("op").get<std::string>()).op;
  self->arguments = self->op->arguments();
  self->design = json.at("design");
  self->summary = json.at("summary");
  self->source = json.at("source");
  self->tilings = json.at("tilings").get<std::vector<std::string>>();
  Variant& variant = self->variant;
  variant = {.op = self->op->name,
             .arch = "python",
             .design = self->design,
             .version = json.at("version"),
             .language = "python",
             .summary = self->summary,
             .code = {&supports, &tilings, &validate, &plan},
             .batch_invariant = json.at("batch_invariant"),
             .context = self.get(),
             .source_digest = self->source};
  self->name = variant.id();
  return self;
}

}  // namespace

void add_variant(std::string_view description, const FfiAny& supports, const FfiAny& call) {
  const auto json = nlohmann::json::parse(description);
  auto self = described(json);
  const auto is_function = [](const FfiAny& one) { return one.type == jit::kFfiFunctionObject; };
  EK_CHECK(is_function(call) && (is_function(supports) || supports.type == jit::kFfiNone),
           ErrorKind::kType, fmt::format("{}: expected callables", self->name));
  if (is_function(supports)) self->supports = kept(supports);
  self->call = kept(call);
  register_variant(self->variant, {.replace = json.at("replace"), .first = json.at("first")});
  // NOLINTNEXTLINE(bugprone-unused-return-value): the registry's, which keeps what it has
  static_cast<void>(self.release());
}

}  // namespace einkorn::python
