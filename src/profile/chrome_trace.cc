#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/profile/timeline.h"

namespace einkorn::profile {
namespace {

using Json = nlohmann::ordered_json;

Json metadata(const char* what, std::uint32_t thread, const std::string& name) {
  return {{"name", what}, {"ph", "M"}, {"pid", 0}, {"tid", thread}, {"args", {{"name", name}}}};
}

}  // namespace

std::string chrome_trace(const Timeline& timeline, const std::string& title) {
  Json events = Json::array();
  events.push_back(metadata("process_name", 0, title));
  std::set<std::uint32_t> streams;
  for (const Span& span : timeline.kernels) {
    if (span.duration_us <= 0) continue;
    if (streams.insert(span.stream).second) {
      events.push_back(metadata("thread_name", span.stream, fmt::format("stream {}", span.stream)));
    }
    events.push_back({{"name", span.name},
                      {"cat", "kernel"},
                      {"ph", "X"},
                      {"pid", 0},
                      {"tid", span.stream},
                      {"ts", span.start_us},
                      {"dur", span.duration_us},
                      {"args",
                       {{"kernel", span.kernel},
                        {"grid", {span.grid.x, span.grid.y, span.grid.z}},
                        {"block", {span.block.x, span.block.y, span.block.z}},
                        {"registers", span.registers}}}});
  }
  const Json out{{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}};
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace einkorn::profile
