#pragma once

#include <einkorn/device.h>
#include <einkorn/plan.h>

namespace einkorn::measure {

/// Runs all stages and waits for them, so that an error of the device is this run's.
void run_once(const Executable& executable, const void* args, Device device);

}  // namespace einkorn::measure
