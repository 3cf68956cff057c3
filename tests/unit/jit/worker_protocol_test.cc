#include "src/jit/worker_protocol.h"

#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include <gtest/gtest.h>

namespace einkorn::jit {
namespace {

CompileInputs full_inputs() {
  CompileInputs inputs;
  inputs.target = Target::kCpu;
  inputs.arch = "sm_90a";
  inputs.options = {"-DX=1", ""};
  inputs.entries = {"k<int, 4>"};
  inputs.sources.files = {{"k.cu", "text\n", "/a/k.cu"}, {"h.cuh", "", "<memory>"}};
  inputs.sources.unresolved = {"gone.h"};
  inputs.include_folders = {"/include"};
  inputs.content.bytes[3] = 7;
  return inputs;
}

Outcome full_outcome() {
  auto artifact = std::make_shared<Artifact>();
  artifact->image = {std::byte{1}, std::byte{0}, std::byte{255}};
  artifact->entries = {{"k<int>", "_Z1kv", {.registers = 9, .static_smem = 8, .stack_bytes = 7}}};
  artifact->log = "log";
  artifact->compiler = "nvrtc 13.0";
  artifact->compile_ms = 1.5;
  return {.artifact = artifact, .dependencies = {"/a/h"}};
}

TEST(WorkerProtocol, RequestsArriveAsTheyWere) {
  const CompileInputs sent = full_inputs();
  const auto got = decode_request(encode_request(sent));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->target, sent.target);
  EXPECT_EQ(got->arch, sent.arch);
  EXPECT_EQ(got->options, sent.options);
  EXPECT_EQ(got->entries, sent.entries);
  ASSERT_EQ(got->sources.files.size(), 2u);
  EXPECT_EQ(got->sources.files[0].name, "k.cu");
  EXPECT_EQ(got->sources.files[0].text, "text\n");
  EXPECT_EQ(got->sources.files[0].path, "/a/k.cu");
  EXPECT_EQ(got->sources.files[1].name, "h.cuh");
  EXPECT_EQ(got->sources.unresolved, sent.sources.unresolved);
  EXPECT_EQ(got->include_folders, sent.include_folders);
  EXPECT_EQ(got->content, sent.content);
}

TEST(WorkerProtocol, RepliesArriveAsTheyWere) {
  const Outcome sent = full_outcome();
  const auto got = decode_reply(encode_reply(sent));
  ASSERT_TRUE(got.has_value());
  ASSERT_NE(got->outcome.artifact, nullptr);
  const Artifact& artifact = *got->outcome.artifact;
  EXPECT_EQ(artifact.image, sent.artifact->image);
  ASSERT_EQ(artifact.entries.size(), 1u);
  EXPECT_EQ(artifact.entries[0].expression, "k<int>");
  EXPECT_EQ(artifact.entries[0].lowered, "_Z1kv");
  EXPECT_EQ(artifact.entries[0].resources.registers, 9);
  EXPECT_EQ(artifact.entries[0].resources.stack_bytes, 7);
  EXPECT_EQ(artifact.log, "log");
  EXPECT_EQ(artifact.compiler, "nvrtc 13.0");
  EXPECT_EQ(artifact.compile_ms, 1.5);
  EXPECT_EQ(got->outcome.dependencies, sent.dependencies);
  EXPECT_FALSE(got->thrown.has_value());

  Outcome failed;
  failed.failure = Error(ErrorKind::kRuntime, "k.cu(1): error");
  failed.other_compiler_may = true;
  const auto failure = decode_reply(encode_reply(failed));
  ASSERT_TRUE(failure.has_value());
  ASSERT_TRUE(failure->outcome.failure.has_value());
  EXPECT_STREQ(failure->outcome.failure->what(), "k.cu(1): error");
  EXPECT_TRUE(failure->outcome.other_compiler_may);

  const auto thrown = decode_reply(encode_reply(Error(ErrorKind::kType, "oops")));
  ASSERT_TRUE(thrown.has_value());
  ASSERT_TRUE(thrown->thrown.has_value());
  EXPECT_EQ(thrown->thrown->kind(), ErrorKind::kType);
  EXPECT_STREQ(thrown->thrown->what(), "oops");
}

TEST(WorkerProtocol, OtherBytesAreNoMessage) {
  const Message request = encode_request(full_inputs());
  const Message reply = encode_reply(full_outcome());
  EXPECT_FALSE(decode_request(reply).has_value());
  EXPECT_FALSE(decode_reply(request).has_value());
  EXPECT_FALSE(decode_reply({}).has_value());
  for (std::size_t size = 0; size < request.size(); ++size) {
    EXPECT_FALSE(decode_request(std::span(request).first(size)).has_value());
  }
  for (std::size_t size = 0; size < reply.size(); ++size) {
    EXPECT_FALSE(decode_reply(std::span(reply).first(size)).has_value());
  }
  for (std::size_t i = 0; i < reply.size(); ++i) {  // whatever comes of it, nothing is overrun
    Message damaged = reply;
    damaged[i] ^= std::byte{0xff};
    decode_reply(damaged);
  }
}

class Sockets : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_), 0); }
  void TearDown() override {
    close(ends_[0]);
    if (ends_[1] >= 0) close(ends_[1]);
  }
  void close_other() {
    close(ends_[1]);
    ends_[1] = -1;
  }

  int ends_[2] = {-1, -1};
};

TEST_F(Sockets, LargeMessagesAndEmptyOnes) {
  const Message large(20'000'000, std::byte{42});  // more than a socket holds
  std::thread sender([&] {
    EXPECT_EQ(send_message(ends_[0], large), Talk::kDone);
    EXPECT_EQ(send_message(ends_[0], {}), Talk::kDone);
  });
  Message got;
  EXPECT_EQ(receive_message(ends_[1], got), Talk::kDone);
  EXPECT_EQ(got, large);
  EXPECT_EQ(receive_message(ends_[1], got), Talk::kDone);
  EXPECT_TRUE(got.empty());
  sender.join();
}

TEST_F(Sockets, LimitsAndClosedEnds) {
  const Deadline soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(30);
  Message got;
  EXPECT_EQ(receive_message(ends_[0], got, soon), Talk::kTimedOut);
  EXPECT_EQ(send_message(ends_[0], Message(20'000'000), soon), Talk::kTimedOut);
  close_other();
  EXPECT_EQ(receive_message(ends_[0], got), Talk::kClosed);
  EXPECT_EQ(send_message(ends_[0], Message(8)), Talk::kClosed);
}

TEST_F(Sockets, AnAbsurdLengthIsNoMessage) {
  const std::uint64_t length = ~std::uint64_t{0};
  ASSERT_EQ(write(ends_[1], &length, sizeof(length)), static_cast<ssize_t>(sizeof(length)));
  Message got;
  EXPECT_EQ(receive_message(ends_[0], got), Talk::kClosed);
}

}  // namespace
}  // namespace einkorn::jit
