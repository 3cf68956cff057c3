// A kernel of one's own, from its file to its result. Takes the path of add_constant.cuh; without a
// GPU it compiles only.

#include <cstdio>
#include <exception>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <einkorn/jit.h>
#include <einkorn/tensor.h>

namespace {

using namespace einkorn;  // NOLINT(google-build-using-namespace): an example reads better so

jit::Request request_for(const char* file) {
  // Without a GPU somebody has to say for which one.
  return {.file = file,
          .instantiate = "add_constant<int, 4>",
          .arch = cuda::available() ? "" : "sm_90a"};
}

void run_on_gpu(const jit::Kernel& kernel) {
  constexpr int kCount = 1000;
  const Device device{DeviceKind::kCuda, 0};
  const Tensor host = Tensor::empty({kCount}, kI32, kCpuDevice);
  for (int i = 0; i < kCount; ++i) host.view().data_as<int>()[i] = i;
  const Tensor src = host.to(device);
  const Tensor dst = Tensor::empty({kCount}, kI32, device);

  const cuda::OwnedStream stream(0);
  kernel.launch({.grid = {(kCount + 255) / 256}, .block = {256}}, stream.get(), dst, src, kCount);
  stream.synchronize();
  const Tensor result = dst.to(kCpuDevice);
  std::printf("src[999] = 999, dst[999] = %d\n", result.view().data_as<const int>()[999]);

  // What does not fit the kernel's own parameters is said by name, and nothing is launched.
  try {
    kernel.launch({.grid = {4}, .block = {256}}, stream.get(), dst, 0.5, kCount);
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
  }
}

void compile_and_run(const char* file) {
  const jit::Program program = jit::compile(request_for(file));
  const jit::EntryPoint& entry = program->entries.front();
  std::printf("%s: %d registers, %lld bytes spilled\n", entry.expression.c_str(),
              entry.resources.registers, static_cast<long long>(entry.resources.spill_stores));
  if (cuda::available()) run_on_gpu(program.kernel());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    compile_and_run(argc > 1 ? argv[1] : "examples/jit_kernel/add_constant.cuh");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
