#include "src/jit/worker_protocol.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "src/jit/artifact_file.h"
#include "src/jit/codec.h"

namespace einkorn::jit {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// Raise the number with every change of a message: an older worker must not be understood.
constexpr std::string_view kRequestMark = "einkorn compile request 1";
constexpr std::string_view kReplyMark = "einkorn compile reply 1";

// Of one message; a source with every header of a toolkit is some 20 MB.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 31;

enum : std::uint8_t { kArtifact = 0, kFailure = 1, kThrown = 2 };

void put_error(Writer& writer, const Error& error) {
  writer.put(static_cast<std::uint8_t>(error.kind()));
  writer.put(std::string_view(error.what()));
}

std::optional<Error> get_error(Reader& reader) {
  const auto kind = reader.number<std::uint8_t>();
  std::string text = reader.text();
  if (!reader.ok() || kind > static_cast<std::uint8_t>(ErrorKind::kRuntime)) return std::nullopt;
  return Error(static_cast<ErrorKind>(kind), std::move(text));
}

/// Waits until the socket is ready for `events`.
Talk wait_for(int socket, short events, const Deadline& deadline) {
  for (;;) {
    int wait = -1;
    if (deadline) {
      const auto left = std::chrono::ceil<milliseconds>(*deadline - Clock::now());
      if (left <= milliseconds::zero()) return Talk::kTimedOut;
      wait = static_cast<int>(std::min<std::int64_t>(left.count(), 3'600'000));
    }
    pollfd file{socket, events, 0};
    const int ready = poll(&file, 1, wait);
    if (ready > 0) return Talk::kDone;
    if (ready < 0 && errno != EINTR && errno != EAGAIN) return Talk::kClosed;
  }
}

/// Moves all of `bytes` through the socket by `move`, which is send or recv.
template <class Byte, class Move>
Talk move_all(int socket, std::span<Byte> bytes, short events, const Deadline& deadline,
              Move&& move) {
  while (!bytes.empty()) {
    const ssize_t count = move(bytes);
    if (count > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (count < 0 && errno == EINTR) {
      continue;
    } else if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (const Talk ready = wait_for(socket, events, deadline); ready != Talk::kDone) return ready;
    } else {
      return Talk::kClosed;
    }
  }
  return Talk::kDone;
}

Talk send_all(int socket, std::span<const std::byte> bytes, const Deadline& deadline) {
  return move_all(socket, bytes, POLLOUT, deadline, [&](std::span<const std::byte> rest) {
    return send(socket, rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  });
}

Talk receive_all(int socket, std::span<std::byte> bytes, const Deadline& deadline) {
  return move_all(socket, bytes, POLLIN, deadline, [&](std::span<std::byte> rest) {
    return recv(socket, rest.data(), rest.size(), MSG_DONTWAIT);
  });
}

}  // namespace

Message encode_request(const CompileInputs& inputs) {
  Writer writer;
  writer.put(kRequestMark);
  writer.put(static_cast<std::uint8_t>(inputs.target));
  writer.put(inputs.arch);
  writer.put(inputs.options);
  writer.put(inputs.entries);
  writer.put(std::uint64_t{inputs.sources.files.size()});
  for (const SourceFile& file : inputs.sources.files) {
    writer.put(file.name);
    writer.put(file.text);
    writer.put(file.path);
  }
  writer.put(inputs.sources.unresolved);
  writer.put(inputs.include_folders);
  writer.put(std::as_bytes(std::span(inputs.content.bytes)));
  return writer.bytes();
}

std::optional<CompileInputs> decode_request(std::span<const std::byte> message) {
  Reader reader(message);
  if (reader.text() != kRequestMark) return std::nullopt;
  CompileInputs inputs;
  inputs.target = static_cast<Target>(reader.number<std::uint8_t>());
  inputs.arch = reader.text();
  inputs.options = reader.texts();
  inputs.entries = reader.texts();
  inputs.sources.files.resize(reader.count(3 * sizeof(std::uint64_t)));
  for (SourceFile& file : inputs.sources.files) {
    file.name = reader.text();
    file.text = reader.text();
    file.path = reader.text();
  }
  inputs.sources.unresolved = reader.texts();
  inputs.include_folders = reader.texts();
  const std::vector<std::byte> content = reader.blob();
  if (!reader.at_end() || inputs.sources.files.empty() ||
      content.size() != inputs.content.bytes.size()) {
    return std::nullopt;
  }
  std::memcpy(inputs.content.bytes.data(), content.data(), content.size());
  return inputs;
}

Message encode_reply(const Outcome& outcome) {
  Writer writer;
  writer.put(kReplyMark);
  if (outcome.failure) {
    writer.put(std::uint8_t{kFailure});
    put_error(writer, *outcome.failure);
    writer.put(std::uint8_t{outcome.other_compiler_may});
  } else {
    writer.put(std::uint8_t{kArtifact});
    write_artifact(writer, *outcome.artifact);
  }
  writer.put(outcome.dependencies);
  return writer.bytes();
}

Message encode_reply(const Error& thrown) {
  Writer writer;
  writer.put(kReplyMark);
  writer.put(std::uint8_t{kThrown});
  put_error(writer, thrown);
  return writer.bytes();
}

std::optional<Reply> decode_reply(std::span<const std::byte> message) {
  Reader reader(message);
  if (reader.text() != kReplyMark) return std::nullopt;
  Reply reply;
  switch (reader.number<std::uint8_t>()) {
    case kArtifact:
      reply.outcome.artifact = std::make_shared<Artifact>(read_artifact(reader));
      reply.outcome.dependencies = reader.texts();
      break;
    case kFailure:
      reply.outcome.failure = get_error(reader);
      reply.outcome.other_compiler_may = reader.number<std::uint8_t>() != 0;
      reply.outcome.dependencies = reader.texts();
      if (!reply.outcome.failure) return std::nullopt;
      break;
    case kThrown:
      reply.thrown = get_error(reader);
      if (!reply.thrown) return std::nullopt;
      break;
    default:
      return std::nullopt;
  }
  if (!reader.at_end()) return std::nullopt;
  return reply;
}

Talk send_message(int socket, std::span<const std::byte> message, const Deadline& deadline) {
  const std::uint64_t size = message.size();
  const Talk sent = send_all(socket, std::as_bytes(std::span(&size, 1)), deadline);
  return sent == Talk::kDone ? send_all(socket, message, deadline) : sent;
}

Talk receive_message(int socket, Message& message, const Deadline& deadline) {
  std::uint64_t size = 0;
  const Talk received = receive_all(socket, std::as_writable_bytes(std::span(&size, 1)), deadline);
  if (received != Talk::kDone) return received;
  if (size > kMaxBytes) return Talk::kClosed;
  message.resize(static_cast<std::size_t>(size));
  return receive_all(socket, message, deadline);
}

}  // namespace einkorn::jit
