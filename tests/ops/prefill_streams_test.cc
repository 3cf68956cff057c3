// The prefill ops where calls meet: many times over, on two streams at once, recorded in a graph.
// What holds on a GPU alone is skipped without one.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <einkorn/cuda.h>
#include <fmt/format.h>

#include "ops/linear_attention/gdn_prefill/contract.h"
#include "ops/linear_attention/kda_prefill/contract.h"
#include "ops/linear_attention/lightning_prefill/contract.h"
#include "tests/ops/prefill_properties.h"

namespace einkorn::test {
namespace {

template <class C>
class PrefillCalls : public testing::Test {
 protected:
  static const OpEntry& entry() {
    static const auto kView = registry();
    return kView->find(C::kName);
  }
  static CaseData data(const std::string& keys, std::uint64_t seed = 1) {
    return make_data(entry(), keys + " heads=2 dtype=bf16 l2norm=true initial_state=f32", seed);
  }
  /// The bytes that the call wrote.
  static std::vector<std::byte> results(const CaseData& there) {
    std::vector<std::byte> out;
    for (const TensorView& view : {args_of<C>(there).o, args_of<C>(there).final_state}) {
      const Tensor here = Tensor::empty(view.shape(), view.dtype(), kCpuDevice);
      copy(view, here);
      const auto* bytes = static_cast<const std::byte*>(here.view().data());
      out.insert(out.end(), bytes, bytes + here.view().nbytes());
    }
    return out;
  }
  static void call(const CaseData& there, Stream stream, const Variant& variant) {
    entry().op->call(there.args.get(), stream, variant.name());
  }
  /// for_each_serving() without CPUs; the test is skipped where no device is left.
  template <class F>
  static void on_gpus(const CaseData& start, F&& f) {
    std::string reason;
    if (!cuda::available(&reason)) GTEST_SKIP() << reason;
    for_each_serving(entry(), start, [&](Device device, const Variant& variant) {
      if (device.kind == DeviceKind::kCuda) f(device, variant);
    });
  }
};

struct Names {
  template <class C>
  static std::string GetName(int) {  // NOLINT(readability-identifier-naming): GoogleTest's
    return std::string(C::kName);
  }
};
using Contracts = testing::Types<KdaPrefill, GdnPrefill, LightningPrefill>;
TYPED_TEST_SUITE(PrefillCalls, Contracts, Names);

/// Counts on the device, call by call, words of results that are not those of the first: thousands
/// of calls then follow each other as they would elsewhere, with no copy to the host between.
class Differences {
 public:
  explicit Differences(Device device)
      : kernel_(jit::load({"differences.cu",
                           kSource,
                           {"count_differences"},
                           jit::native_arch(device_info(device).cc),
                           {}})),
        found_(Tensor::empty({1}, kI32, device)) {
    found_.fill_bytes(0);
  }

  void add(const TensorView& now, const Tensor& first, Stream stream) {
    auto words = static_cast<long long>(now.nbytes() / 4);
    const void* a = now.data();
    const void* b = first.view().data();
    void* found = found_.view().data();
    void* arguments[] = {static_cast<void*>(&a), static_cast<void*>(&b), &words,
                         static_cast<void*>(&found)};
    kernel_.launch({.grid = {64}, .block = {256}}, stream, arguments);
  }

  int found() const { return *found_.to(kCpuDevice).view().data_as<int>(); }

 private:
  static constexpr const char* kSource = R"(
__global__ void count_differences(const unsigned* a, const unsigned* b, long long words,
                                  int* found) {
  for (long long i = blockIdx.x * 256 + threadIdx.x; i < words; i += 64 * 256) {
    if (a[i] != b[i]) atomicAdd(found, 1);
  }
}
)";

  cuda::Kernel kernel_;
  Tensor found_;
};

TYPED_TEST(PrefillCalls, RepeatsHaveTheSameBits) {
  // Orders of events that come about rarely show after many calls only.
  const int compared = test_level() >= 3 ? 10000 : 100;
  std::vector<const char*> cases = {"tokens=300", "tokens=300 segment=64", "tokens=300 seqs=5"};
  // Long enough for slices, which only GPUs have.
  if (cuda::available()) cases.push_back("batch=2 tokens=4100");
  for (const char* keys : cases) {
    const CaseData start = this->data(keys);
    for_each_serving(this->entry(), start, [&](Device device, const Variant& variant) {
      const CaseData there = measure::clone_to(*this->entry().op, start, device);
      if (device.kind == DeviceKind::kCpu) {
        std::vector<std::byte> first;
        for (int i = 0; i < 5; ++i) {
          this->call(there, Stream::cpu(), variant);
          const std::vector<std::byte> now = this->results(there);
          if (i == 0) first = now;
          ASSERT_TRUE(now == first) << "call " << i;
        }
        return;
      }
      const cuda::OwnedStream stream(device.index);
      this->call(there, stream.get(), variant);
      stream.synchronize();
      const TensorView outputs[] = {args_of<TypeParam>(there).o,
                                    args_of<TypeParam>(there).final_state};
      std::vector<Tensor> first;
      for (const TensorView& output : outputs) {
        first.push_back(Tensor::empty(output.shape(), output.dtype(), device));
        copy(output, first.back());
      }
      Differences differences(device);
      for (int i = 0; i < compared; ++i) {
        // Calls right behind each other overlap, which the kernels of a comparison prevent.
        for (int k = 0; k < 3; ++k) this->call(there, stream.get(), variant);
        for (std::size_t k = 0; k < 2; ++k) differences.add(outputs[k], first[k], stream.get());
      }
      stream.synchronize();
      EXPECT_EQ(differences.found(), 0) << variant.id() << " " << keys;
    });
  }
}

TYPED_TEST(PrefillCalls, TwoStreamsDoNotMeet) {
  for (const char* keys : {"tokens=700 segment=128", "tokens=6200"}) {
    const CaseData start = this->data(keys);
    this->on_gpus(start, [&](Device device, const Variant& variant) {
      const auto clone = [&](const CaseData& one) {
        return measure::clone_to(*this->entry().op, one, device);
      };
      const CaseData inputs[2] = {clone(start), clone(this->data(keys, 2))};
      const cuda::OwnedStream streams[2] = {cuda::OwnedStream(device.index),
                                            cuda::OwnedStream(device.index)};
      std::vector<std::byte> alone[2];
      for (int i = 0; i < 2; ++i) {
        this->call(inputs[i], streams[i].get(), variant);
        streams[i].synchronize();
        alone[i] = this->results(inputs[i]);
      }
      for (int round = 0; round < 50; ++round) {
        for (int i = 0; i < 2; ++i) this->call(inputs[i], streams[i].get(), variant);
      }
      for (int i = 0; i < 2; ++i) {
        streams[i].synchronize();
        EXPECT_EQ(this->results(inputs[i]), alone[i]) << "stream " << i;
      }
    });
  }
}

TYPED_TEST(PrefillCalls, GraphsReplayWithOtherInputs) {
  for (const char* keys : {"tokens=300", "tokens=300 segment=64", "tokens=6200"}) {
    const CaseData start = this->data(keys);
    this->on_gpus(start, [&](Device device, const Variant& variant) {
      const CaseData there = measure::clone_to(*this->entry().op, start, device);
      const CaseData other = measure::clone_to(*this->entry().op, this->data(keys, 2), device);
      const cuda::OwnedStream stream(device.index);
      this->call(there, stream.get(), variant);  // compiles and loads
      this->call(other, stream.get(), variant);
      stream.synchronize();
      const cuda::Graph graph =
          cuda::Graph::capture(stream.get(), [&] { this->call(there, stream.get(), variant); });
      auto& to = args_of<TypeParam>(there);
      const auto& from = args_of<TypeParam>(other);
      for (const auto member : {&TypeParam::Args::q, &TypeParam::Args::k, &TypeParam::Args::v,
                                &TypeParam::Args::initial_state}) {
        copy(from.*member, to.*member);
      }
      if constexpr (requires { to.beta; }) {
        copy(from.g, to.g);
        copy(from.beta, to.beta);
      } else {
        copy(from.decay, to.decay);
      }
      graph.replay(stream.get());
      stream.synchronize();
      EXPECT_EQ(this->results(there), this->results(other));
    });
  }
}

TYPED_TEST(PrefillCalls, BoundsOnTheDeviceAreNotReadInACapture) {
  const CaseData start = this->data("tokens=300 seqs=5");
  this->on_gpus(start, [&](Device device, const Variant& variant) {
    const CaseData there = measure::clone_to(*this->entry().op, start, device);
    const cuda::OwnedStream stream(device.index);
    this->call(there, stream.get(), variant);
    stream.synchronize();
    const std::vector<std::byte> want = this->results(there);
    const auto record = [&] {
      return cuda::Graph::capture(stream.get(), [&] { this->call(there, stream.get(), variant); });
    };
    try {
      static_cast<void>(record());
      ADD_FAILURE() << "expected an error";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("cu_seqlens_cpu"), std::string::npos)
          << error.what();
    }
    args_of<TypeParam>(there).cu_seqlens_cpu = args_of<TypeParam>(start).cu_seqlens;
    const cuda::Graph graph = record();
    graph.replay(stream.get());
    stream.synchronize();
    EXPECT_EQ(this->results(there), want);
  });
}

}  // namespace
}  // namespace einkorn::test
