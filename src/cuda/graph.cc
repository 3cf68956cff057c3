#include <einkorn/cuda.h>
#include <fmt/format.h>

#include "src/cuda/driver.h"
#include "src/cuda/stream.h"

namespace einkorn::cuda {

void Graph::begin(Stream stream) {
  const CUstream handle = native(stream);
  const ContextGuard guard(stream.device.index);
  check(driver().cuStreamBeginCapture_v2(handle, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
        "starting to capture a graph");
}

void Graph::abandon(Stream stream) {
  const ContextGuard guard(stream.device.index);
  CUgraph graph = nullptr;
  // The caller is about to see the error that ended the capture; this one would hide it.
  driver().cuStreamEndCapture(native(stream), &graph);
  if (graph != nullptr) driver().cuGraphDestroy(graph);
}

Graph Graph::end(Stream stream) {
  const Driver& d = driver();
  const ContextGuard guard(stream.device.index);
  CUgraph recorded = nullptr;
  check(d.cuStreamEndCapture(native(stream), &recorded), "ending the capture of a graph");
  const std::shared_ptr<void> owner(
      recorded, [](void* graph) { driver().cuGraphDestroy(static_cast<CUgraph>(graph)); });
  CUgraphExec exec = nullptr;
  check(d.cuGraphInstantiateWithFlags(&exec, recorded, 0), "making a graph ready to run");
  Graph graph;
  graph.exec_ = std::shared_ptr<void>(
      exec, [](void* handle) { driver().cuGraphExecDestroy(static_cast<CUgraphExec>(handle)); });
  return graph;
}

void Graph::replay(Stream stream) const {
  const CUstream handle = native(stream);
  const ContextGuard guard(stream.device.index);
  check(driver().cuGraphLaunch(static_cast<CUgraphExec>(exec_.get()), handle),
        [&] { return fmt::format("replaying a graph on {}", to_string(stream.device)); });
}

}  // namespace einkorn::cuda
