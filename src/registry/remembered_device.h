#pragma once

// What the driver said of a device, kept for later processes. To start the driver takes a tenth of
// a second and more, and to describe a device is all that some commands want of it.

#include <functional>
#include <optional>
#include <string>

#include <einkorn/device.h>

namespace einkorn {

/// All that decides what the driver says, as text: its version, the devices that it has found and
/// those that this process may open, and the variables that choose among them. Empty where the
/// kernel's module does not tell, as on a machine without one. `proc` and `dev` are the module's
/// folder and that of its device files.
std::string driver_state(const std::string& proc = "/proc/driver/nvidia",
                         const std::string& dev = "/dev");

/// The device as remember_device() had it under the same state; nothing: ask the driver.
std::optional<DeviceInfo> remembered_device(int index, const std::string& state = driver_state());

/// Keeps the description in the cache folder. Whether it did: without a folder that can be used, or
/// a state, the driver is asked again next time, which is right as well.
bool remember_device(const DeviceInfo& info, const std::string& state = driver_state());

/// The GPU of this index without a start of the driver where an earlier process has remembered it.
/// Otherwise, and where the driver has been started already, device_info(find()), remembered.
/// Throws what find() does.
DeviceInfo describe_here(int index, const std::function<Device()>& find,
                         const std::string& state = driver_state());

}  // namespace einkorn
