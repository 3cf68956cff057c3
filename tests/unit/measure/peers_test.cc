#include "src/measure/peers.h"

#include <csignal>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <einkorn/error.h>

#include "tests/unit/measure/toy_op.h"

namespace einkorn::measure {
namespace {

using testing::HasSubstr;

/// The folder of the sources; ctest runs in it and says so.
std::string source_path(const std::string& name) {
  const char* root = std::getenv("EINKORN_SOURCE_DIR");
  return (root != nullptr ? std::string(root) + "/" : std::string()) + name;
}

std::vector<std::string> fake(const std::string& mode) {
  return {"python3", source_path("tests/unit/measure/fake_peers.py"), mode};
}

/// The message of the Error that `call` throws.
template <class F>
std::string error_of(F&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRuntime);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

std::vector<PeerResult> set_up(PeerServer& server) {
  const AnyProblem problem = toy::problem("rows=7 cols=5");
  return server.setup({toy::kTwice, problem, kCpuDevice, 11, 3});
}

TEST(Peers, TalksInLinesOfJson) {
  PeerServer server(fake("echo"));
  const auto peers = set_up(server);
  ASSERT_EQ(peers.size(), 2U);
  EXPECT_EQ(peers[0].name, "echo");
  EXPECT_EQ(peers[0].skipped, "");
  EXPECT_EQ(peers[1].skipped, "no torch");
  const auto request = nlohmann::json::parse(peers[0].version);
  EXPECT_EQ(request["cmd"], "setup");
  EXPECT_EQ(request["op"], "twice");
  EXPECT_EQ(request["device"], "cpu");
  EXPECT_EQ(request["seed"], 11);
  EXPECT_EQ(request["sets"], 3);
  EXPECT_EQ(request["keys"]["rows"], "7");
  EXPECT_EQ(request["defaults"]["gap"], "0");
  EXPECT_EQ(server.time_us("echo"), 12.5);
  EXPECT_EQ(server.time_us("echo"), 12.5);
  EXPECT_THAT(error_of([&] { server.time_us("other"); }), HasSubstr("unknown peer"));
}

TEST(Peers, NonsenseIsAnError) {
  PeerServer server(fake("nonsense"));
  EXPECT_THAT(error_of([&] { set_up(server); }), HasSubstr("Welcome to a library"));
  PeerServer shapeless(fake("shapeless"));
  EXPECT_THAT(error_of([&] { set_up(shapeless); }), HasSubstr("expected a peer with a name"));
}

TEST(Peers, DeathIsAnErrorWithItsLastWords) {
  PeerServer server(fake("dies"));
  EXPECT_THAT(error_of([&] { set_up(server); }), HasSubstr("the driver fell over"));
  // Gone for good: still an error, and no signal.
  EXPECT_THAT(error_of([&] { server.time_us("echo"); }), HasSubstr("python3"));
}

TEST(Process, MissingProgram) {
  EXPECT_THAT(error_of([] { ChildProcess({"/no/such/program", "a"}); }),
              HasSubstr("cannot start '/no/such/program a'"));
}

TEST(Process, SilenceTimesOut) {
  ChildProcess silent({"sleep", "60"});
  EXPECT_THAT(error_of([&] { silent.read_line(std::chrono::milliseconds(50)); }),
              HasSubstr("no answer in 50 ms"));
}

TEST(Process, LinesOfAnyLength) {
  ChildProcess cat({"cat"});
  const std::string longer(300000, 'x');
  cat.write_line(longer);
  cat.write_line("short");
  EXPECT_EQ(cat.read_line(std::chrono::seconds(10)), longer);
  EXPECT_EQ(cat.read_line(std::chrono::seconds(10)), "short");
}

TEST(Process, DefaultCommandFindsTheScript) {
  const auto command = PeerServer::default_command();
  ASSERT_EQ(command.size(), 2U);
  EXPECT_THAT(command[1], testing::EndsWith("bench/peers/serve.py"));
}

}  // namespace
}  // namespace einkorn::measure
