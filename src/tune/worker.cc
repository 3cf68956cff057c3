#include "src/tune/worker.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <einkorn/registry.h>
#include <fmt/format.h>

#include "src/core/file.h"
#include "src/measure/bench.h"
#include "src/measure/check.h"
#include "src/measure/input_sets.h"
#include "src/measure/sampler.h"
#include "src/tune/built.h"
#include "src/tune/protocol.h"

namespace einkorn::tune {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Prepared failed(trials::Status status, std::string reason) {
  Prepared out;
  out.status = status;
  out.reason = std::move(reason);
  return out;
}

/// One prepared candidate. The sampler goes first: it uses the executable.
struct Built {
  std::unique_ptr<Executable> executable;
  std::unique_ptr<measure::Sampler> sampler;
};

/// Everything about one subject.
class Bench {
 public:
  explicit Bench(const Subject& subject)
      : view_(registry()),
        entry_(view_->find(subject.op)),
        variant_(view_->find_variant(entry_, subject.variant)),
        device_(device_info(parse_device(subject.device))),
        problem_(entry_.op->parse(split_key_values(subject.problem))),
        reference_(measure::prepare(entry_, problem_, "tuning", subject.seed)),
        inputs_(measure::make_input_sets(*entry_.op, problem_, device_, subject.seed)) {
    if (is_gpu()) stream_.emplace(device_.device.index);
  }

  int input_sets() const { return static_cast<int>(inputs_.sets.size()); }

  Prepared prepare(const protocol::Prepare& wanted) {
    const auto start = Clock::now();
    Prepared out;
    try {
      out = try_prepare(wanted);
    } catch (...) {
      built_.erase(wanted.id);
      throw;
    }
    if (out.status != trials::Status::kOk) built_.erase(wanted.id);
    out.seconds = seconds_since(start);
    return out;
  }

  Samples sample(const protocol::Sample& wanted) {
    const auto found = built_.find(wanted.id);
    EK_ICHECK(found != built_.end(), fmt::format("candidate {} was not prepared", wanted.id));
    Samples out;
    for (int i = 0; i < wanted.count; ++i) out.us.push_back(found->second.sampler->sample());
    if (!is_gpu()) return out;
    if (const auto clocks = cuda::sample_clocks(device_.device.index)) {
      // NVML's lowest bit says that the device was idle when it was asked: no throttling.
      const std::uint64_t reasons = clocks->throttle_reasons & ~std::uint64_t{1};
      out.sm_mhz = clocks->sm_mhz;
      if (reasons != 0) out.throttle = cuda::describe_throttle(reasons);
    }
    return out;
  }

  void drop(std::size_t id) { built_.erase(id); }

 private:
  bool is_gpu() const { return device_.device.kind == DeviceKind::kCuda; }

  Prepared try_prepare(const protocol::Prepare& wanted) {
    Prepared out;
    const auto refusal = variant_.validate(problem_.get(), device_, wanted.tiling);
    if (refusal) return failed(trials::Status::kInvalid, refusal->reason);
    Built& one = built_[wanted.id] = Built{};
    one.executable = std::make_unique<Executable>(
        variant_.plan(problem_.get(), device_, wanted.tiling), device_);
    out.compiler = compiler_of(one.executable->plan(), device_);
    out.resources = resources_of(one.executable->plan(), device_);
    if (wanted.check) {
      const auto result =
          measure::check_prepared(entry_, variant_, reference_, device_.device, wanted.tiling);
      if (result.status != measure::Status::kPass) {
        if (is_exception(result.reason)) throw_error(ErrorKind::kRuntime, result.reason);
        out.status = trials::Status::kWrong;
        out.reason = result.reason;
        return out;
      }
    }
    const Executable* executable = one.executable.get();
    one.sampler = measure::make_sampler(
        device_.device, stream_ ? &*stream_ : nullptr,
        [this, executable](int set, Stream stream) {
          executable->run(inputs_.sets[static_cast<std::size_t>(set)].args.get(), stream);
        },
        input_sets());
    out.sample_seconds = one.sampler->seconds();
    return out;
  }

  /// Of a check's reason: it came from an exception, not from a comparison.
  static bool is_exception(std::string_view reason) {
    for (const ErrorKind kind :
         {ErrorKind::kType, ErrorKind::kValue, ErrorKind::kNotImplemented, ErrorKind::kRuntime}) {
      if (reason.starts_with(fmt::format("{}: ", name(kind)))) return true;
    }
    return reason.starts_with("threw");
  }

  std::shared_ptr<const Registry> view_;
  const OpEntry& entry_;
  const Variant& variant_;
  const DeviceInfo& device_;
  AnyProblem problem_;
  measure::Prepared reference_;
  measure::InputSets inputs_;
  std::optional<cuda::OwnedStream> stream_;
  std::map<std::size_t, Built> built_;
};

class Worker {
 public:
  protocol::Answer answer(const protocol::Request& request) {
    try {
      return std::visit([this](const auto& one) { return reply(one); }, request);
    } catch (const std::exception& error) {
      if (!device_works()) return protocol::Failure{error.what(), true};
      // Of a candidate: its own result. Of anything else: the parent's to report.
      if (std::holds_alternative<protocol::Prepare>(request)) {
        return failed(trials::Status::kError, error.what());
      }
      return protocol::Failure{error.what(), false};
    }
  }

 private:
  protocol::Answer reply(const Subject& subject) {
    const auto start = Clock::now();
    bench_.reset();
    device_ = parse_device(subject.device);
    bench_.emplace(subject);
    return Started{seconds_since(start), bench_->input_sets()};
  }
  protocol::Answer reply(const protocol::Prepare& one) { return bench().prepare(one); }
  protocol::Answer reply(const protocol::Sample& one) { return bench().sample(one); }
  protocol::Answer reply(const protocol::Drop& one) {
    bench().drop(one.id);
    return protocol::Dropped{};
  }

  Bench& bench() {
    EK_ICHECK(bench_.has_value(), "nothing was started");
    return *bench_;
  }

  /// After an illegal access a context answers every call with the same error.
  bool device_works() const {
    if (device_.kind != DeviceKind::kCuda) return true;
    try {
      const cuda::OwnedStream stream(device_.index);
      stream.synchronize();
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  Device device_;
  std::optional<Bench> bench_;
};

/// The next line of a file; nothing at its end.
class LineReader {
 public:
  explicit LineReader(int file) : file_(file) {}

  std::optional<std::string> next() {
    for (;;) {
      if (const std::size_t end = pending_.find('\n'); end != std::string::npos) {
        std::string line = pending_.substr(0, end);
        pending_.erase(0, end + 1);
        return line;
      }
      char buffer[4096];
      const ssize_t count = read(file_, buffer, sizeof(buffer));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return std::nullopt;
      pending_.append(buffer, static_cast<std::size_t>(count));
    }
  }

 private:
  int file_;
  std::string pending_;
};

/// Candidates may crash, and the core of a process with a problem's tensors takes long to write.
bool leave_no_core() {
  rlimit cores{};
  if (getrlimit(RLIMIT_CORE, &cores) != 0) return false;
  // Unlike 0, 1 byte also counts where cores go to a program.
  cores.rlim_cur = std::min<rlim_t>(cores.rlim_max, 1);
  return setrlimit(RLIMIT_CORE, &cores) == 0;
}

}  // namespace

int serve(int in, int out) {
  std::signal(SIGINT, SIG_IGN);
  LineReader reader(in);
  Worker worker;
  while (const auto line = reader.next()) {
    const std::string answer =
        protocol::print(worker.answer(protocol::parse_request(*line))) + '\n';
    if (write_all(out, std::as_bytes(std::span(answer)))) return 1;  // the parent is gone
  }
  return 0;
}

int serve_standard() {
  if (!leave_no_core()) return 1;
  const int out = dup(STDOUT_FILENO);
  if (out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 1;
  return serve(STDIN_FILENO, out);
}

}  // namespace einkorn::tune
