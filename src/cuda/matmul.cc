#include "src/cuda/matmul.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <einkorn/tensor.h>
#include <fmt/format.h>

#include "src/cuda/allocator.h"
#include "src/cuda/cublaslt.h"
#include "src/cuda/stream.h"

namespace einkorn::cuda {
namespace {

constexpr std::int64_t kSize = 8192;               // rows and columns: large enough for full rate
constexpr std::size_t kWorkspaceBytes = 32 << 20;  // what cuBLAS documents for Hopper
constexpr int kBatches = 7;

struct MatmulTypes {
  int operand;
  int result;
  int compute;
  int exponent_shift;      // bits of mantissa
  std::uint32_t exponent;  // of [0.5, 1)
};

std::optional<MatmulTypes> types_of(DType dtype) {
  switch (dtype) {
    case kF32:
      return MatmulTypes{lt::kR32F, lt::kR32F, lt::kCompute32FFastTf32, 23, 126};
    case kF16:
      return MatmulTypes{lt::kR16F, lt::kR16F, lt::kCompute32F, 10, 14};
    case kBF16:
      return MatmulTypes{lt::kR16BF, lt::kR16BF, lt::kCompute32F, 7, 126};
    case kF8E4M3:
      return MatmulTypes{lt::kR8FE4M3, lt::kR16BF, lt::kCompute32F, 3, 6};
    default:
      return std::nullopt;
  }
}

void check_lt(lt::Status status, std::string_view what) {
  EK_CHECK(status == lt::kSuccess, ErrorKind::kRuntime,
           fmt::format("libcublasLt: {}: status {}", what, status));
}

/// A cuBLASLt object that is destroyed with the scope.
using Handle = std::unique_ptr<void, lt::Status (*)(void*)>;

/// Random numbers of magnitude [0.5, 1), both signs: every format makes them from a fixed exponent.
Tensor random_operand(DType dtype, const MatmulTypes& types, int device) {
  constexpr std::int64_t kBlock = std::int64_t{1} << 20;
  Tensor operand = Tensor::empty({kSize, kSize}, dtype, cuda_device(device));
  const int width = bits(dtype) / 8;
  std::vector<std::byte> block(static_cast<std::size_t>(kBlock * width));
  std::mt19937 random(1);  // NOLINT(bugprone-random-generator-seed): the same in each run
  for (std::int64_t i = 0; i < kBlock; ++i) {
    const auto word = static_cast<std::uint32_t>(random());
    const std::uint32_t mantissa = word & ((1u << types.exponent_shift) - 1);
    const std::uint32_t sign = (word >> 31) << (bits(dtype) - 1);
    const std::uint32_t value = sign | (types.exponent << types.exponent_shift) | mantissa;
    std::memcpy(block.data() + i * width, &value, static_cast<std::size_t>(width));  // low bytes
  }
  const TensorView source(block.data(), dtype, {kBlock}, kCpuDevice);
  auto* data = static_cast<std::byte*>(operand.view().data());
  for (std::int64_t at = 0; at < kSize * kSize; at += kBlock) {
    copy(source, TensorView(data + at * width, dtype, {kBlock}, cuda_device(device)));
  }
  return operand;
}

/// Seconds that one `body` takes: median over batches of `count`, after one batch to warm up.
double median_seconds(int device, int count, Stream stream, const std::function<void()>& body) {
  Event start(device);
  Event stop(device);
  std::vector<double> seconds;
  for (int batch = 0; batch <= kBatches; ++batch) {
    start.record(stream);
    for (int i = 0; i < count; ++i) body();
    stop.record(stream);
    stop.synchronize();
    if (batch > 0) seconds.push_back(stop.elapsed_ms_since(start) / 1e3 / count);
  }
  std::nth_element(seconds.begin(), seconds.begin() + kBatches / 2, seconds.end());
  return seconds[kBatches / 2];
}

/// One product D = A^T B of square matrices, ready to be queued; A transposed because fp8 is served
/// in that form only.
class Matmul {
 public:
  Matmul(int device, DType dtype, const MatmulTypes& types)
      : lt_(cublaslt()),
        a_(random_operand(dtype, types, device)),
        b_(random_operand(dtype, types, device)),
        d_(Tensor::empty({kSize, kSize}, types.result == lt::kR32F ? kF32 : kBF16,
                         cuda_device(device))),
        workspace_(
            Tensor::empty({static_cast<std::int64_t>(kWorkspaceBytes)}, kU8, cuda_device(device))),
        handle_(make(lt_.destroy, [&](void** out) { return lt_.create(out); })),
        desc_(make(lt_.desc_destroy,
                   [&](void** out) { return lt_.desc_create(out, types.compute, lt::kR32F); })),
        operand_(layout(types.operand)),
        result_(layout(types.result)) {
    const int transpose = lt::kTranspose;
    check_lt(lt_.desc_set(desc_.get(), lt::kDescTransA, &transpose, sizeof transpose),
             "describing the product");
    choose_algorithm();
  }

  void queue(Stream stream) const {
    const float one = 1;
    const float zero = 0;
    check_lt(lt_.matmul(handle_.get(), desc_.get(), &one, a_.view().data(), operand_.get(),
                        b_.view().data(), operand_.get(), &zero, d_.view().data(), result_.get(),
                        d_.view().data(), result_.get(), &choice_.algorithm,
                        workspace_.view().data(), kWorkspaceBytes, native(stream)),
             "queueing the product");
  }

 private:
  template <class Create>
  static Handle make(lt::Status (*destroy)(void*), Create&& create) {
    void* handle = nullptr;
    check_lt(create(&handle), "making a handle");
    return Handle(handle, destroy);
  }

  Handle layout(int type) const {
    return make(lt_.layout_destroy,
                [&](void** out) { return lt_.layout_create(out, type, kSize, kSize, kSize); });
  }

  void choose_algorithm() {
    const Handle preference =
        make(lt_.preference_destroy, [&](void** out) { return lt_.preference_create(out); });
    check_lt(lt_.preference_set(preference.get(), lt::kPreferenceMaxWorkspaceBytes,
                                &kWorkspaceBytes, sizeof kWorkspaceBytes),
             "stating the workspace");
    int found = 0;
    const lt::Status status =
        lt_.heuristic(handle_.get(), desc_.get(), operand_.get(), operand_.get(), result_.get(),
                      result_.get(), preference.get(), 1, &choice_, &found);
    check_lt(status, "choosing an algorithm for this dtype on this device");
    EK_CHECK(found > 0, ErrorKind::kRuntime,
             "libcublasLt: has no algorithm for this dtype on this device");
  }

  const CublasLt& lt_;
  Tensor a_, b_, d_, workspace_;
  Handle handle_, desc_, operand_, result_;
  lt::Heuristic choice_{};
};

}  // namespace

std::optional<double> measure_matmul_tflops(int device, DType dtype, std::string* reason) {
  const auto types = types_of(dtype);
  EK_CHECK(types.has_value(), ErrorKind::kValue,
           fmt::format("measure: dtype: expected f32, f16, bf16 or f8e4m3, got {}", name(dtype)));
  try {
    cublaslt();  // before any memory is taken
    register_allocator();
    const ContextGuard guard(device);
    const Matmul matmul(device, dtype, *types);
    const OwnedStream stream(device);
    const double seconds =
        median_seconds(device, 5, stream.get(), [&] { matmul.queue(stream.get()); });
    constexpr double kN = kSize;
    return 2 * kN * kN * kN / seconds / 1e12;
  } catch (const Error& error) {
    if (reason != nullptr) *reason = error.what();
    return std::nullopt;
  }
}

double measure_copy_gbps(int device) {
  constexpr std::int64_t kBytes = std::int64_t{1} << 30;
  register_allocator();
  const Tensor source = Tensor::empty({kBytes}, kU8, cuda_device(device));
  Tensor destination = Tensor::empty({kBytes}, kU8, cuda_device(device));
  destination.fill_bytes(1);
  const OwnedStream stream(device);
  const double seconds = median_seconds(device, 5, stream.get(), [&] {
    copy_async(destination.view().data(), source.view().data(), kBytes, stream.get());
  });
  return 2.0 * kBytes / seconds / 1e9;
}

}  // namespace einkorn::cuda
