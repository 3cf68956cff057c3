#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <einkorn/error.h>
#include <einkorn/jit.h>

namespace einkorn::jit {

/// What one request of a batch came to: a program, or why there is none.
struct BatchResult {
  Program program;
  std::optional<Error> error;
  Trace trace;  ///< empty when this process had answered before
};

/// Compiles many requests, on as many workers as there are CPUs: NVRTC compiles one source at a
/// time within a process. Requests that name no compiler go to workers where there are some; one
/// alone is compiled within the process, which is sooner.
/// `done` hears of each as it is finished, one call at a time, from any thread; if it throws, what
/// is not begun is left out and the exception goes on to the caller.
std::vector<BatchResult> compile_all(
    std::span<const Request> requests,
    const std::function<void(std::size_t index, const BatchResult&)>& done);

/// Has what a caller is about to load compiled at once: those of the requests that this process has
/// not answered before, when they are two or more and EINKORN_JIT_WORKERS allows two workers.
/// The workers end with it, since the caller's process may live long. Throws the error of the first
/// request that has one.
void compile_together(std::vector<Request> requests);

}  // namespace einkorn::jit
