#include "traffic.hpp"

#include <algorithm>
#include <map>

namespace plait::fusion {
using tracer::NodeKind;

namespace {

class Counting {
 public:
  Counting(const PlanGraph& g, std::span<const Step> steps) : g_(g), steps_(steps) {}

  Traffic count() const {
    Traffic t;
    std::set<Read> all;  // of what was in memory before
    for (const Step& s : steps_) {
      std::set<Read> reads = s.lowered.reads;
      if (s.kind == StepKind::Direct)
        for (std::int32_t in : operands(g_, s.region.roots[0], s.epilogue))
          if (g_[in].node->kind != NodeKind::Scalar) reads.insert({in, in});
      std::int64_t moved = bytes_read(reads);
      for (std::int32_t r : s.region.roots) moved += bytes_written(r, s.update);
      t.moved.push_back(moved);
      t.all += moved;
      for (const Read& r : reads)
        if (g_[r.node].leaf) all.insert(r);
    }
    t.least = bytes_read(all);
    for (std::int32_t n = 0; n < g_.size(); ++n)
      if (g_[n].wanted) t.least += bytes_to_change(n);
    return t;
  }

 private:
  static std::int64_t bytes(const Number& elements, DType t) {
    return saturated_product(elements.estimate(), static_cast<std::int64_t>(itemsize(t)));
  }
  std::int64_t bytes(std::int32_t n) const {
    return bytes(g_[n].node->elements, g_[n].node->dtype);
  }
  static std::int64_t view_bytes(const Node& update) {
    return bytes(element_count(update.view_extents), update.view_dtype);
  }

  // Distinct elements: an axis of stride 0 is one.
  std::int64_t bytes_through(std::int32_t view) const {
    const Node& n = *g_[view].node;
    Number b = static_cast<std::int64_t>(itemsize(n.dtype));
    for (int d = 0; d < n.extents.size(); ++d)
      if (n.byte_strides[d] != 0) b *= n.extents[d];
    return b.estimate();
  }

  // Views of one node may overlap; together they read no more than the whole.
  std::int64_t bytes_read(const std::set<Read>& reads) const {
    std::map<std::int32_t, std::int64_t> of_node;
    for (const Read& r : reads)
      of_node[r.node] += r.node == r.through ? bytes(r.node) : bytes_through(r.through);
    std::int64_t sum = 0;
    for (const auto& [node, b] : of_node) sum += std::min(b, bytes(node));
    return sum;
  }

  // A fresh version is a copy of the old one, read and written, and the change.
  std::int64_t bytes_written(std::int32_t root, UpdateMode update) const {
    const Node& n = *g_[root].node;
    if (n.kind != NodeKind::Update) return bytes(root);
    return view_bytes(n) + (update == UpdateMode::InPlace ? 0 : 2 * bytes(root));
  }

  // What writes in place would store.
  std::int64_t bytes_to_change(std::int32_t n) const {
    std::int64_t changed = 0;
    const std::int64_t whole = bytes(n);
    while (!g_[n].leaf && g_[n].node->kind == NodeKind::Update) {
      changed += view_bytes(*g_[n].node);
      n = g_[n].in[0];
    }
    return g_[n].leaf ? std::min(changed, whole) : whole;
  }

  const PlanGraph& g_;
  const std::span<const Step> steps_;
};

}  // namespace

Traffic traffic_of(const PlanGraph& g, std::span<const Step> steps) {
  return Counting(g, steps).count();
}

void count_traffic(const PlanGraph& g, Plan& p) {
  const Traffic t = traffic_of(g, p.steps);
  for (std::size_t s = 0; s < p.steps.size(); ++s) p.steps[s].lowered.bytes = t.moved[s];
  p.bytes_moved = t.all;
  p.bytes_least = t.least;
}

}  // namespace plait::fusion
