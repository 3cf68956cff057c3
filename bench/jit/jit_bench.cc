// What the JIT costs, one measurement a process, as one line of JSON: bench/jit/run.py starts it.
//
// einkorn_jit_bench <what> FILE ENTRY:
// - cold: the first compile of a process, file to launched, or to compiled without a GPU;
// - compile: the same without opening the driver;
// - second: as cold, after another compile;
// - warm: a process whose cache has it, to the loaded module;
// - hit: one look-up in memory.
// einkorn_jit_bench serial N: N kernels in this process, one after the other; pool N: the same
// through the workers; share N K OF: in this process each OF-th of them from number K on.
//
// EINKORN_CACHE_DIR is the caller's: an empty folder makes it cold.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <einkorn/jit.h>
#include <einkorn/tensor.h>
#include <fmt/format.h>

#include "ops/norm/rms_norm/params.h"
#include "src/jit/batch.h"
#include "src/jit/worker_pool.h"

namespace {

using namespace einkorn;  // NOLINT(google-build-using-namespace): a program of one file
using Clock = std::chrono::steady_clock;

constexpr std::string_view kArchWithoutGpu = "sm_90a";
constexpr int kCols = 4096;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::string arch_here() {
  return cuda::available() ? jit::native_arch(cuda::device_info(0).cc)
                           : std::string(kArchWithoutGpu);
}

jit::Request request_for(const char* file, const char* entry) {
  return {.file = file, .instantiate = entry, .arch = arch_here()};
}

/// The driver's own start, which is not ours to measure: context and first stream.
std::optional<cuda::OwnedStream> start_driver() {
  if (!cuda::available()) return std::nullopt;
  return std::optional<cuda::OwnedStream>(std::in_place, 0);
}

/// One row of rms_norm, or add_constant of nothing; made before the clock runs.
struct SmallProblem {
  Tensor memory = Tensor::empty({3, kCols}, kBF16, {DeviceKind::kCuda, 0});

  void launch(const jit::Program& program, const cuda::OwnedStream& stream) const {
    const jit::Kernel kernel = program.kernel();
    if (program.name() == "add_constant.cuh") {
      kernel.launch({.grid = {1}, .block = {256}}, stream.get(), TensorView(), TensorView(), 0);
    } else {
      auto* first = static_cast<std::uint16_t*>(memory.view().data());
      rms_norm::Params params{};
      params.x = first;
      params.weight = first + kCols;
      params.y = first + 2 * kCols;
      params.rows = 1;
      params.x_stride = params.y_stride = params.cols = kCols;
      params.inverse_cols = 1.0F / kCols;
      params.eps = 1e-6F;
      kernel.launch({.grid = {1}, .block = {256}}, stream.get(), jit::Argument::bytes_of(params));
    }
    stream.synchronize();
  }
};

void cold(const jit::Request& request, const std::optional<cuda::OwnedStream>& stream) {
  std::optional<SmallProblem> problem;
  if (stream) problem.emplace();
  const auto start = Clock::now();
  const jit::Program program = jit::compile(request);
  const double compiled = ms_since(start);
  if (stream) problem->launch(program, *stream);
  fmt::print("{{\"compiled_ms\": {:.3f}, \"launched_ms\": {}, \"compilations\": {}}}\n", compiled,
             stream ? fmt::format("{:.3f}", ms_since(start)) : "null", jit::compile_count());
}

void second(const jit::Request& request, const std::optional<cuda::OwnedStream>& stream) {
  jit::compile({.file = "first.cu",
                .source = "extern \"C\" __global__ void first(float* p) { *p = 1; }",
                .instantiate = "first",
                .arch = request.arch});
  cold(request, stream);
}

void warm(const jit::Request& request, const std::optional<cuda::OwnedStream>& stream) {
  const auto start = Clock::now();
  const jit::Program program = jit::compile(request);
  const double found = ms_since(start);
  // Loads the module where a driver is.
  if (stream) static_cast<void>(program.kernel());
  const double loaded = ms_since(start);
  fmt::print("{{\"found_ms\": {:.3f}, \"loaded_ms\": {}, \"compilations\": {}}}\n", found,
             stream ? fmt::format("{:.3f}", loaded) : "null", jit::compile_count());
}

void hit(const jit::Request& request) {
  constexpr int kCalls = 200'000;
  jit::compile(request);
  std::vector<double> rounds;
  for (int round = 0; round < 9; ++round) {
    const auto start = Clock::now();
    for (int i = 0; i < kCalls; ++i) static_cast<void>(jit::compile(request));
    rounds.push_back(ms_since(start) * 1e6 / kCalls);
  }
  std::ranges::sort(rounds);
  fmt::print("{{\"hit_ns\": {:.1f}}}\n", rounds[rounds.size() / 2]);
}

/// Kernels of the weight of a real one, each with a key of its own. Not for the device here, which
/// the driver would have to be started for, in each of many processes at once.
std::vector<jit::Request> many(int count) {
  std::vector<jit::Request> out;
  for (int i = 0; i < count; ++i) {
    const int lanes = 32 << (i % 4);
    out.push_back({.file = "ops/norm/rms_norm/smxx/rows_v1.cu",
                   .instantiate = fmt::format(
                       "einkorn::rms_norm::smxx::rows_v1<einkorn::rms_norm::Traits<einkorn::bf16, "
                       "einkorn::bf16, einkorn::none, 0, false, false>, 8, 16, {}, {}, 1, {}>",
                       lanes, 1 << (i / 4 % 3), i % 2 == 0),
                   .arch = std::string(kArchWithoutGpu),
                   .options = {fmt::format("-DEK_BENCH={}", i)}});
  }
  return out;
}

/// Of `count` kernels each `of`-th from number `first` on, one after the other.
void serial(int count, int first = 0, int of = 1) {
  const std::vector<jit::Request> requests = many(count);
  const auto start = Clock::now();
  for (int i = first; i < count; i += of) jit::compile(requests[static_cast<std::size_t>(i)]);
  fmt::print("{{\"kernels\": {}, \"ms\": {:.1f}}}\n", (count - first + of - 1) / of,
             ms_since(start));
}

void pool(int count) {
  const std::vector<jit::Request> requests = many(count);
  const auto start = Clock::now();
  for (const jit::BatchResult& one : jit::compile_all(requests, {})) {
    if (one.error) throw Error(*one.error);
  }
  fmt::print("{{\"kernels\": {}, \"ms\": {:.1f}, \"cores\": {}}}\n", count, ms_since(start),
             jit::worker_limit());
}

int number(std::string_view text) {
  int out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

int run(std::span<char*> words) {
  const std::string_view what = words.size() > 1 ? words[1] : "";
  if (words.size() == 3 && (what == "serial" || what == "pool")) {
    what == "serial" ? serial(number(words[2])) : pool(number(words[2]));
    return 0;
  }
  if (words.size() == 5 && what == "share") {
    serial(number(words[2]), number(words[3]), std::max(1, number(words[4])));
    return 0;
  }
  if (words.size() != 4) {
    fmt::print(stderr,
               "usage: einkorn_jit_bench cold|compile|second|warm|hit FILE ENTRY, or "
               "serial|pool N, or share N K OF\n");
    return 2;
  }
  if (what == "compile") {  // as cold, without the driver
    cold({.file = words[2], .instantiate = words[3], .arch = std::string(kArchWithoutGpu)}, {});
    return 0;
  }
  const auto stream = start_driver();
  const jit::Request request = request_for(words[2], words[3]);
  if (what == "cold") cold(request, stream);
  if (what == "second") second(request, stream);
  if (what == "warm") warm(request, stream);
  if (what == "hit") hit(request);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv, static_cast<std::size_t>(argc)});
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
