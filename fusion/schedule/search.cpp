#include "search.hpp"

#include <algorithm>
#include <utility>

namespace plait::fusion {
using tracer::NodeKind;

namespace {

// Deeper chains are cut: lowering recurses, and a region gains nothing from more.
constexpr int kMaxDepth = 200;
// How much dearer the other way may be for the offer to stay open.
constexpr double kClose = 1.5;

bool same_offer(const Edit& a, const Edit& b) { return a.kind == b.kind && a.node == b.node; }

// What the graph itself asks for.
void place(Candidate& c, std::int32_t i) {
  const PlanNode& gn = c.problem().graph[i];
  if (gn.wanted) c.add_root(i, "wanted");
  if (gn.node->kind == NodeKind::Update && !c.read_mode(i).in_parts()) {
    c.add_root(i, "a write to storage");
    c.add_own_root(gn.in[0], "a write to it");
  }
  if (gn.node->kind == NodeKind::Gather) c.add_root(gn.in[0], "gathered from");
}

}  // namespace

Search::Search(const Problem& p, Rules rules) : problem_(p), rules_(rules) { start(); }

Search::Search(const Problem& p, Rules rules, Fork from)
    : problem_(p),
      rules_(rules),
      best_(std::move(from.candidate)),
      at_(from.at),
      depth_(std::move(from.depth)),
      decided_(std::move(from.decided)),
      for_good_(decided_.size()),
      left_at_(decided_.back()),
      considered_(std::move(from.considered)) {
  go_on();
}

void Search::start() {
  considered_.clear();
  forks_.clear();
  best_ = std::make_unique<Candidate>(problem_);
  depth_.assign(problem_.graph.nodes.size(), 0);
  at_ = {};
  go_on();
}

// The rules from where the search is.
template <class Ask>
void Search::ask_rules(Ask&& ask) {
  for (; at_.rule < rules_.size(); ++at_.rule) {
    ask(*rules_[at_.rule]);
    decided_.resize(for_good_);
  }
  at_.rule = 0;
}

void Search::go_on() {
  Candidate& c = *best_;
  const PlanGraph& g = problem_.graph;
  if (at_.phase == Position::Begin) {
    ask_rules([&](const Rule& r) { r.begin(c, *this); });
    at_.phase = Position::Visit;
  }
  for (; at_.phase == Position::Visit && at_.node < g.size(); ++at_.node) {
    const std::int32_t i = at_.node;
    if (g[i].leaf) continue;
    problem_.budget.check(0);
    if (at_.rule == 0) place(c, i);
    const unsigned kind = of_kind(g[i].node->kind);
    ask_rules([&](const Rule& r) {
      if (r.visits() & kind) r.visit(c, i, *this);
    });
    for (std::int32_t in : g[i].in)
      if (in >= 0 && !c.is_root(problem_.canon[in]))
        depth_[i] = std::max(depth_[i], depth_[in] + 1);
    // Parts and views are read where what they show is computed.
    const NodeKind cut = g[i].node->kind;
    if (depth_[i] > kMaxDepth && cut != NodeKind::View && cut != NodeKind::Update &&
        c.add_root(i, "the chain before it is long"))
      depth_[i] = 0;
  }
  if (at_.phase == Position::Visit) at_.phase = Position::Revise;
  if (at_.phase == Position::Revise) ask_rules([&](const Rule& r) { r.revise(c, *this); });
  at_.phase = Position::Regions;
}

std::vector<Step> Search::regions() {
  std::vector<Step> steps;
  changed_ = true;
  while (withdrawn_ || changed_) {
    if (withdrawn_) {
      decided_.push_back({*std::exchange(withdrawn_, std::nullopt), false});
      for_good_ = decided_.size();
      start();
    }
    steps = best_->regions();
    changed_ = false;
    ask_rules([&](const Rule& r) {
      if (!changed_) r.revise_regions(*best_, steps, *this);
    });
  }
  return steps;
}

void Search::require(const Edit& e) { changed_ |= best_->apply(e); }

bool Search::make(const Offer& o) {
  const Edit& first = *o.edits.begin();
  if (const Decision* const d = decided(first)) return answer(o, d->take);
  const bool take = o.instead < o.as_is;
  leave_fork(o, take);
  decided_.push_back({first, take});
  return answer(o, take);
}

bool Search::make_exact(const Edit& e, const Costs& c) {
  const Decision* const d = decided(e);
  return answer({{e}, c.as_is, c.instead}, !d || d->take);
}

// In front of a fork, or where the offer was withdrawn.
const Decision* Search::decided(const Edit& offered) const {
  const auto d = std::find_if(decided_.begin(), decided_.end(),
                              [&](const Decision& k) { return same_offer(k.offered, offered); });
  return d == decided_.end() ? nullptr : &*d;
}

bool Search::answer(const Offer& o, bool take) {
  const Edit& first = *o.edits.begin();
  considered_.push_back({first.node, first.why, o.as_is, o.instead, take});
  if (!take) return false;
  bool changed = false;
  for (const Edit& e : o.edits) changed |= best_->apply(e);
  changed_ |= changed;
  return changed;
}

// Where what is at stake is worth planning the graph once more. The rule will be asked again there,
// with the answers so far.
void Search::leave_fork(const Offer& o, bool taken) {
  const double a = o.as_is - o.common, b = o.instead - o.common;
  const double least = std::min(a, b), most = std::max(a, b);
  if (most > kClose * least ||
      most < problem_.target.machine->plan_node * static_cast<double>(problem_.graph.size()))
    return;
  std::vector<Decision> decided = decided_;
  decided.push_back({*o.edits.begin(), !taken});
  forks_.push_back(
      {std::make_unique<Candidate>(*best_), at_, depth_, considered_, std::move(decided), most});
}

}  // namespace plait::fusion
