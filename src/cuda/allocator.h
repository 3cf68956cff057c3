#pragma once

namespace einkorn::cuda {

/// Registers device memory with core (`src/core/allocator.h`). RuntimeError when there is no
/// driver.
void register_allocator();

}  // namespace einkorn::cuda
