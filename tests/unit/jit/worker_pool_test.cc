// Workers with the real NVRTC, which needs no GPU, and with scripts in their place.

#include "src/jit/worker_pool.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <mutex>
#include <thread>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/core/warning.h"
#include "src/jit/slow_notice.h"
#include "src/jit/worker_executable.h"
#include "tests/unit/jit/compiler_tests.h"

namespace einkorn::jit {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using test::failure_text;
using test::FileTree;
using test::thrown_text;
using test::Variable;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

// Ten thousand loads, branches and barriers, which the assembler takes minutes for.
constexpr const char* kEndless = R"(
#define TEN(x) x x x x x x x x x x
#define MANY(x) TEN(TEN(TEN(TEN(x))))
__global__ void endless(float* p) {
  float v = p[threadIdx.x];
  float w = 0;
  MANY(v = v * p[(int)v] + 1; if (v > w) { w = p[threadIdx.x + (int)v]; __syncthreads(); p[(int)w] = v; })
  p[0] = v;
}
)";

CompileInputs inputs_of(std::string source, Expressions entries, std::string file = "k.cu") {
  return resolve_inputs({.file = std::move(file),
                         .source = std::move(source),
                         .instantiate = std::move(entries),
                         .arch = "sm_90a"});
}

CompileInputs small_inputs(int number = 0) {
  return inputs_of(fmt::format("__global__ void k{0}(int* p) {{ p[threadIdx.x] = {0}; }}", number),
                   fmt::format("k{}", number));
}

/// Gone, or a zombie that the machine's init has not collected yet.
bool is_dead(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return true;
  const std::size_t after_name = text.rfind(')');
  return after_name != std::string::npos && (text[after_name + 2] == 'Z');
}

bool dies_soon(pid_t pid) {
  for (int i = 0; i < 5000 && !is_dead(pid); ++i) std::this_thread::sleep_for(milliseconds(1));
  return is_dead(pid);
}

class WorkerPoolTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto reason = nvrtc_worker_compiler().refusal(small_inputs())) {
      GTEST_SKIP() << *reason;
    }
    spec_.executable = find_worker(WorkerRoots::of_process()).path.value_or("");
  }

  WorkerSpec spec_;
};

TEST_F(WorkerPoolTest, SixtyFourKernelsAsInProcess) {
  constexpr int kKernels = 64;
  WorkerPool pool(2);
  std::vector<std::shared_ptr<const Artifact>> by_worker(kKernels);
  std::vector<std::thread> threads;
  threads.reserve(kKernels);
  for (int i = 0; i < kKernels; ++i) {
    threads.emplace_back([&, i] {
      const Outcome outcome = pool.compile(spec_, small_inputs(i), 100);
      by_worker[static_cast<std::size_t>(i)] = outcome.artifact;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(pool.idle_pids(), SizeIs(2));
  for (int i = 0; i < kKernels; ++i) {
    const auto& artifact = by_worker[static_cast<std::size_t>(i)];
    ASSERT_NE(artifact, nullptr);
    const Outcome here = nvrtc_compiler().compile(small_inputs(i));
    EXPECT_EQ(artifact->image, here.artifact->image);
    ASSERT_THAT(artifact->entries, SizeIs(1));
    EXPECT_EQ(artifact->entries[0].lowered, here.artifact->entries[0].lowered);
    EXPECT_EQ(artifact->entries[0].resources.registers,
              here.artifact->entries[0].resources.registers);
    EXPECT_EQ(artifact->compiler, here.artifact->compiler);
  }
}

TEST_F(WorkerPoolTest, FailuresAreThoseOfTheCompiler) {
  const FileTree temporary;
  const Variable tmpdir("TMPDIR", temporary.root().string());
  WorkerPool pool(1);
  const auto message = [](const Outcome& outcome) {
    const std::string text = failure_text(outcome);
    return text.substr(0, text.find("\n  full log"));
  };
  const CompileInputs inputs = inputs_of("\n__global__ void k() { oops; }", "k");
  const Outcome outcome = pool.compile(spec_, inputs, 100);
  EXPECT_THAT(message(outcome), StartsWith("jit: k.cu(2): error: identifier \"oops\""));
  const Outcome here = nvrtc_compiler().compile(inputs);
  EXPECT_EQ(message(outcome), message(here));
  EXPECT_EQ(outcome.other_compiler_may, here.other_compiler_may);
  EXPECT_TRUE(pool.compile(spec_, inputs_of("#include <no/such.h>", "k"), 100).other_compiler_may);

  CompileInputs unknown = small_inputs();
  unknown.arch = "sm_1";
  try {
    pool.compile(spec_, unknown, 100);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kValue);
    EXPECT_THAT(error.what(), StartsWith("jit: arch: expected one of "));
  }
  EXPECT_THAT(pool.idle_pids(), SizeIs(1));
}

TEST_F(WorkerPoolTest, AWorkerIsUsedAgain) {
  WorkerPool pool(2);
  pool.compile(spec_, small_inputs(), 100);
  const auto before = pool.idle_pids();
  // The thread that started it is gone by then.
  std::thread([&] { pool.compile(spec_, small_inputs(1), 100); }).join();
  std::thread([&] { pool.compile(spec_, small_inputs(2), 100); }).join();
  EXPECT_EQ(pool.idle_pids(), before);
  EXPECT_THAT(before, SizeIs(1));
}

TEST_F(WorkerPoolTest, TimeLimit) {
  WorkerPool pool(1);
  pool.compile(spec_, small_inputs(), 100);
  const pid_t worker = pool.idle_pids().at(0);
  const CompileInputs inputs = inputs_of(kEndless, "endless");
  const auto start = steady_clock::now();
  EXPECT_EQ(thrown_text([&] { pool.compile(spec_, inputs, 0.5); }),
            "jit: k.cu: still compiling after 0.5 s, ended\n"
            "  entry: endless  arch: sm_90a  compiler: nvrtc, in a worker  key: " +
                inputs.content.hex().substr(0, 12) +
                "\n"
                "  hint: Request::time_limit, or EINKORN_JIT_TIMEOUT for all, allows more seconds");
  EXPECT_LT(steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_TRUE(is_dead(worker));
  EXPECT_THAT(pool.idle_pids(), IsEmpty());
  EXPECT_EQ(failure_text(pool.compile(spec_, small_inputs(), 100)), "");
}

TEST_F(WorkerPoolTest, TimeLimitOfTheEnvironmentAndOfTheRequest) {
  CompileInputs inputs = inputs_of(kEndless, "endless");
  {
    const Variable variable("EINKORN_JIT_TIMEOUT", "0.25");
    EXPECT_THAT(thrown_text([&] { nvrtc_worker_compiler().compile(inputs); }),
                HasSubstr("after 0.25 s"));
    inputs.time_limit = 0.125;
    EXPECT_THAT(thrown_text([&] { nvrtc_worker_compiler().compile(inputs); }),
                HasSubstr("after 0.125 s"));
  }
  inputs.time_limit = 0;
  for (const char* bad : {"soon", "-1", "0", "1s", "inf", "nan"}) {
    const Variable variable("EINKORN_JIT_TIMEOUT", bad);
    EXPECT_EQ(thrown_text([&] { nvrtc_worker_compiler().compile(inputs); }),
              fmt::format("EINKORN_JIT_TIMEOUT: expected seconds above 0, got \"{}\"", bad));
  }
}

TEST_F(WorkerPoolTest, ALimitOfTheEnvironmentHoldsWhereNoCompilerIsNamed) {
  const Variable variable("EINKORN_JIT_TIMEOUT", "0.25");
  EXPECT_THAT(nvrtc_compiler().refusal(small_inputs()).value_or(""),
              HasSubstr("EINKORN_JIT_TIMEOUT is set"));
  EXPECT_THAT(thrown_text([] {
                compile({.source = kEndless, .instantiate = "endless", .arch = "sm_90a"});
              }),
              HasSubstr("still compiling after 0.25 s"));
}

TEST(SlowNoticeTest, WarnsOfWhatTakesLongOnly) {
  std::mutex mutex;
  std::vector<std::string> said;
  set_warning_handler([&](const std::string& text) {
    const std::lock_guard lock(mutex);
    said.push_back(text);
  });
  const auto count = [&] {
    const std::lock_guard lock(mutex);
    return said.size();
  };
  {
    const SlowNotice notice("soon over", std::chrono::hours(1));
  }
  {
    const SlowNotice notice("takes long", milliseconds(1));
    for (int i = 0; i < 5000 && count() == 0; ++i) std::this_thread::sleep_for(milliseconds(1));
  }
  set_warning_handler({});
  EXPECT_THAT(said, testing::ElementsAre("takes long"));
}

TEST_F(WorkerPoolTest, ACrashLeavesUsAndThePoolAlone) {
  // A sanitizer in the worker would turn the signal into an exit of its own.
  spec_.environment = {"ASAN_OPTIONS=handle_segv=0", "TSAN_OPTIONS=handle_segv=0",
                       "UBSAN_OPTIONS=handle_segv=0"};
  WorkerPool pool(1);
  pool.compile(spec_, small_inputs(), 100);
  const pid_t worker = pool.idle_pids().at(0);
  std::thread killer([&pool, worker] {
    while (!pool.idle_pids().empty()) std::this_thread::sleep_for(milliseconds(1));
    std::this_thread::sleep_for(milliseconds(300));  // now it compiles
    kill(worker, SIGSEGV);
  });
  EXPECT_THAT(thrown_text([&] { pool.compile(spec_, inputs_of(kEndless, "endless"), 100); }),
              StartsWith("jit: k.cu: the compiler crashed: signal 11 (Segmentation fault)\n"
                         "  entry: endless  arch: sm_90a  compiler: nvrtc, in a worker  key: "));
  killer.join();
  EXPECT_EQ(failure_text(pool.compile(spec_, small_inputs(), 100)), "");

  // One that died while it was idle is nobody's error.
  const pid_t idle = pool.idle_pids().at(0);
  kill(idle, SIGKILL);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(idle), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(failure_text(pool.compile(spec_, small_inputs(), 100)), "");
  EXPECT_NE(pool.idle_pids().at(0), idle);
}

TEST_F(WorkerPoolTest, WorkersDieWithTheirParent) {
  for (const bool busy : {false, true}) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t parent = fork();
    if (parent == 0) {
      WorkerPool pool(1);
      pool.compile(spec_, small_inputs(), 100);
      const pid_t worker = pool.idle_pids().at(0);
      std::thread work([&] {
        if (busy) pool.compile(spec_, inputs_of(kEndless, "endless"), 100);
      });
      std::this_thread::sleep_for(milliseconds(busy ? 200 : 0));
      if (write(pipe_ends[1], &worker, sizeof(worker)) < 0) _exit(1);
      kill(getpid(), SIGKILL);
    }
    pid_t worker = 0;
    ASSERT_EQ(read(pipe_ends[0], &worker, sizeof(worker)), static_cast<ssize_t>(sizeof(worker)));
    waitpid(parent, nullptr, 0);
    EXPECT_TRUE(dies_soon(worker)) << (busy ? "busy" : "idle");
    close(pipe_ends[0]);
    close(pipe_ends[1]);
  }
}

TEST_F(WorkerPoolTest, WorkersEndWithThePool) {
  pid_t worker = 0;
  {
    WorkerPool pool(1);
    pool.compile(spec_, small_inputs(), 100);
    worker = pool.idle_pids().at(0);
  }
  EXPECT_TRUE(is_dead(worker));
}

TEST_F(WorkerPoolTest, AForkedChildHasAPoolOfItsOwn) {
  nvrtc_worker_compiler().compile(small_inputs());
  const auto before = worker_pool().idle_pids();
  ASSERT_FALSE(before.empty());
  const pid_t child = fork();
  if (child == 0) {
    const bool empty = worker_pool().idle_pids().empty();
    const Outcome outcome = nvrtc_worker_compiler().compile(small_inputs(1));
    const bool own = worker_pool().idle_pids().at(0) != before.at(0);
    _exit(empty && own && outcome.artifact != nullptr ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(worker_pool().idle_pids(), before);
  EXPECT_EQ(failure_text(nvrtc_worker_compiler().compile(small_inputs())), "");
}

TEST_F(WorkerPoolTest, IsOneNvrtcWithTheInProcessOne) {
  EXPECT_EQ(nvrtc_worker_compiler().identity(), nvrtc_compiler().identity());
  CompileInputs inputs = small_inputs();
  inputs.time_limit = 100;  // which the one in process refuses
  EXPECT_EQ(nvrtc_worker_compiler().refusal(inputs), std::nullopt);
  inputs.target = Target::kCpu;
  EXPECT_NE(nvrtc_worker_compiler().refusal(inputs), std::nullopt);
}

TEST(Worker, ProgramsThatAreNoWorkers) {
  const FileTree files;
  WorkerPool pool(1);
  const auto text = [&](const std::string& script) {
    const WorkerSpec spec{files.write_script("worker", script), {}};
    return thrown_text([&] { pool.compile(spec, small_inputs(), 20); });
  };
  EXPECT_THAT(text("kill -SEGV $$\n"), HasSubstr("crashed: signal 11 (Segmentation fault)"));
  EXPECT_THAT(text("exit 127\n"), HasSubstr("gave no answer: exit status 127"));
  EXPECT_THAT(text("exit 127\n"), HasSubstr("hint: it has to be the einkorn_jit_worker"));
  EXPECT_THAT(text("cat >&0\n"), HasSubstr("gave no answer"));  // sends the request back
  const WorkerSpec gone{files.path("gone"), {}};
  EXPECT_THAT(thrown_text([&] { pool.compile(gone, small_inputs(), 20); }),
              HasSubstr("cannot start " + files.path("gone")));
  EXPECT_THAT(pool.idle_pids(), IsEmpty());
}

TEST(Worker, LimitOfWorkers) {
  {
    const Variable variable("EINKORN_JIT_WORKERS", "3");
    EXPECT_EQ(worker_limit(), 3u);
  }
  const Variable none("EINKORN_JIT_WORKERS", std::nullopt);
  EXPECT_GE(worker_limit(), 1u);
  EXPECT_LE(worker_limit(), std::max(1U, std::thread::hardware_concurrency()));
  for (const char* bad : {"0", "-1", "many", "1025", "2 "}) {
    const Variable variable("EINKORN_JIT_WORKERS", bad);
    EXPECT_EQ(
        thrown_text([] { worker_limit(); }),
        fmt::format("EINKORN_JIT_WORKERS: expected a number from 1 to 1024, got \"{}\"", bad));
  }
}

}  // namespace
}  // namespace einkorn::jit
