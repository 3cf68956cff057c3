#pragma once

// The C interface of XLA's foreign function calls (xla/ffi/api/c_api.h of the wheel jaxlib, version
// 0.3): what a handler is given, and what it calls. Fields are only ever appended there, and XLA
// asks a handler for its version before the first call.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace einkorn::python {

inline constexpr int kXlaMajor = 0;
inline constexpr int kXlaMinor = 3;

/// What every struct begins with.
struct XlaExtension;
struct XlaHeader {
  std::size_t struct_size;
  XlaExtension* extension;
};

struct XlaVersion {
  XlaHeader header;
  int major;
  int minor;
};

inline constexpr std::int32_t kXlaMetadata = 1;
struct XlaMetadata {
  std::size_t struct_size;
  XlaVersion version;    ///< of the handler
  std::uint32_t traits;  ///< bit 0: may be captured into a command buffer
};
/// Of a call that asks for a handler's metadata, where `type` is kXlaMetadata.
struct XlaExtension {
  std::size_t struct_size;
  std::int32_t type;
  XlaExtension* next;
  XlaMetadata* metadata;
};

struct XlaError;
enum class XlaCode : std::int32_t { kInvalidArgument = 3, kUnimplemented = 12, kInternal = 13 };

struct XlaText {
  const char* data;
  std::size_t size;

  std::string_view view() const { return {data, size}; }
};

enum class XlaType : std::int32_t {
  kPred = 1,
  kS8 = 2,
  kS16 = 3,
  kS32 = 4,
  kS64 = 5,
  kU8 = 6,
  kU16 = 7,
  kU32 = 8,
  kU64 = 9,
  kF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kBF16 = 16,
  kF8E5M2 = 19,
  kF8E4M3FN = 20,
  kF8E8M0FNU = 33,
};

/// Row-major and without gaps.
struct XlaBuffer {
  XlaHeader header;
  XlaType type;
  void* data;
  std::int64_t rank;
  std::int64_t* dims;
};

/// Arguments or results. Each has kind 1, which is XlaBuffer.
struct XlaBuffers {
  XlaHeader header;
  std::int64_t size;
  std::int32_t* kinds;
  XlaBuffer** values;
};

struct XlaScalar {
  XlaType type;
  const void* value;
};

inline constexpr std::int32_t kXlaScalar = 3;
inline constexpr std::int32_t kXlaString = 4;
/// Sorted by name.
struct XlaAttributes {
  XlaHeader header;
  std::int64_t size;
  std::int32_t* kinds;
  XlaText** names;
  void** values;
};

struct XlaApi;
struct XlaContext;
inline constexpr std::int32_t kXlaExecute = 3;
struct XlaCallFrame {
  XlaHeader header;
  const XlaApi* api;
  XlaContext* context;
  std::int32_t stage;
  XlaBuffers arguments;
  XlaBuffers results;
  XlaAttributes attributes;
};

struct XlaCreateError {
  XlaHeader header;
  const char* message;
  XlaCode code;
};
struct XlaGetMessage {
  XlaHeader header;
  XlaError* error;
  const char* message;  ///< out, the error's
};
struct XlaDestroyError {
  XlaHeader header;
  XlaError* error;
};
struct XlaGetStream {
  XlaHeader header;
  XlaContext* context;
  void* stream;  ///< out
};
struct XlaGetDevice {
  XlaHeader header;
  XlaContext* context;
  std::int32_t ordinal;  ///< out
};

struct XlaApi {
  XlaHeader header;
  XlaVersion version;
  const void* internal;
  XlaError* (*create_error)(XlaCreateError*);
  void (*get_message)(XlaGetMessage*);
  void (*destroy_error)(XlaDestroyError*);
  void* register_handler;
  XlaError* (*get_stream)(XlaGetStream*);
  void* unused[12];  ///< types, contexts, states, memory, threads, futures, runs
  XlaError* (*get_device)(XlaGetDevice*);
};

using XlaHandler = XlaError* (*)(XlaCallFrame*);

}  // namespace einkorn::python
