#include "python/native/jit.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <einkorn/cuda.h>
#include <einkorn/expression.h>
#include <einkorn/jit.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "python/native/jit_arguments.h"
#include "python/native/jit_kernel.h"
#include "src/jit/compile_entries.h"
#include "src/jit/cpu_entry.h"
#include "src/jit/diagnostics.h"
#include "src/jit/ffi_module.h"
#include "src/jit/loaded_object.h"

namespace einkorn::python {
namespace {

using Json = nlohmann::json;

/// A program as Python has it: the expressions are those of the caller, which for the CPU are not
/// the artifact's.
struct Compiled {
  jit::Program program;
  jit::Target target;
  std::string arch;
  std::vector<std::string> expressions;
};

jit::Target target_of(const std::string& name) {
  for (const jit::Target target : {jit::Target::kCuda, jit::Target::kCpu, jit::Target::kFfi}) {
    if (jit::to_string(target) == name) return target;
  }
  throw_error(ErrorKind::kValue,
              fmt::format("jit: target: expected cuda, cpu or ffi, got {}", name));
}

jit::Request request_of(const Json& json) {
  jit::Request request;
  request.file = json.at("file");
  request.source = json.at("source");
  request.instantiate = json.at("entries").get<std::vector<std::string>>();
  request.arch = json.at("arch");
  request.options = json.at("options").get<std::vector<std::string>>();
  request.include_dirs = json.at("include_dirs").get<std::vector<std::string>>();
  request.target = target_of(json.at("target"));
  request.compiler = json.at("compiler");
  request.time_limit = json.at("time_limit");
  return request;
}

/// What the assembler says of a source that has nothing for the GPU: no kernel, no variable.
bool is_host_only(const jit::Artifact& artifact) {
  constexpr std::string_view kMemory = " bytes gmem";
  constexpr std::string_view kNone = ": 0 bytes gmem\n";
  const std::string log = artifact.log + '\n';
  if (!jit::parse_resources(log).empty()) return false;
  std::size_t at = log.find(kMemory);
  if (at == std::string::npos) return false;  // it said nothing
  for (; at != std::string::npos; at = log.find(kMemory, at + 1)) {
    if (at < 3 || log.compare(at - 3, kNone.size(), kNone) != 0) return false;
  }
  return true;
}

/// Where no GPU is and no arch was given: host code is the same for all. Other code is the error
/// that it is without this.
jit::Program compile_for_any_arch(const jit::Request& request) {
  jit::Request taken = request;
  taken.arch = "sm_80";
  try {
    const jit::Program program = jit::compile(taken);
    if (is_host_only(program.artifact())) return program;
  } catch (const Error& error) {
    throw_error(error.kind(),
                fmt::format("{}\n  arch: none was given and no GPU is here, so {} was "
                            "taken",
                            error.what(), taken.arch));
  }
  return jit::compile(request);
}

jit::Program program_of(const jit::Request& request, const std::string& name) {
  if (request.target == jit::Target::kCpu) {
    return jit::compile_entries(request, fmt::format("jit: {}: entry", name));
  }
  const bool any =
      request.target == jit::Target::kFfi && request.arch.empty() && !cuda::available();
  return any ? compile_for_any_arch(request) : jit::compile(request);
}

std::unique_ptr<Compiled> compile(std::string_view text) {
  const Json asked = Json::parse(text);
  const jit::Request request = request_of(asked);
  auto out = std::make_unique<Compiled>();
  out->target = request.target;
  out->arch = request.arch;
  out->expressions = request.instantiate;
  out->program = program_of(request, asked.at("name"));
  return out;
}

std::size_t index_of(const Compiled& self, std::string_view expression) {
  const auto found = std::ranges::find(self.expressions, expression);
  EK_CHECK(found != self.expressions.end(), ErrorKind::kValue,
           fmt::format("jit: {}: entry: expected one of {}, got \"{}\"", self.program.name(),
                       fmt::join(self.expressions, ", "), expression));
  return static_cast<std::size_t>(found - self.expressions.begin());
}

Json entries_json(const Compiled& self) {
  Json out = Json::array();
  for (std::size_t i = 0; i < self.expressions.size(); ++i) {
    const jit::EntryPoint& entry = self.program->entries.at(i);
    out.push_back({{"expression", self.expressions[i]},
                   {"lowered", entry.lowered},
                   {"registers", entry.resources.registers},
                   {"static_smem", entry.resources.static_smem},
                   {"stack_bytes", entry.resources.stack_bytes},
                   {"spill_stores", entry.resources.spill_stores},
                   {"spill_loads", entry.resources.spill_loads}});
  }
  return out;
}

std::string facts_json(const Compiled& self) {
  const jit::Artifact& artifact = self.program.artifact();
  Json functions = Json::array();
  if (self.target == jit::Target::kFfi) {
    functions = jit::FfiModule::load(artifact, self.program.name()).functions();
  }
  return Json{{"target", jit::to_string(self.target)},
              {"compiler", artifact.compiler},
              {"compile_ms", artifact.compile_ms},
              {"key", artifact.key},
              {"log", artifact.log},
              {"entries", entries_json(self)},
              {"functions", std::move(functions)}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);  // a log may hold any bytes
}

jit::FfiAny image_of(const Compiled& self) {
  const std::vector<std::byte>& image = self.program->image;
  const jit::FfiBytes bytes{reinterpret_cast<const char*>(image.data()), image.size()};
  jit::FfiAny out;
  EK_CHECK(jit::tvm_ffi().make_bytes(&bytes, &out) == 0, ErrorKind::kRuntime,
           "tvm-ffi makes no bytes");
  return out;
}

std::string parameters_of(const Compiled& self, std::string_view expression) {
  const std::size_t index = index_of(self, expression);
  if (self.target == jit::Target::kCpu) {
    return parameters_json(jit::CpuEntry(self.program, index, expression).facts());
  }
  const std::string& lowered = self.program->entries.at(index).lowered;
  return parameters_json(*jit::kernel_facts(self.program.artifact(), lowered));
}

jit::FfiAny kernel_of(const Compiled& self, std::string_view expression) {
  const std::size_t index = index_of(self, expression);
  return self.target == jit::Target::kCpu
             ? cpu_kernel_function(self.program, index, self.expressions[index])
             : cuda_kernel_function(self.program, self.expressions[index]);
}

/// The object stays loaded for the process, so its functions are passed on as they are.
jit::FfiAny ffi_function(const Compiled& self, std::string_view name) {
  const auto object =
      jit::LoadedObject::load(self.program->key, self.program->image, self.program.name());
  void* address = object.symbol(std::string(jit::kFfiPrefix) + std::string(name));
  return function_result(nullptr, reinterpret_cast<jit::FfiFunction>(address));
}

jit::FfiAny answer(const Compiled& self, std::string_view verb, std::string_view what) {
  if (verb == "facts") return text_result(facts_json(self));
  if (verb == "image") return image_of(self);
  if (verb == "parameters") return text_result(parameters_of(self, what));
  if (verb == "kernel") return kernel_of(self, what);
  if (verb == "function") return ffi_function(self, what);
  throw_error(ErrorKind::kValue, fmt::format("jit: program: unknown verb {}", verb));
}

int call(void* self, const jit::FfiAny* values, std::int32_t count, jit::FfiAny* result) {
  return guarded([&] {
    const Arguments arguments("jit: program", values, count);
    arguments.expect(2);
    *result = answer(*static_cast<const Compiled*>(self), arguments.text(0, "verb"),
                     arguments.text(1, "entry"));
  });
}

constexpr std::string_view kDTypePrefix = "dtype:";
constexpr std::string_view kTextPrefix = "c++:";

jit::TemplateArgument template_argument(const Arguments& arguments, std::size_t at) {
  const jit::FfiAny& value = arguments.any(at);
  if (value.type == jit::kFfiNone) return {std::optional<DType>()};
  if (value.type == jit::kFfiBool) return {value.integer != 0};
  if (value.type == jit::kFfiInt) return {value.integer};
  std::string_view text = arguments.text(at, "template argument");
  if (text.starts_with(kDTypePrefix)) return {parse_dtype(text.substr(kDTypePrefix.size()))};
  EK_ICHECK(text.starts_with(kTextPrefix), "Python marks texts");
  return {std::string(text.substr(kTextPrefix.size()))};
}

}  // namespace

jit::FfiAny jit_program(std::string_view request) {
  return function_result(compile(request), &call);
}

std::string expression_text(const Arguments& arguments) {
  std::vector<jit::TemplateArgument> list;
  list.reserve(arguments.size());
  for (std::size_t at = 1; at < arguments.size(); ++at) {
    list.push_back(template_argument(arguments, at));
  }
  return jit::instantiate(arguments.text(0, "name"), list);
}

}  // namespace einkorn::python
