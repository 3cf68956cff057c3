#pragma once

// One measured tiling, with everything that could change its time.

#include <cstdint>
#include <string>
#include <string_view>

namespace einkorn::trials {

/// Of a trial's line. A reader skips lines of another one, with the reason.
inline constexpr int kSchema = 1;

enum class Status : std::uint8_t {
  kOk,       ///< checked and timed
  kInvalid,  ///< validate() refused the tiling
  kWrong,    ///< differs from the reference, or writes where it must not
  kCrash,    ///< took its process or the device's context with it
  kHang,     ///< gave no answer within the time limit
  kError,    ///< could not be built or run: a compiler's or driver's message
};
std::string_view name(Status status);

/// Wrong, crash and hang stay with a tiling: whatever a later trial says, it is not chosen.
constexpr bool is_disqualifying(Status status) {
  return status == Status::kWrong || status == Status::kCrash || status == Status::kHang;
}

/// What a kernel holds on a multiprocessor; of a plan, its largest stage. Zeros on a CPU.
struct Resources {
  int threads = 0;        ///< a block
  int registers = 0;      ///< a thread
  std::int64_t smem = 0;  ///< bytes a block, static and dynamic

  bool operator==(const Resources&) const = default;
};

/// Where a trial ran; equal keys make times comparable.
struct Place {
  std::string device;    ///< its name, e.g. "NVIDIA H100 80GB HBM3"
  int cc = 0;            ///< 10*major+minor; 0 on a CPU
  int sm_count = 0;      ///< multiprocessors, or hardware threads of a CPU
  std::string driver;    ///< version; empty on a CPU
  std::string compiler;  ///< name and version: "nvrtc 13.0"

  bool operator==(const Place&) const = default;
};

struct Trial {
  std::string op;
  std::string variant;  ///< id: "rms_norm/smxx/rows_v1"
  std::string problem;  ///< printed: "rows=4096 cols=4096 dtype=bf16"
  std::string tiling;   ///< printed; empty for a variant without parameters
  Place place;
  std::string source;          ///< digest of the variant's sources, see source.h
  std::string mode = "graph";  ///< "graph" or "eager": how it was launched
  std::string l2 = "cold";     ///< "cold" or "warm": whether inputs may lie in the cache
  Status status = Status::kOk;
  std::string reason;                          ///< why the status is not kOk
  double median_us = 0, q1_us = 0, q3_us = 0;  ///< zeros unless kOk
  int samples = 0;
  double predicted_us = 0;  ///< 0: not predicted
  Resources resources;
  unsigned sm_mhz = 0;   ///< the clock while it ran; 0: unknown
  std::string throttle;  ///< reasons seen; empty: none
  std::string date;      ///< UTC, "2026-11-28T05:51:14Z"
  std::string version;   ///< of einkorn
  std::string commit;
};

/// One line of JSON, without a newline. Texts that are no UTF-8 are repaired.
std::string to_line(const Trial& trial);

/// ValueError with the reason: no JSON, no object, another schema, a field that is missing, of
/// another type, or of no meaning (an unknown status, a time below zero).
Trial parse_line(std::string_view line);

}  // namespace einkorn::trials
