#include "src/jit/slow_notice.h"

#include <utility>

#include "src/core/warning.h"

namespace einkorn::jit {

SlowNotice::SlowNotice(std::string text, std::chrono::milliseconds after)
    : thread_([this, text = std::move(text), after] {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, after, [&] { return over_; })) warn_once(text);
      }) {}

SlowNotice::~SlowNotice() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

}  // namespace einkorn::jit
