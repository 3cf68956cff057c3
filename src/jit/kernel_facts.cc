#include "src/jit/kernel_facts.h"

#include <algorithm>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/jit/typed_arguments.h"

namespace einkorn::jit {

std::shared_ptr<const KernelFacts> kernel_facts(const Artifact& artifact,
                                                const std::string& lowered) {
  const Cubin cubin = read_cubin(artifact.image);
  const auto found = std::ranges::find(cubin.kernels, lowered, &CubinKernel::lowered);
  EK_CHECK(found != cubin.kernels.end(), ErrorKind::kRuntime,
           fmt::format("jit: cubin: expected kernel {}, which it lacks", lowered));
  return std::make_shared<KernelFacts>(KernelFacts{found->parameters, parse_signature(lowered)});
}

void Kernel::launch_with(const cuda::Launch& launch, Stream stream,
                         std::span<const Argument> arguments) const {
  EK_CHECK(facts_ != nullptr, ErrorKind::kValue, "kernel: expected a loaded one, got an empty one");
  const auto& signature = facts_->signature;
  BoundArguments bound(name(), arguments, signature ? &*signature : nullptr, facts_->layout,
                       stream.device);
  raw_.launch(launch, stream, bound.pointers());
}

}  // namespace einkorn::jit
