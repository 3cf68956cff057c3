#pragma once

// Kernels to compile ahead, as a file lists them:
//
//   {"kernels":  [{"file": "my.cuh", "instantiate": ["k<float, 4>"], "arch": ["sm_90a"],
//                  "options": [], "include_dirs": []}],
//    "problems": [{"op": "rms_norm", "problem": "rows=16384 cols=4096 dtype=bf16"}]}
//
// Files and folders are relative to the manifest's own. "arch", "options" and "include_dirs" may be
// left out; "op" may name a variant.

#include <functional>
#include <string>
#include <vector>

#include <einkorn/jit.h>

#include "cli/target.h"

namespace einkorn::cli {

/// The requests of a manifest for each of `archs()`, or for the archs that a kernel itself names;
/// `archs` is called only when a row needs it.
/// Bad usage: a file that cannot be read or has another form, keys that mean nothing, files and
/// folders that are not there; the message names the row.
std::vector<jit::Request> manifest_requests(const std::string& path,
                                            const std::function<std::vector<std::string>()>& archs);

/// A device whose native arch this is, here or from the table of known ones. Bad usage for an arch
/// that no known device has.
DeviceInfo device_of_arch(const std::string& arch);

/// The kernels that a variant takes for a problem on that device: of the default tiling, or of all.
void add_requests(const Variant& variant, const AnyProblem& problem, const DeviceInfo& device,
                  bool all_tilings, std::vector<jit::Request>& out);

/// Each request once, in the order of their first occurrence.
std::vector<jit::Request> distinct(std::vector<jit::Request> requests);

}  // namespace einkorn::cli
