#include <einkorn/plan.h>

#include <cstring>

#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn {
namespace {

jit::Request request_of(const LaunchStage& stage, std::string_view arch) {
  jit::Request request;
  request.file = stage.file;
  request.instantiate = stage.entry;
  request.arch = arch;
  request.options = stage.options;
  return request;
}

void launch(const LaunchStage& stage, const cuda::Kernel& kernel, const void* args, Stream stream) {
  // 64: what a tensor map among the parameters needs.
  alignas(64) std::byte params[kMaxParamBytes];
  std::memcpy(params, stage.params.data(), stage.params.size());
  if (stage.bind != nullptr) stage.bind(args, params);
  // The kernel's one parameter: the driver copies as many bytes as it has.
  void* arguments[] = {params};
  kernel.launch(stage.launch, stream, arguments);
}

}  // namespace

Executable::Executable(Plan plan, const DeviceInfo& device) : plan_(std::move(plan)) {
  for (const Stage& stage : plan_.stages) {
    const auto* launched = std::get_if<LaunchStage>(&stage);
    if (launched == nullptr) continue;
    EK_ICHECK(launched->params.size() <= kMaxParamBytes,
              fmt::format("{}: {} bytes of parameters", launched->name, launched->params.size()));
    EK_CHECK(device.device.kind == DeviceKind::kCuda, ErrorKind::kValue,
             fmt::format("{}: expected a CUDA device, got {}", launched->name,
                         to_string(device.device)));
    EK_CHECK(device.present, ErrorKind::kRuntime,
             fmt::format("{}: {} is not in this machine\n"
                         "  hint: for a device that is not here, compile_requests() and prediction "
                         "work, running does not",
                         launched->name, device.name));
    kernels_.push_back(jit::load(request_of(*launched, jit::native_arch(device.cc))));
    kernels_.back().prepare(launched->launch, device.device.index);
  }
}

void Executable::run(const void* args, Stream stream) const {
  const cuda::Kernel* kernel = kernels_.data();
  for (const Stage& stage : plan_.stages) {
    if (const auto* launched = std::get_if<LaunchStage>(&stage)) {
      launch(*launched, *kernel++, args, stream);
    } else {
      const auto& host = std::get<HostStage>(stage);
      host.run(args, host.state.data());
    }
  }
}

std::vector<jit::Request> compile_requests(const Plan& plan, std::string_view arch) {
  std::vector<jit::Request> requests;
  for (const Stage& stage : plan.stages) {
    if (const auto* launched = std::get_if<LaunchStage>(&stage)) {
      requests.push_back(request_of(*launched, arch));
    }
  }
  return requests;
}

}  // namespace einkorn
