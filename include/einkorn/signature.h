#pragma once

// One declaration of an op's arguments gives its list of tensors, and the functions and schemas of
// the bindings in other languages.
//
// The struct of arguments takes part by a static constexpr function:
//
//   struct Args {
//     TensorView x, weight, y;
//     double eps = 1e-6;
//     static constexpr auto arguments() {
//       return std::tuple{input("x", &Args::x, "[..., cols], f32, f16 or bf16"),
//                         optional_input("weight", &Args::weight, "[cols]"),
//                         output("y", &Args::y, Like{"x"}, "like x"),
//                         scalar("eps", &Args::eps, "positive and finite")};
//     }
//   };
//
// Scalars are bool, int, std::int64_t, float, double, and enums that specialise EnumNames. Inputs
// come first, those written in place among them, outputs next, scalars last, each in the order in
// which a caller would name them.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include <einkorn/fields.h>
#include <einkorn/tensor.h>

namespace einkorn {

enum class Role : std::uint8_t {
  kInput,
  kOutput,
  kInOut,  ///< read, and written in place: what a call leaves alone keeps its value
};

/// Whether a call may write the argument's elements.
constexpr bool is_written(Role role) { return role != Role::kInput; }
/// Whether what the argument holds before a call matters to it.
constexpr bool is_read(Role role) { return role != Role::kOutput; }

/// How a caller's framework allocates an output it was not given. `tensor` and `shape` are Python
/// expressions over the names of the inputs, where an input left out is None.
struct Like {
  std::string_view tensor = {};  ///< gives the framework, the device and, unless named, the dtype;
                                 ///< empty: the caller allocates it
  std::string_view shape = {};   ///< empty: the tensor's
  std::string_view dtype = {};   ///< "f32"; "f32+": f32, or f64 for a tensor in f64; empty: its
};

template <class A>
struct TensorDeclaration {
  std::string_view name;
  TensorView A::* member;
  Role role;
  bool optional;
  Like like;
  std::string_view doc;
  int alternative = 0;  ///< of an input, from 1: see alternative_input(); 0: none
};

template <class A, class T>
struct ScalarDeclaration {
  std::string_view name;
  T A::* member;
  std::string_view doc;
};

template <class A>
constexpr TensorDeclaration<A> input(std::string_view name, TensorView A::* member,
                                     std::string_view doc) {
  return {name, member, Role::kInput, false, {}, doc};
}
template <class A>
constexpr TensorDeclaration<A> optional_input(std::string_view name, TensorView A::* member,
                                              std::string_view doc) {
  return {name, member, Role::kInput, true, {}, doc};
}
/// Instead of the inputs of other alternatives (numbered from 1): a call has all inputs of one and
/// none of another.
template <class A>
constexpr TensorDeclaration<A> alternative_input(int alternative, std::string_view name,
                                                 TensorView A::* member, std::string_view doc) {
  return {name, member, Role::kInput, true, {}, doc, alternative};
}
/// Read and written in place in every call; the caller's, never allocated for it.
template <class A>
constexpr TensorDeclaration<A> inout(std::string_view name, TensorView A::* member,
                                     std::string_view doc) {
  return {name, member, Role::kInOut, false, {}, doc};
}
/// Written in every call, unless what it is like was left out.
template <class A>
constexpr TensorDeclaration<A> output(std::string_view name, TensorView A::* member, Like like,
                                      std::string_view doc) {
  return {name, member, Role::kOutput, false, like, doc};
}
/// Written only when given.
template <class A>
constexpr TensorDeclaration<A> optional_output(std::string_view name, TensorView A::* member,
                                               Like like, std::string_view doc) {
  return {name, member, Role::kOutput, true, like, doc};
}
/// Written only when given, and no binding makes it: its size follows from values, not from shapes.
template <class A>
constexpr TensorDeclaration<A> given_output(std::string_view name, TensorView A::* member,
                                            std::string_view doc) {
  return {name, member, Role::kOutput, true, {}, doc};
}
template <class A, class T>
  requires(std::same_as<T, bool> || std::same_as<T, int> || std::same_as<T, std::int64_t> ||
           std::floating_point<T> || std::is_enum_v<T>)
constexpr ScalarDeclaration<A, T> scalar(std::string_view name, T A::* member,
                                         std::string_view doc) {
  return {name, member, doc};
}

/// Calls f(name, role, view) for each tensor of the arguments, left out ones included.
template <class A, class F>
void for_each_tensor(A& args, F&& f) {
  const auto one = [&]<class D>(const D& declaration) {
    if constexpr (requires { declaration.role; }) {
      f(declaration.name, declaration.role, args.*(declaration.member));
    }
  };
  std::apply([&](const auto&... each) { (one(each), ...); }, std::remove_const_t<A>::arguments());
}

enum class ArgumentKind : std::uint8_t { kTensor, kBool, kInteger, kNumber, kChoice };

/// One argument as plain data: where it is in the struct, and what a binding says of it.
struct ArgumentInfo {
  std::string_view name;
  std::string_view doc;
  ArgumentKind kind = ArgumentKind::kTensor;
  Role role = Role::kInput;
  bool optional = false;                       ///< a tensor that may be left out
  int alternative = 0;                         ///< of an input, from 1; 0: none
  Like like = {};                              ///< of an output
  std::size_t offset = 0;                      ///< bytes from the struct's begin
  std::size_t size = 0;                        ///< bytes
  std::string default_value = {};              ///< of a scalar, as it would be typed
  std::vector<std::string_view> choices = {};  ///< of an enum, by value
};

namespace detail {

template <class A, class M>
std::size_t member_offset(const A& object, M A::* member) {
  return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&(object.*member)) -
                                  reinterpret_cast<const std::byte*>(&object));
}

template <class A>
ArgumentInfo describe(const A& defaults, const TensorDeclaration<A>& one) {
  return {.name = one.name,
          .doc = one.doc,
          .role = one.role,
          .optional = one.optional,
          .alternative = one.alternative,
          .like = one.like,
          .offset = member_offset(defaults, one.member),
          .size = sizeof(TensorView)};
}

template <class A, class T>
ArgumentInfo describe(const A& defaults, const ScalarDeclaration<A, T>& one) {
  ArgumentInfo info{.name = one.name,
                    .doc = one.doc,
                    .offset = member_offset(defaults, one.member),
                    .size = sizeof(T),
                    .default_value = print_field(defaults.*(one.member))};
  if constexpr (std::same_as<T, bool>) {
    info.kind = ArgumentKind::kBool;
  } else if constexpr (std::integral<T>) {
    info.kind = ArgumentKind::kInteger;
  } else if constexpr (std::floating_point<T>) {
    info.kind = ArgumentKind::kNumber;
  } else {
    info.kind = ArgumentKind::kChoice;
    info.choices.assign(EnumNames<T>::kNames.begin(), EnumNames<T>::kNames.end());
  }
  return info;
}

}  // namespace detail

/// The declared arguments of A in order.
template <class A>
std::vector<ArgumentInfo> describe_arguments() {
  const A defaults{};
  return std::apply(
      [&](const auto&... one) {
        return std::vector<ArgumentInfo>{detail::describe(defaults, one)...};
      },
      A::arguments());
}

}  // namespace einkorn
