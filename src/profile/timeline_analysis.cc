// What a list of kernels with their times says: overlap, gaps, branches.

#include <algorithm>
#include <utility>

#include "src/profile/timeline.h"

namespace einkorn::profile {
namespace {

struct Edge {
  double at;
  int change;  ///< 1: something starts, -1: ends
};

using Interval = std::pair<double, double>;

/// Time in which at least `depth` of the intervals are open.
double covered(const std::vector<Interval>& intervals, int depth) {
  std::vector<Edge> edges;
  for (const auto& [begin, end] : intervals) {
    edges.push_back({begin, 1});
    edges.push_back({end, -1});
  }
  // An end before a start at the same time: touching is no overlap.
  std::ranges::sort(edges, [](const Edge& a, const Edge& b) {
    return a.at != b.at ? a.at < b.at : a.change < b.change;
  });
  double total = 0;
  double since = 0;
  int open = 0;
  for (const Edge& edge : edges) {
    if (open >= depth) total += edge.at - since;
    since = edge.at;
    open += edge.change;
  }
  return total;
}

/// The intervals with those that touch or overlap joined.
std::vector<Interval> joined(std::vector<Interval> intervals) {
  std::ranges::sort(intervals);
  std::vector<Interval> out;
  for (const Interval& one : intervals) {
    if (!out.empty() && one.first <= out.back().second) {
      out.back().second = std::max(out.back().second, one.second);
    } else {
      out.push_back(one);
    }
  }
  return out;
}

bool ran(const Span& span) { return span.duration_us > 0; }

std::vector<Gap> gaps_of(const std::vector<Span>& kernels) {
  std::vector<const Span*> sorted;
  for (const Span& one : kernels) {
    if (ran(one)) sorted.push_back(&one);
  }
  std::ranges::stable_sort(sorted, {}, [](const Span* one) { return one->start_us; });
  std::vector<Gap> out;
  const Span* last = nullptr;  // of those so far the one that ends last
  for (const Span* one : sorted) {
    if (last != nullptr && one->start_us > last->end_us()) {
      out.push_back({last->name, one->name, one->start_us - last->end_us()});
    }
    if (last == nullptr || one->end_us() > last->end_us()) last = one;
  }
  return out;
}

BranchOverlap overlap_of(const ConcurrentNode& node, const std::vector<Span>& kernels) {
  BranchOverlap out;
  out.name = node.path;
  std::vector<Interval> all;  // of each branch, its time with a kernel
  double first = 0;
  double last = 0;
  for (const std::vector<std::size_t>& branch : node.branches) {
    std::vector<Interval> own;
    for (const std::size_t leaf : branch) {
      const Span& span = kernels[leaf];
      if (!ran(span)) continue;
      if (out.sum_us == 0) first = span.start_us;
      first = std::min(first, span.start_us);
      last = std::max(last, span.end_us());
      out.sum_us += span.duration_us;
      own.emplace_back(span.start_us, span.end_us());
    }
    for (const Interval& one : joined(std::move(own))) all.push_back(one);
  }
  out.span_us = last - first;
  out.overlap_us = covered(all, 2);
  return out;
}

}  // namespace

Timeline analyse(std::vector<Span> kernels, const std::vector<ConcurrentNode>& nodes) {
  Timeline out;
  std::vector<Interval> all;
  for (const Span& one : kernels) {
    if (!ran(one)) continue;
    all.emplace_back(one.start_us, one.end_us());
    out.span_us = std::max(out.span_us, one.end_us());
  }
  out.busy_us = covered(all, 1);
  out.overlap_us = covered(all, 2);
  out.gaps = gaps_of(kernels);
  for (const ConcurrentNode& node : nodes) out.concurrent.push_back(overlap_of(node, kernels));
  out.kernels = std::move(kernels);
  return out;
}

}  // namespace einkorn::profile
