#include "python/native/jit_kernel.h"

#include <limits>
#include <memory>
#include <mutex>
#include <optional>

#include <einkorn/cuda.h>
#include <fmt/format.h>

#include "python/native/jit_arguments.h"
#include "python/native/values.h"
#include "src/jit/cpu_entry.h"

namespace einkorn::python {
namespace {

// Places of the numbers before a launch's arguments.
enum Head : std::size_t { kFlags, kGrid, kBlock = 4, kSmem = 7, kCluster, kDevice = 11, kFirst };

/// A kernel of the GPU. Its module is loaded at the first launch, so that a program can be made
/// where no GPU is, and before a process forks.
struct CudaCall {
  jit::Program program;
  std::string expression;
  std::shared_ptr<const jit::KernelFacts> facts;
  std::once_flag loaded;
  jit::Kernel kernel;

  const jit::Kernel& get() {
    std::call_once(loaded, [this] { kernel = load(); });  // again if it throws
    return kernel;
  }

  jit::Kernel load() const {
    try {
      return program.kernel(expression);
    } catch (const Error& error) {
      throw_error(error.kind(), fmt::format("{}: cannot be loaded: {}", expression, error.what()));
    }
  }
};

std::uint32_t size_at(const Arguments& values, std::size_t at, std::string_view name) {
  const std::int64_t size = values.integer(at, name);
  EK_CHECK(size >= 0 && size <= std::numeric_limits<std::uint32_t>::max(), ErrorKind::kValue,
           fmt::format("{}: {}: expected a size from 0 to 4294967295, got {}", values.who(), name,
                       size));
  return static_cast<std::uint32_t>(size);
}

cuda::Dim3 dims_at(const Arguments& values, std::size_t at, std::string_view name) {
  return {size_at(values, at, name), size_at(values, at + 1, name), size_at(values, at + 2, name)};
}

cuda::Launch launch_of(const Arguments& values, std::int64_t flags) {
  return {.grid = dims_at(values, kGrid, "grid"),
          .block = dims_at(values, kBlock, "block"),
          .smem_bytes = size_at(values, kSmem, "smem"),
          .cluster = dims_at(values, kCluster, "cluster"),
          .pdl = (flags & kPdl) != 0,
          .cooperative = (flags & kCooperative) != 0};
}

/// That of the first tensor on a GPU; when all are elsewhere GPU 0, which makes them the error.
Device device_of(const std::string& kernel, const Arguments& values) {
  const std::int64_t given = values.integer(kDevice, "device");
  if (given >= 0) return {DeviceKind::kCuda, static_cast<int>(given)};
  bool any = false;
  for (std::size_t at = kFirst; at < values.size(); ++at) {
    const DLTensor* tensor = values.raw_tensor(at);
    if (tensor == nullptr) continue;
    const Device device = from_dlpack(tensor->device);
    if (device.kind == DeviceKind::kCuda) return device;
    any = true;
  }
  EK_CHECK(any, ErrorKind::kValue,
           fmt::format("{}: device: expected a tensor that tells it, got none\n"
                       "  hint: device=0, say, for a kernel that takes no tensor",
                       kernel));
  return {DeviceKind::kCuda, 0};
}

void run(CudaCall& self, const Arguments& values) {
  if (values.size() < kFirst) values.expect(kFirst);
  const std::int64_t flags = values.integer(kFlags, "flags");
  const cuda::Launch launch = launch_of(values, flags);
  if ((flags & kPrepare) != 0) {
    return self.get().prepare(launch, device_of(self.expression, values).index);
  }
  const std::vector<jit::Argument> arguments = kernel_arguments(values, kFirst, *self.facts);
  const Stream stream = jit::current_stream(device_of(self.expression, values));
  self.get().launch_with(launch, stream, arguments);
  if ((flags & kWait) != 0) cuda::synchronize(stream);
}

int call_cuda(void* self, const jit::FfiAny* values, std::int32_t count, jit::FfiAny* result) {
  return guarded([&] {
    CudaCall& kernel = *static_cast<CudaCall*>(self);
    run(kernel, Arguments(kernel.expression, values, count));
    *result = {};
  });
}

struct CpuCall {
  std::string expression;
  jit::CpuEntry entry;
};

int call_cpu(void* self, const jit::FfiAny* values, std::int32_t count, jit::FfiAny* result) {
  return guarded([&] {
    const CpuCall& kernel = *static_cast<const CpuCall*>(self);
    const Arguments arguments(kernel.expression, values, count);
    kernel.entry.call(kernel_arguments(arguments, 0, kernel.entry.facts()));
    *result = {};
  });
}

}  // namespace

jit::FfiAny cuda_kernel_function(const jit::Program& program, const std::string& expression) {
  auto self = std::make_unique<CudaCall>();
  self->program = program;
  self->expression = expression;
  for (const jit::EntryPoint& entry : program->entries) {
    if (entry.expression == expression) {
      self->facts = jit::kernel_facts(program.artifact(), entry.lowered);
    }
  }
  EK_ICHECK(self->facts != nullptr, "the expression is one of the program's");
  return function_result(std::move(self), &call_cuda);
}

jit::FfiAny cpu_kernel_function(const jit::Program& program, std::size_t index,
                                const std::string& expression) {
  return function_result(
      std::make_unique<CpuCall>(CpuCall{expression, jit::CpuEntry(program, index, expression)}),
      &call_cpu);
}

}  // namespace einkorn::python
