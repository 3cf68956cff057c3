#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <einkorn/device.h>

namespace einkorn::cuda {

/// Streams that leave a main one and come back to it: what is queued on them starts after all that
/// was on the main stream before, and what is queued on that after join() waits for them. Works in
/// a capture as well, where it becomes the graph's branches.
///
/// Streams and events come from a pool and go back once they are joined: their order keeps the next
/// user behind the last one.
class SideStreams {
 public:
  SideStreams(std::size_t count, Stream main);
  /// Joins what is still apart, so that a capture stays whole when an error passes.
  ~SideStreams();
  SideStreams(const SideStreams&) = delete;
  SideStreams& operator=(const SideStreams&) = delete;

  Stream operator[](std::size_t index) const;
  void join();

  struct Lane;

 private:
  Stream main_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  bool joined_ = false;
};

}  // namespace einkorn::cuda
