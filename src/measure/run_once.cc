#include "src/measure/run_once.h"

#include <einkorn/cuda.h>

namespace einkorn::measure {

void run_once(const Executable& executable, const void* args, Device device) {
  if (device.kind == DeviceKind::kCpu) {
    executable.run(args, Stream::cpu());
    return;
  }
  const cuda::OwnedStream stream(device.index);
  executable.run(args, stream.get());
  stream.synchronize();
}

}  // namespace einkorn::measure
