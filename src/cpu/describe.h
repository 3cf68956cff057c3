#pragma once

#include <string>
#include <vector>

#include <einkorn/device.h>

namespace einkorn::cpu {

/// This machine's CPU: model name, hardware threads this process may use, last-level cache. What
/// the system does not tell is "unknown" or 0.
DeviceInfo describe();

/// Bytes of the last-level cache that a process can count on: all of it, but no more than 8 MiB a
/// thread. Large caches are a socket's, and their cores have other tenants, most of all in virtual
/// machines, which are told the size of the whole.
double cached_bytes(const DeviceInfo& device);

/// Names of the vector instruction sets that the CPU variants were built for and this CPU has, the
/// one in use first: "AVX3", "AVX2", "SSE4".
std::vector<std::string> highway_targets();

/// Bandwidth of a copy by all threads between arrays far larger than the last-level cache (at most
/// a quarter of a GiB each), 1e9 bytes/s, reads and writes counted; best of several. Takes under
/// two seconds.
double measure_copy_gbps();

/// Rate of f32 fused multiply-adds by all threads, vectors as wide as there are, 1e9 operations/s,
/// two for each; best of several. Takes under a second.
double measure_fma_gflops();

}  // namespace einkorn::cpu
