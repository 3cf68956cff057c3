#pragma once

// From what a caller passes to what a kernel's parameters take, with every mistake that can be seen
// on the host named before the launch.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <einkorn/argument.h>
#include <einkorn/device.h>

#include "src/jit/cubin.h"
#include "src/jit/signature.h"

namespace einkorn::jit {

/// The arguments of one launch as cuLaunchKernel takes them. Refers to the arguments, which must
/// outlive it; stays where it is made.
///
/// How an argument becomes the parameter:
///  - a tensor or pointer for a pointer: null or an address, for a reference an address. Where the
///    pointee has a dtype the tensor must have the same; `unsigned int*` takes i32, 8-byte unsigned
///    ones i64; void*, char* and pointers to structs take every tensor. Const plays no role.
///  - a number for a number: when it is exactly representable. Only from floating to floating may
///    it be rounded, as long as it stays finite.
///  - for other types, and for all of them when there is no signature: any argument whose own size
///    is the parameter's, unchanged.
class BoundArguments {
 public:
  /// `signature` null: unknown, as for extern "C". `layout` from the cubin, in order. Tensors must
  /// be on `device`. No allocation up to 16 parameters.
  ///
  /// TypeError: count, kind, size or dtype of an argument, a tensor on another kind of device.
  /// ValueError: a number that the parameter cannot hold, null for a reference, a tensor on another
  /// device. Each names kernel, position from 1, the parameter's type and what came.
  BoundArguments(std::string_view kernel, std::span<const Argument> arguments,
                 const std::vector<Parameter>* signature, std::span<const CubinParameter> layout,
                 Device device);
  BoundArguments(const BoundArguments&) = delete;
  BoundArguments& operator=(const BoundArguments&) = delete;

  /// One pointer for each parameter, to its value.
  void** pointers() { return large_pointers_.empty() ? pointers_.data() : large_pointers_.data(); }

 private:
  static constexpr std::size_t kInline = 16;

  std::array<std::uint64_t, kInline> values_;  // of numbers and addresses
  std::array<void*, kInline> pointers_;
  std::vector<std::uint64_t> large_values_;
  std::vector<void*> large_pointers_;
};

}  // namespace einkorn::jit
