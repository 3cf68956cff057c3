#include "src/jit/file_job.h"

#include <utility>

#include "src/jit/depfile.h"
#include "src/jit/diagnostics.h"
#include "src/jit/failure.h"
#include "src/jit/time_limit.h"

namespace einkorn::jit {

FileJob::FileJob(const CompileInputs& inputs, std::string label, std::string_view appended,
                 std::span<const std::filesystem::path> excluded, double default_limit)
    : inputs_(inputs),
      label_(std::move(label)),
      sources_(scratch_, inputs.sources, appended, excluded),
      run_(inputs, label_, time_limit_of(inputs, default_limit)) {}

bool FileJob::run(const std::vector<std::string>& argv) {
  return run_.run(argv, sources_.path(), {"TMPDIR=.."});
}

Outcome FileJob::failure(const std::string& log) const {
  Outcome outcome;
  outcome.failure = compile_failure(inputs_, label_, sources_.with_names(log));
  return outcome;
}

std::shared_ptr<Artifact> FileJob::artifact(std::string_view file,
                                            std::span<const std::string> lowered) const {
  auto out = std::make_shared<Artifact>();
  out->target = inputs_.target;
  out->image = scratch_.read_bytes(file);
  out->log = sources_.with_names(run_.log());
  out->compiler = label_;
  out->entries = entry_points(inputs_.entries, lowered, out->log);
  out->compile_ms = run_.elapsed_ms();
  return out;
}

std::vector<std::string> FileJob::dependencies(std::string_view depfile) const {
  return dependencies_outside(scratch_.read(depfile), sources_.path(), scratch_.path());
}

}  // namespace einkorn::jit
