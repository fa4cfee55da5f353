#include "search.hpp"

#include <algorithm>
#include <utility>

namespace plait::fusion {
using tracer::Node;
using tracer::NodeKind;

namespace {

// Deeper chains are cut: lowering recurses, and a region gains nothing from more.
constexpr int kMaxDepth = 200;
// How much dearer the other way may be for the offer to stay open.
constexpr double kClose = 1.5;

bool same_offer(const Edit& a, const Edit& b) { return a.kind == b.kind && a.node == b.node; }

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

Search::Search(const Problem& p, Rules rules, std::vector<Decision> decided)
    : problem_(p), rules_(rules), decided_(std::move(decided)) {
  start();
}

void Search::start() {
  considered_.clear();
  open_.clear();
  Candidate& c = best_.emplace(problem_, parted_);
  const Graph& g = problem_.graph;
  std::vector<int> depth(g.nodes.size());
  for (std::int32_t i = 0; i < g.size(); ++i) {
    if (g[i].leaf) continue;
    problem_.budget.check(0);
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
  bool take = o.instead < o.as_is;
  if (o.as_is != kImpossible) {
    const Edit& first = *o.edits.begin();
    const auto d = std::find_if(decided_.begin(), decided_.end(),
                                [&](const Decision& k) { return same_offer(k.offered, first); });
    if (d != decided_.end())
      take = d->take;
    else
      leave_open(o, take);
    considered_.push_back({first.node, first.why, o.as_is, o.instead, take});
  }
  if (!take) return false;
  bool changed = false;
  for (const Edit& e : o.edits) changed |= best_->apply(e);
  changed_ |= changed;
  return changed;
}

// Where what is at stake is worth planning the graph once more.
void Search::leave_open(const Offer& o, bool taken) {
  const double a = o.as_is - o.common, b = o.instead - o.common;
  const double least = std::min(a, b), most = std::max(a, b);
  if (most > kClose * least ||
      most < problem_.target.machine->plan_node * static_cast<double>(problem_.graph.size()))
    return;
  const Edit& first = *o.edits.begin();
  if (std::none_of(open_.begin(), open_.end(),
                   [&](const Decision& k) { return same_offer(k.offered, first); }))
    open_.push_back({first, !taken, most});
}

}  // namespace plait::fusion
