#include "src/measure/peers.h"

#include <chrono>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/core/checkout.h"

namespace einkorn::measure {
namespace {

using Json = nlohmann::json;

// torch.compile of a kernel on a cold cache takes about a minute on two cores.
constexpr std::chrono::milliseconds kSetupTimeout = std::chrono::minutes(5);
constexpr std::chrono::milliseconds kTimeTimeout = std::chrono::minutes(1);

Json parse_answer(const std::string& line) {
  Json answer = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  EK_CHECK(answer.is_object(), ErrorKind::kRuntime,
           fmt::format("peers: expected a JSON object, got '{}'", line.substr(0, 200)));
  if (answer.contains("error")) {
    throw_error(ErrorKind::kRuntime, fmt::format("peers: {}", answer["error"].dump()));
  }
  return answer;
}

PeerResult parse_peer(const Json& peer) {
  EK_CHECK(peer.is_object() && peer.contains("name") && peer["name"].is_string(),
           ErrorKind::kRuntime,
           fmt::format("peers: expected a peer with a name, got {}", peer.dump()));
  PeerResult out;
  out.name = peer["name"].get<std::string>();
  out.version = peer.value("version", "");
  out.skipped = peer.value("skipped", "");
  return out;
}

}  // namespace

std::vector<std::string> PeerServer::default_command() {
  const auto script = find_in_checkout("bench/peers/serve.py");
  EK_CHECK(script.has_value(), ErrorKind::kRuntime,
           "peers: bench/peers/serve.py is in no folder above this executable or the working "
           "directory\n  hint: run from a checkout");
  return {python_command(), script->string()};
}

std::vector<PeerResult> PeerServer::setup(const PeerTask& task) {
  Json keys = Json::object();
  for (const auto& [key, value] : split_key_values(task.op.print(task.problem.get()))) {
    keys[key] = value;
  }
  // What print leaves out stands at its default.
  Json defaults = Json::object();
  for (const Key& key : task.op.keys()) defaults[key.name] = key.default_value;
  const Json request{
      {"cmd", "setup"},       {"op", std::string(task.op.name)},  {"keys", keys},
      {"defaults", defaults}, {"device", to_string(task.device)}, {"seed", task.seed},
      {"sets", task.sets}};
  process_.write_line(request.dump());
  const Json answer = parse_answer(process_.read_line(kSetupTimeout));
  EK_CHECK(answer.contains("peers") && answer["peers"].is_array(), ErrorKind::kRuntime,
           fmt::format("peers: expected a list of peers, got {}", answer.dump()));
  std::vector<PeerResult> out;
  for (const Json& peer : answer["peers"]) out.push_back(parse_peer(peer));
  return out;
}

double PeerServer::time_us(const std::string& peer) {
  process_.write_line(Json{{"cmd", "time"}, {"peer", peer}}.dump());
  const Json answer = parse_answer(process_.read_line(kTimeTimeout));
  EK_CHECK(answer.contains("us") && answer["us"].is_number(), ErrorKind::kRuntime,
           fmt::format("peers: expected a time, got {}", answer.dump()));
  return answer["us"].get<double>();
}

}  // namespace einkorn::measure
