#include "src/jit/typed_arguments.h"

#include <bit>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/jit/number_conversion.h"

namespace einkorn::jit {

/// Binds one argument to one parameter. A class only for what its errors have in common.
class Binder {
 public:
  Binder(std::string_view kernel, std::size_t position, const Argument& argument,
         const Parameter* type, std::int64_t bytes, Device device)
      : kernel_(kernel),
        position_(position),
        argument_(argument),
        type_(type),
        bytes_(bytes),
        device_(device) {
    // A name may lie about the size: a caller's own struct that is called __half.
    if (type_ != nullptr && type_->bytes != 0 && type_->bytes != bytes_) type_ = nullptr;
  }

  /// Where the parameter's value is: in `value`, or in the argument itself.
  void* bind(std::uint64_t& value) const {
    if (const auto* number = std::get_if<NumberArgument>(&argument_.value_)) {
      value = bits_of(*number);
    } else if (const auto* tensor = std::get_if<TensorView>(&argument_.value_)) {
      check_tensor(*tensor);
      value = std::bit_cast<std::uint64_t>(tensor->data());
    } else if (const auto* pointer = std::get_if<PointerArgument>(&argument_.value_)) {
      check_pointer(*pointer);
      value = std::bit_cast<std::uint64_t>(pointer->address);
    } else if (const auto* small = std::get_if<SmallBytesArgument>(&argument_.value_)) {
      check_size(small->size);
      return const_cast<std::byte*>(small->data.data());  // the driver only reads
    } else {
      const auto& large = std::get<Argument::LargeBytes>(argument_.value_);
      check_size(static_cast<std::int64_t>(large.size()));
      return const_cast<std::byte*>(large.data());
    }
    return &value;
  }

 private:
  using Kind = Parameter::Kind;

  bool is(Kind kind) const { return type_ != nullptr && type_->kind == kind; }

  std::uint64_t bits_of(const NumberArgument& number) const {
    if (is(Kind::kPointer)) {
      fail(ErrorKind::kType, "kind", "a tensor or a pointer", argument_.describe(),
           "a null pointer is nullptr, a tensor that is left out TensorView(); in Python both are "
           "None, and an address ctypes.c_void_p(it)");
    }
    if (!is(Kind::kScalar)) {
      check_size(number.bytes);
      return own_bits(number);
    }
    const std::optional<std::uint64_t> bits = convert_number(number, *type_);
    if (!bits) fail_number(number);
    return *bits;
  }

  void check_tensor(const TensorView& tensor) const {
    check_takes_address();
    if (!tensor.defined()) return check_reference(nullptr);
    if (tensor.device() != device_) [[unlikely]] {
      fail(tensor.device().kind != device_.kind ? ErrorKind::kType : ErrorKind::kValue, "device",
           to_string(device_), to_string(tensor.device()), "move it there first");
    }
    check_dtype(tensor.dtype());
    check_reference(tensor.data());
  }

  void check_pointer(const PointerArgument& pointer) const {
    check_takes_address();
    if (pointer.pointee) check_dtype(*pointer.pointee);
    check_reference(pointer.address);
  }

  void check_takes_address() const {
    if (is(Kind::kScalar)) {
      fail(ErrorKind::kType, "kind", "a number", argument_.describe(),
           "the parameter is passed by value: declare it as a pointer, or pass the number");
    }
    if (!is(Kind::kPointer)) check_size(sizeof(void*));
  }

  void check_reference(const void* address) const {
    if (address != nullptr || !is(Kind::kPointer) || !type_->text.ends_with('&')) return;
    fail(ErrorKind::kValue, "address", "that of an object, which a reference has", "null",
         "declare the parameter as a pointer if it may be left out");
  }

  void check_dtype(DType dtype) const {
    if (!is(Kind::kPointer)) return;
    const std::optional<DType> wanted = type_->dtype ? type_->dtype : type_->signed_dtype;
    if (!wanted || *wanted == dtype) return;
    fail(ErrorKind::kType, "dtype", name(*wanted), name(dtype),
         fmt::format("convert it to {}, or take a kernel for {}; a void* parameter takes any dtype",
                     name(*wanted), name(dtype)));
  }

  void check_size(std::int64_t bytes) const {
    if (bytes == bytes_) return;
    const std::string_view hint =
        type_ == nullptr
            ? "the kernel's name tells no types, as with extern \"C\": pass a value of "
              "exactly that size, such as 0.5f for a float"
            : "pass a struct as Argument::bytes_of(value), in Python as bytes, an enum as its "
              "integer type";
    fail(ErrorKind::kType, "size", fmt::format("{} bytes", bytes_),
         fmt::format("{} ({})", bytes, argument_.describe()), hint);
  }

  [[noreturn]] void fail_number(const NumberArgument& number) const {
    const bool floating = number.sort == NumberArgument::Sort::kFloating;
    std::string expected, hint;
    if (type_->is_floating) {
      expected = floating ? fmt::format("a value that {} can hold", type_->text)
                          : fmt::format("an integer that {} holds exactly", type_->text);
      hint = floating ? "it would become infinite or NaN"
                      : "pass it as a floating value to have it rounded";
    } else if (type_->dtype == kBool) {
      expected = "0, 1, false or true";
    } else {
      const int value_bits = 8 * type_->bytes - (type_->is_signed ? 1 : 0);
      const std::uint64_t most = ~std::uint64_t{0} >> (64 - value_bits);
      expected = fmt::format("an integer from {} to {}",
                             type_->is_signed ? -static_cast<std::int64_t>(most) - 1 : 0, most);
      if (floating) hint = "round it first";
    }
    fail(ErrorKind::kValue, "value", expected, argument_.describe(), hint);
  }

  [[noreturn]] void fail(ErrorKind kind, std::string_view property, std::string_view expected,
                         std::string_view got, std::string_view hint) const {
    const std::string type = type_ != nullptr ? type_->text : fmt::format("{} bytes", bytes_);
    std::string message = fmt::format("{}: argument {} ({}) {}: expected {}, got {}", kernel_,
                                      position_, type, property, expected, got);
    if (const auto* tensor = std::get_if<TensorView>(&argument_.value_)) {
      message += fmt::format("\n  argument {}: {}", position_, to_string(*tensor));
    }
    if (!hint.empty()) message += fmt::format("\n  hint: {}", hint);
    throw_error(kind, std::move(message));
  }

  std::string_view kernel_;
  std::size_t position_;  // from 1
  const Argument& argument_;
  const Parameter* type_;  // null: unknown
  std::int64_t bytes_;     // of the parameter
  Device device_;
};

namespace {

[[noreturn]] void fail_count(std::string_view kernel, std::size_t got,
                             const std::vector<Parameter>* signature,
                             std::span<const CubinParameter> layout) {
  std::string types;
  for (std::size_t i = 0; i < layout.size(); ++i) {
    if (i > 0) types += ", ";
    types += signature != nullptr ? (*signature)[i].text : fmt::format("{} bytes", layout[i].bytes);
  }
  throw_error(
      ErrorKind::kType,
      fmt::format("{}: arguments: expected {}{}, got {}\n"
                  "  hint: one for each parameter, in order; a pointer that is left out is "
                  "nullptr, in Python None",
                  kernel, layout.size(), types.empty() ? "" : fmt::format(" ({})", types), got));
}

std::string describe_number(const NumberArgument& number) {
  switch (number.sort) {
    case NumberArgument::Sort::kBool:
      return number.bits != 0 ? "true" : "false";
    case NumberArgument::Sort::kSigned:
      return fmt::format("the integer {}", static_cast<std::int64_t>(number.bits));
    case NumberArgument::Sort::kUnsigned:
      return fmt::format("the integer {}", number.bits);
    default: {
      const auto value = std::bit_cast<double>(number.bits);
      // Not shown with digits that a float never had.
      return number.bytes == 4 ? fmt::format("the float {}", static_cast<float>(value))
                               : fmt::format("the double {}", value);
    }
  }
}

}  // namespace

Argument::Argument(std::span<const std::byte> bytes) {
  if (bytes.size() <= sizeof(SmallBytesArgument::data)) {
    SmallBytesArgument& small = value_.emplace<SmallBytesArgument>();
    std::memcpy(small.data.data(), bytes.data(), bytes.size());
    small.size = static_cast<std::uint32_t>(bytes.size());
  } else {
    value_.emplace<LargeBytes>(bytes.begin(), bytes.end());
  }
}

Argument Argument::bytes_of(std::span<const std::byte> bytes) {
  EK_CHECK(bytes.size() <= kMostBytes, ErrorKind::kValue,
           fmt::format("argument: bytes: expected at most {}, which all parameters of a kernel may "
                       "take together, got {}",
                       kMostBytes, bytes.size()));
  return Argument(bytes);
}

std::string Argument::describe() const {
  if (const auto* number = std::get_if<NumberArgument>(&value_)) return describe_number(*number);
  if (const auto* tensor = std::get_if<TensorView>(&value_)) {
    return tensor->defined() ? "a tensor" : "no tensor";
  }
  if (const auto* pointer = std::get_if<PointerArgument>(&value_)) {
    if (pointer->address == nullptr) return "a null pointer";
    return pointer->pointee ? fmt::format("a pointer to {}", name(*pointer->pointee)) : "a pointer";
  }
  const auto* small = std::get_if<SmallBytesArgument>(&value_);
  return small != nullptr ? "a struct" : "a large struct";
}

BoundArguments::BoundArguments(std::string_view kernel, std::span<const Argument> arguments,
                               const std::vector<Parameter>* signature,
                               std::span<const CubinParameter> layout, Device device) {
  // The cubin is right about the count; a name that says otherwise was not understood.
  if (signature != nullptr && signature->size() != layout.size()) signature = nullptr;
  if (arguments.size() != layout.size()) fail_count(kernel, arguments.size(), signature, layout);
  std::uint64_t* values = values_.data();
  if (layout.size() > kInline) {
    large_values_.resize(layout.size());
    large_pointers_.resize(layout.size());
    values = large_values_.data();
  }
  void** out = pointers();
  for (std::size_t i = 0; i < layout.size(); ++i) {
    const Parameter* type = signature != nullptr ? &(*signature)[i] : nullptr;
    const Binder binder(kernel, i + 1, arguments[i], type, layout[i].bytes, device);
    out[i] = binder.bind(values[i]);
  }
}

}  // namespace einkorn::jit
