#pragma once

// A service with compilers made up for the purpose and a cache of its own.

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "src/jit/service.h"
#include "tests/unit/jit/store_fixture.h"

namespace einkorn::jit {

class FakeCompiler : public Compiler {
 public:
  explicit FakeCompiler(std::string name) : name_(std::move(name)) {}

  std::string_view name() const override { return name_; }
  std::optional<std::string> refusal(const CompileInputs&) override { return refuses; }
  std::string identity() override {
    ++identities;
    return (same_as.empty() ? name_ : same_as) + " " + version;
  }
  bool serialises() const override { return one_at_a_time; }
  bool reads_disk() const override { return on_disk; }
  Outcome compile(const CompileInputs& inputs) override {
    ++compiles;
    if (takes.count() > 0) std::this_thread::sleep_for(takes);
    if (throws) throw Error(ErrorKind::kRuntime, "out of memory");
    if (fails)
      return {.failure = Error(ErrorKind::kRuntime, name_ + " rejects it"),
              .other_compiler_may = other_may};
    Artifact artifact = numbered_artifact(number);
    artifact.compiler = name_;
    artifact.entries = {{inputs.entries.front(), "k", {}}};
    return {.artifact = std::make_shared<Artifact>(artifact), .dependencies = reads};
  }

  std::optional<std::string> refuses;
  std::string version = "1";
  std::vector<std::string> reads;
  std::string same_as;  // the compiler that it is another way to
  bool on_disk = false, one_at_a_time = false;
  std::chrono::milliseconds takes{0};
  bool throws = false, fails = false, other_may = false;
  int number = 1;
  std::atomic<int> compiles{0}, identities{0};

 private:
  std::string name_;
};

class ServiceTest : public testing::Test {
 protected:
  Settings settings() const {
    Settings out;
    out.cache_dir = scratch_.path("cache");
    return out;
  }
  std::unique_ptr<Service> make(const Settings& settings) {
    return std::make_unique<Service>(settings, std::vector<Compiler*>{&first_, &second_});
  }
  std::unique_ptr<Service> make() { return make(settings()); }

  static CompileInputs inputs(const std::string& source = "__global__ void k() {}") {
    return resolve_inputs({.file = "k.cu", .source = source, .instantiate = "k", .arch = "sm_90a"});
  }
  static std::vector<std::string> steps(const Trace& trace) {
    std::vector<std::string> out;
    out.reserve(trace.steps.size());
    for (const Trace::Step& step : trace.steps) out.push_back(step.place + ": " + step.outcome);
    return out;
  }

  test::FileTree scratch_;
  FakeCompiler first_{"one"}, second_{"two"};
};

}  // namespace einkorn::jit
