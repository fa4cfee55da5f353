#include "search.hpp"

#include <algorithm>
#include <utility>

namespace plait::fusion {
using tracer::Node;
using tracer::NodeKind;

namespace {

// Deeper chains are cut: lowering recurses, and a region gains nothing from more.
constexpr int kMaxDepth = 200;

// What the graph itself asks for.
void place(Candidate& c, std::int32_t i) {
  const GNode& gn = c.problem().graph[i];
  if (gn.wanted) c.add_root(i, "wanted");
  if (gn.node->kind == NodeKind::Update && !c.packs(i)) {
    c.add_root(i, "a write to storage");
    c.add_own_root(gn.in[0], "a write to it");
  }
  if (gn.node->kind == NodeKind::View && !gn.map && !c.packs(gn.in[0]) && !c.unfolded(i))
    c.add_root(gn.in[0], "a view that changes its shape reads it");
  if (gn.node->kind == NodeKind::Gather) c.add_root(gn.in[0], "gathered from");
}

}  // namespace

Search::Search(const Problem& p, Rules rules) : problem_(p), rules_(rules) { start(); }

void Search::start() {
  considered_.clear();
  Candidate& c = best_.emplace(problem_, parted_);
  const Graph& g = problem_.graph;
  std::vector<int> depth(g.nodes.size());
  for (std::int32_t i = 0; i < g.size(); ++i) {
    if (g[i].leaf) continue;
    place(c, i);
    const unsigned kind = of_kind(g[i].node->kind);
    for (const Rule* r : rules_)
      if (r->visits() & kind) r->visit(c, i, *this);
    if (c.multiplies(i)) c.place_operands(i);
    for (std::int32_t in : g[i].in)
      if (in >= 0 && !c.is_root(problem_.canon[in])) depth[i] = std::max(depth[i], depth[in] + 1);
    if (depth[i] > kMaxDepth && c.add_root(i, "the chain before it is long")) depth[i] = 0;
  }
  c.settle_products();
  for (const Rule* r : rules_) r->revise(c, *this);
}

std::vector<Step> Search::regions() {
  std::vector<Step> steps = best_->regions();
  for (changed_ = true; std::exchange(changed_, false);) {
    for (const Rule* r : rules_)
      if (!changed_) r->revise_regions(*best_, steps, *this);
    changed_ = changed_ || best_->keep_products(steps);
    if (changed_) steps = best_->regions();
  }
  const std::optional<std::int32_t> parted = best_->parted_attention();
  if (!parted) return steps;
  parted_.insert(*parted);
  start();
  return regions();
}

bool Search::make(const Offer& o) {
  const bool better = o.instead < o.as_is;
  if (o.as_is != kImpossible) {
    const Edit& first = *o.edits.begin();
    considered_.push_back({first.node, first.why, o.as_is, o.instead});
  }
  if (!better) return false;
  bool changed = false;
  for (const Edit& e : o.edits) changed |= best_->apply(e);
  changed_ |= changed;
  return changed;
}

}  // namespace plait::fusion
