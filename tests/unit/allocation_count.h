#pragma once

#include <cstdint>

namespace einkorn::test {

/// Calls of operator new by this thread so far, in the whole test program.
std::int64_t allocations();

}  // namespace einkorn::test
