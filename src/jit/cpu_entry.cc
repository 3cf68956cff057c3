#include "src/jit/cpu_entry.h"

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/jit/typed_arguments.h"

namespace einkorn::jit {
namespace {

using Describe = void(const char** type, const int** bytes, int* count);

// A reference is passed as its address, like a pointer. typeid gives the type as the C++ ABI
// mangles it, which is what signatures of GPU kernels are read from as well. What #line names is
// the file of errors; of an entry's own, Python tells them by its expression.
constexpr const char* kCommon = R"(
#line 1 "entry"
#include <cstddef>
#include <exception>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace einkorn_entry {

template <class A>
A take(void* value) {
  if constexpr (std::is_reference_v<A>) {
    return static_cast<A>(**static_cast<std::remove_reference_t<A>**>(value));
  } else {
    return *static_cast<std::remove_cv_t<A>*>(value);
  }
}

template <class R, class... A>
struct Function {
  static constexpr bool kReturnsVoid = std::is_void_v<R>;
  static constexpr int kCount = sizeof...(A);
  static constexpr int kBytes[sizeof...(A) + 1] = {
      static_cast<int>(std::is_reference_v<A> ? sizeof(void*) : sizeof(A))..., 0};

  static const char* type() { return typeid(R(A...)).name(); }
  static void call(R (*function)(A...), void** values) {
    call(function, values, std::index_sequence_for<A...>());
  }
  template <std::size_t... I>
  static void call(R (*function)(A...), [[maybe_unused]] void** values,
                   std::index_sequence<I...>) {
    function(take<A>(values[I])...);
  }
};

template <class R, class... A>
Function<R, A...> of(R (*)(A...));

inline int say(const char* text, char* message, std::size_t size) {
  std::size_t i = 0;
  for (; i + 1 < size && text[i] != '\0'; ++i) message[i] = text[i];
  message[i] = '\0';
  return 1;
}

}  // namespace einkorn_entry
)";

std::string entry_function(std::size_t index, const std::string& expression) {
  return fmt::format(R"(
#line 1 "{symbol}"
extern "C" [[gnu::visibility("default")]] void {symbol}_type(const char** type, const int** bytes,
                                                             int* count) {{
  using Function = decltype(einkorn_entry::of(&{expression}));
  static_assert(Function::kReturnsVoid, "a kernel returns void: it writes through its pointers");
  *type = Function::type();
  *bytes = Function::kBytes;
  *count = Function::kCount;
}}
extern "C" [[gnu::visibility("default")]] int {symbol}(void** values, char* message,
                                                       std::size_t size) {{
#ifdef __cpp_exceptions
  try {{
    decltype(einkorn_entry::of(&{expression}))::call(&{expression}, values);
    return 0;
  }} catch (const std::exception& error) {{
    return einkorn_entry::say(error.what(), message, size);
  }} catch (...) {{
    return einkorn_entry::say("something that is no std::exception", message, size);
  }}
#else
  static_cast<void>(message), static_cast<void>(size);
  decltype(einkorn_entry::of(&{expression}))::call(&{expression}, values);
  return 0;
#endif
}}
)",
                     fmt::arg("symbol", entry_symbol(index)), fmt::arg("expression", expression));
}

/// The mangled name of a function of that type: "FvPfiE" gives "_Z1kPfi".
std::string name_with_type(std::string_view type) {
  const bool understood = type.starts_with("Fv") && type.ends_with('E');
  return understood ? fmt::format("_Z1k{}", type.substr(2, type.size() - 3)) : std::string("k");
}

KernelFacts facts_of(Describe* describe) {
  const char* type = nullptr;
  const int* bytes = nullptr;
  int count = 0;
  describe(&type, &bytes, &count);
  KernelFacts facts;
  std::int64_t offset = 0;
  for (int i = 0; i < count; ++i) {
    facts.layout.push_back({.index = i, .offset = offset, .bytes = bytes[i]});
    offset += bytes[i];
  }
  facts.signature = parse_signature(name_with_type(type));
  return facts;
}

}  // namespace

std::string entry_symbol(std::size_t index) { return fmt::format("einkorn_entry_{}", index); }

std::string entry_functions(std::span<const std::string> expressions) {
  std::string out = kCommon;
  for (std::size_t i = 0; i < expressions.size(); ++i) out += entry_function(i, expressions[i]);
  return out;
}

CpuEntry::CpuEntry(const Program& program, std::size_t index, std::string_view name)
    : name_(name),
      call_(program.function<Call>(entry_symbol(index).c_str())),
      facts_(facts_of(program.function<Describe>((entry_symbol(index) + "_type").c_str()))) {}

void CpuEntry::call(std::span<const Argument> arguments) const {
  BoundArguments bound(name_, arguments, facts_.signature ? &*facts_.signature : nullptr,
                       facts_.layout, kCpuDevice);
  char message[512];
  if (call_(bound.pointers(), message, sizeof(message)) != 0) {
    throw_error(ErrorKind::kRuntime, fmt::format("{}: threw: {}", name_, message));
  }
}

}  // namespace einkorn::jit
