#pragma once

namespace rowops {

class Counter {
 public:
  void add(long count) { total_ += count; }
  long total() const { return total_; }

 private:
  long total_ = 0;
};

}  // namespace rowops
