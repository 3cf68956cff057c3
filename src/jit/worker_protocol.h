#pragma once

// The talk with compile workers: one request, one reply, each a length and that many bytes on a
// stream socket. Both ends are of one build.

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "src/jit/compiler.h"

namespace einkorn::jit {

using Message = std::vector<std::byte>;

Message encode_request(const CompileInputs& inputs);
/// Nothing for bytes that encode_request() of this version does not give.
std::optional<CompileInputs> decode_request(std::span<const std::byte> message);

/// What a compiler returned, or what it threw.
Message encode_reply(const Outcome& outcome);
Message encode_reply(const Error& thrown);

struct Reply {
  Outcome outcome;
  std::optional<Error> thrown;
};
std::optional<Reply> decode_reply(std::span<const std::byte> message);

enum class Talk { kDone, kClosed, kTimedOut };

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

/// Both never raise SIGPIPE. kClosed: the other end is gone, or sends what is no message.
Talk send_message(int socket, std::span<const std::byte> message, const Deadline& deadline = {});
Talk receive_message(int socket, Message& message, const Deadline& deadline = {});

}  // namespace einkorn::jit
