// What the shared library exports: functions of tvm-ffi's C interface, by name. Python's side is
// python/einkorn/_native.py.

#include <string>
#include <vector>

#include <einkorn/batch_invariant.h>
#include <einkorn/jit.h>
#include <einkorn/registry.h>
#include <einkorn/version.h>

#include "cli/command.h"
#include "python/native/explain.h"
#include "python/native/jax_call.h"
#include "python/native/jit.h"
#include "python/native/op_call.h"
#include "python/native/slots.h"
#include "python/native/torch_call.h"
#include "python/native/values.h"
#include "python/native/variants.h"
#include "src/core/self_command.h"
#include "src/core/subprocess.h"
#include "src/registry/removal.h"

// A function `name` of the module: EK_EXPORT(name, arguments) { ...; return FfiAny; }
#define EK_EXPORT(name, arguments)                                                             \
  static einkorn::jit::FfiAny name(const einkorn::python::Arguments& arguments);               \
  extern "C" [[gnu::visibility("default")]] int __tvm_ffi_##name(                              \
      void*, const einkorn::jit::FfiAny* values, std::int32_t count,                           \
      einkorn::jit::FfiAny* result) {                                                          \
    return einkorn::python::guarded(                                                           \
        [&] { *result = name(einkorn::python::Arguments("einkorn." #name, values, count)); }); \
  }                                                                                            \
  static einkorn::jit::FfiAny name(const einkorn::python::Arguments& arguments)

namespace {
using einkorn::jit::bool_value;
using einkorn::jit::FfiAny;
using einkorn::jit::integer_value;
using einkorn::python::text_result;

std::vector<std::string> words_of(const einkorn::python::Arguments& arguments) {
  std::vector<std::string> words;
  words.reserve(arguments.size() + 1);
  for (std::size_t i = 0; i < arguments.size(); ++i) words.emplace_back(arguments.text(i, "word"));
  return words;
}

}  // namespace

/// op(name) -> function
EK_EXPORT(op, arguments) {
  arguments.expect(1);
  return einkorn::python::op_function(arguments.text(0, "name"));
}

/// check(name) -> function: what op(name) would refuse, by descriptions alone
EK_EXPORT(check, arguments) {
  arguments.expect(1);
  return einkorn::python::op_check(arguments.text(0, "name"));
}

/// torch_functions() -> address of the function for ctypes: see torch_call.h. RuntimeError: not
/// with this Python
EK_EXPORT(torch_functions, arguments) {
  arguments.expect(0);
  static_cast<void>(einkorn::python::cpython());
  return integer_value(static_cast<std::int64_t>(
      reinterpret_cast<std::uintptr_t>(&einkorn::python::torch_functions)));
}

/// jax_handler(platform) -> address of XLA's handler
EK_EXPORT(jax_handler, arguments) {
  arguments.expect(1);
  return integer_value(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(
      einkorn::python::jax_handler(arguments.text(0, "platform")))));
}

/// version() -> str
EK_EXPORT(version, arguments) {
  arguments.expect(0);
  return text_result(einkorn::version());
}

/// dump() -> str
EK_EXPORT(dump, arguments) {
  arguments.expect(0);
  return text_result(einkorn::dump());
}

/// variants(op) -> JSON
EK_EXPORT(variants, arguments) {
  arguments.expect(1);
  return text_result(einkorn::python::variants_json(arguments.text(0, "op")));
}

/// explain(op, "key=value ...", device, variant) -> JSON
EK_EXPORT(explain, arguments) {
  arguments.expect(4);
  return text_result(einkorn::python::explain_json(
      arguments.text(0, "op"), arguments.text(1, "problem"), arguments.text(2, "device"),
      arguments.optional_text(3, "variant")));
}

/// register_variant(JSON, supports, call) -> None
EK_EXPORT(register_variant, arguments) {
  arguments.expect(3);
  einkorn::python::add_variant(arguments.text(0, "description"), arguments.any(1),
                               arguments.any(2));
  return {};
}

/// read_config(form, text) -> JSON: see slots.h, as the four below
EK_EXPORT(read_config, arguments) {
  arguments.expect(2);
  return text_result(
      einkorn::python::read_config(arguments.text(0, "form"), arguments.text(1, "text")));
}

/// check_config(JSON) -> None
EK_EXPORT(check_config, arguments) {
  arguments.expect(1);
  einkorn::python::check_config(arguments.text(0, "config"));
  return {};
}

/// resolve_slots(JSON, JSON, device) -> JSON
EK_EXPORT(resolve_slots, arguments) {
  arguments.expect(3);
  return text_result(einkorn::python::resolve_slots(
      arguments.text(0, "config"), arguments.text(1, "requests"), arguments.text(2, "device")));
}

/// dump_bindings(JSON) -> str
EK_EXPORT(dump_bindings, arguments) {
  arguments.expect(1);
  return text_result(einkorn::python::dump_bindings(arguments.text(0, "bindings")));
}

/// pattern_fits(pattern, path) -> bool
EK_EXPORT(pattern_fits, arguments) {
  arguments.expect(2);
  return bool_value(
      einkorn::python::pattern_fits(arguments.text(0, "pattern"), arguments.text(1, "path")));
}

/// batch_invariant(begin) -> None: enters the mode on this thread, or leaves it once
EK_EXPORT(batch_invariant, arguments) {
  arguments.expect(1);
  if (arguments.boolean(0, "begin")) {
    einkorn::begin_batch_invariant();
  } else {
    einkorn::end_batch_invariant();
  }
  return {};
}

/// is_batch_invariant() -> bool
EK_EXPORT(is_batch_invariant, arguments) {
  arguments.expect(0);
  return bool_value(einkorn::batch_invariant_mode());
}

/// jit_program(JSON) -> function: see jit.h
EK_EXPORT(jit_program, arguments) {
  arguments.expect(1);
  return einkorn::python::jit_program(arguments.text(0, "request"));
}

/// jit_expression(name, argument, ...) -> str
EK_EXPORT(jit_expression, arguments) {
  return text_result(einkorn::python::expression_text(arguments));
}

/// jit_forget() -> None
EK_EXPORT(jit_forget, arguments) {
  arguments.expect(0);
  einkorn::jit::forget();
  return {};
}

/// jit_compile_count() -> int
EK_EXPORT(jit_compile_count, arguments) {
  arguments.expect(0);
  return integer_value(static_cast<std::int64_t>(einkorn::jit::compile_count()));
}

/// remove_variant(id) -> None
EK_EXPORT(remove_variant, arguments) {
  arguments.expect(1);
  einkorn::detail::remove_variant(arguments.text(0, "id"));
  return {};
}

/// set_self_command(word, ...) -> None: what starts this program anew
EK_EXPORT(set_self_command, arguments) {
  einkorn::set_self_command(words_of(arguments));
  return {};
}

/// command(word, ...) -> the command's exit status
EK_EXPORT(command, arguments) {
  std::vector<std::string> words = words_of(arguments);
  words.insert(words.begin(), "einkorn");
  std::vector<char*> pointers = einkorn::subprocess::pointers_to(words);
  return integer_value(einkorn::cli::command(static_cast<int>(words.size()), pointers.data()));
}
