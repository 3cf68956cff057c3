#include <chrono>
#include <cstring>
#include <variant>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <einkorn/jit.h>
#include <fmt/format.h>

#include "src/cuda/driver.h"
#include "src/measure/bench.h"
#include "src/measure/check.h"

namespace einkorn::measure {
namespace {

constexpr int kRounds = 31;
// Well under the driver's queue of about 1000 launches, past which a launch waits for the device.
constexpr int kBatch = 200;

/// Nanoseconds of one call, the mean over a batch.
template <class F>
double time_batch(F&& call) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kBatch; ++i) call();
  const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - start;
  return passed.count() / kBatch;
}

/// A stage launched by nothing but the driver: a module of its own, parameters bound once.
class BareLaunch {
 public:
  BareLaunch(const LaunchStage& stage, const jit::Request& request, const void* args, Stream stream)
      : params_(stage.params) {
    const auto artifact = jit::compile(request);
    const cuda::Driver& driver = cuda::driver();
    cuda::check(driver.cuLibraryLoadData(&library_, artifact->image.data(), nullptr, nullptr, 0,
                                         nullptr, nullptr, 0),
                "cuLibraryLoadData");
    CUkernel kernel = nullptr;
    cuda::check(
        driver.cuLibraryGetKernel(&kernel, library_, artifact->entries.at(0).lowered.c_str()),
        "cuLibraryGetKernel");
    const cuda::Launch& launch = stage.launch;
    if (launch.smem_bytes > 48 * 1024) {
      cuda::check(driver.cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                              static_cast<int>(launch.smem_bytes), kernel,
                                              stream.device.index),
                  "cuKernelSetAttribute");
    }
    cuda::check(driver.cuKernelGetFunction(&function_, kernel), "cuKernelGetFunction");
    configure(launch, stream);
    stage.bind(args, nullptr, params_.data());
  }
  BareLaunch(const BareLaunch&) = delete;
  BareLaunch& operator=(const BareLaunch&) = delete;
  ~BareLaunch() { static_cast<void>(cuda::driver().cuLibraryUnload(library_)); }

  void operator()() {
    void* pointers[] = {params_.data()};
    const CUresult result = cuda::driver().cuLaunchKernelEx(&config_, function_, pointers, nullptr);
    if (result != CUDA_SUCCESS) [[unlikely]]
      cuda::throw_driver_error(result, "cuLaunchKernelEx");
  }

 private:
  void configure(const cuda::Launch& launch, Stream stream) {
    config_.gridDimX = launch.grid.x;
    config_.gridDimY = launch.grid.y;
    config_.gridDimZ = launch.grid.z;
    config_.blockDimX = launch.block.x;
    config_.blockDimY = launch.block.y;
    config_.blockDimZ = launch.block.z;
    config_.sharedMemBytes = launch.smem_bytes;
    config_.hStream = static_cast<CUstream>(stream.handle);
    config_.attrs = attributes_;
    if (launch.cluster.count() > 1) {
      CUlaunchAttribute& cluster = attributes_[config_.numAttrs++];
      cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      cluster.value.clusterDim.x = launch.cluster.x;
      cluster.value.clusterDim.y = launch.cluster.y;
      cluster.value.clusterDim.z = launch.cluster.z;
    }
    if (launch.pdl) {
      CUlaunchAttribute& pdl = attributes_[config_.numAttrs++];
      pdl.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
      pdl.value.programmaticStreamSerializationAllowed = 1;
    }
    if (launch.cooperative) {
      CUlaunchAttribute& cooperative = attributes_[config_.numAttrs++];
      cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
      cooperative.value.cooperative = 1;
    }
  }

  std::vector<std::byte> params_;
  CUlibrary library_ = nullptr;
  CUfunction function_ = nullptr;
  CUlaunchConfig config_{};
  CUlaunchAttribute attributes_[3]{};
};

CallCost cuda_call_cost(const OpEntry& entry, const AnyProblem& problem, const CaseData& data,
                        Device device) {
  const cuda::ContextGuard guard(device.index);
  const cuda::OwnedStream stream(device.index);
  const DeviceInfo& info = device_info(device);
  const Variant& variant = select(entry, problem.get(), info);
  const Plan plan = variant.plan(problem.get(), info, {});
  const auto requests = compile_requests(plan, jit::native_arch(info.cc));
  EK_CHECK(plan.stages.size() == 1 && requests.size() == 1 && plan.workspace_bytes == 0,
           ErrorKind::kNotImplemented,
           fmt::format("{}: call cost: expected a plan of one launch, got {} stages", variant.id(),
                       plan.stages.size()));
  const void* args = data.args.get();
  BareLaunch bare(std::get<LaunchStage>(plan.stages[0].node), requests[0], args, stream.get());
  std::vector<double> op_ns;
  std::vector<double> bare_ns;
  for (int round = 0; round <= kRounds; ++round) {
    const double op_time = time_batch([&] { entry.op->call(args, stream.get(), {}); });
    stream.synchronize();
    const double bare_time = time_batch(bare);
    stream.synchronize();
    if (round == 0) continue;  // compiles, loads and warms up
    op_ns.push_back(op_time);
    bare_ns.push_back(bare_time);
  }
  return {summarize(std::move(op_ns)).median_us, summarize(std::move(bare_ns)).median_us};
}

}  // namespace

CallCost call_cost(const OpEntry& entry, const AnyProblem& problem, Device device) {
  Rng rng(1);
  const CaseData data = clone_to(*entry.op, entry.op->make_inputs(problem.get(), rng), device);
  if (device.kind == DeviceKind::kCuda) return cuda_call_cost(entry, problem, data, device);
  std::vector<double> op_ns;
  for (int round = 0; round <= kRounds; ++round) {
    const double time = time_batch([&] { entry.op->call(data.args.get(), Stream::cpu(), {}); });
    if (round > 0) op_ns.push_back(time);
  }
  // The unit passes through: nanoseconds in, nanoseconds out.
  return {summarize(std::move(op_ns)).median_us, 0};
}

}  // namespace einkorn::measure
