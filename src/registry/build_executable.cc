#include <einkorn/cuda.h>
#include <einkorn/dispatch.h>
#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/registry/planned.h"

namespace einkorn::detail {

std::shared_ptr<const Executable> build_executable(std::string_view op, const void* problem,
                                                   Stream stream, std::string_view choice) {
  const auto view = registry();
  const OpEntry& entry = view->find(op);
  const DeviceInfo& device = device_info(stream.device);
  const Variant& variant = select(entry, problem, device, choice);
  if (stream.device.kind == DeviceKind::kCuda && cuda::is_capturing(stream)) {
    throw_error(
        ErrorKind::kRuntime,
        fmt::format("{}: stream: expected a prepared problem while a graph is captured, got "
                    "a new one ({})\n  hint: call {}::prepare() with these arguments before "
                    "the capture begins; loading a kernel is not allowed inside it",
                    op, entry.op->print(problem), op));
  }
  return std::make_shared<const Executable>(planned(entry, variant, problem, device), device);
}

void throw_wrong_stream(std::string_view op, Device tensors, Stream stream) {
  throw_error(ErrorKind::kValue,
              fmt::format("{}: stream: expected one of {}, where the tensors are, got one of {}\n"
                          "  hint: pass a stream of the tensors' device",
                          op, to_string(tensors), to_string(stream.device)));
}

}  // namespace einkorn::detail
