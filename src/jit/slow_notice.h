#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace einkorn::jit {

/// Warns once when it still lives after `after`: for work that nobody can end.
class SlowNotice {
 public:
  SlowNotice(std::string text, std::chrono::milliseconds after);
  ~SlowNotice();
  SlowNotice(const SlowNotice&) = delete;
  SlowNotice& operator=(const SlowNotice&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace einkorn::jit
