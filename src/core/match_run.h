#pragma once

#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

#include <einkorn/match.h>

namespace einkorn {

/// One verification of one tensor. The checks are in match.cc and must stay cheap; what is only
/// needed to say no is in match_message.cc. Names are bound as the checks go and journalled; unless
/// all pass, the destructor unbinds them again.
class MatchRun {
 public:
  MatchRun(const MatchRules& rules, std::string_view argument, const TensorView& tensor,
           const std::source_location& where)
      : rules_(rules), argument_(argument), tensor_(tensor), where_(where) {}
  MatchRun(const MatchRun&) = delete;
  MatchRun& operator=(const MatchRun&) = delete;
  ~MatchRun() {
    for (int i = 0; i < pending_; ++i) journal_[static_cast<std::size_t>(i)]->reset();
  }

  bool run();

  /// Checks or binds a scalar; no tensor is printed on failure.
  static void bind_scalar(Dim& dim, std::string_view op, std::string_view argument,
                          std::int64_t value, const std::source_location& where);

 private:
  // Every entry of both patterns may bind both names of a product once; dtype and device besides.
  static constexpr int kMaxPending = 2 * (kMaxRank + 1) + 2;

  bool empty() const;
  void bind(Binding& binding, int dim);
  void check_shape();
  void check_leading(Leading& lead, int lead_rank);
  void check_dtype();
  void check_device();
  void check_data();
  void check_strides();
  void check_stride_pattern();
  void check_contiguous();
  void check_stride_alignment();
  bool agrees(const DimSpec& spec, std::int64_t value, int dim);
  bool agrees(Dim& named, std::int64_t value, int dim);
  bool agrees(const DimExpr& expr, std::int64_t value, int dim);

  [[noreturn]] void fail(ErrorKind kind, std::string_view property, std::string_view expected,
                         std::string_view got, std::string_view hint) const;
  [[noreturn]] void fail_scalar(const Dim& dim, std::int64_t value) const;
  [[noreturn]] void fail_missing() const;
  [[noreturn]] void fail_rank() const;
  [[noreturn]] void fail_leading_rank(const Leading& lead, int trailing) const;
  [[noreturn]] void fail_leading_size(const Leading& lead, int dim) const;
  [[noreturn]] void fail_size(const DimSpec& spec, int dim) const;
  [[noreturn]] void fail_dtype() const;
  [[noreturn]] void fail_device() const;
  [[noreturn]] void fail_null() const;
  [[noreturn]] void fail_pointer_alignment() const;
  [[noreturn]] void fail_stride_rank() const;
  [[noreturn]] void fail_stride(const DimSpec& spec, int dim) const;
  [[noreturn]] void fail_contiguous() const;
  [[noreturn]] void fail_stride_alignment(int dim) const;
  [[noreturn]] void fail_collapse() const;
  [[noreturn]] void fail_writable() const;
  /// The pattern itself makes no sense: the contract's fault, not the caller's.
  [[noreturn]] void fail_pattern(std::string_view what) const;

  std::string origin(const Binding& binding) const;
  std::string expected_dim(const Dim& dim) const;
  std::string expected_expr(const DimExpr& expr) const;
  std::string expected(const DimSpec& spec) const;
  std::string agree_hint(const DimSpec& spec) const;

  const MatchRules& rules_;
  std::string_view argument_;
  const TensorView& tensor_;
  const std::source_location& where_;
  int pending_ = 0;
  std::array<Binding*, kMaxPending> journal_;  // the first `pending_` are set
};

/// No two elements share memory. Strides have to nest: of other tensors some distinct ones are
/// called shared, never the other way round.
bool elements_are_distinct(const TensorView& tensor);

}  // namespace einkorn
