#include "legalize.hpp"

#include <utility>

#include "../traffic.hpp"
#include "fusion/lower/reach.hpp"
#include "step_cost.hpp"

namespace plait::fusion {
using tracer::NodeKind;

std::vector<Step> Legalizer::run(Search& search) {
  std::vector<Step> steps;
  removed_.assign(g_.nodes.size(), false);
  std::size_t sound = 0;  // steps that no edit of the time before can have changed
  for (bool again = true; again;) {
    again = false;
    std::vector<Step> before = std::exchange(steps, search.regions());
    const std::size_t settled = std::exchange(sound, 0);
    memory_.restart(search.candidate().roots());
    missing_.assign(g_.nodes.size(), false);
    any_missing_ = false;
    bool unchanged = true;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      Step& s = steps[i];
      unchanged = unchanged && i < settled && before[i].region == s.region;
      if (unchanged)
        s = std::move(before[i]);
      else
        again |= ask(s, search);
      if (!again) sound = i + 1;
      memory_.after(s);
    }
    again = again || remove_unread(steps, search.candidate());
  }
  return steps;
}

LoweringInput Legalizer::input(const Candidate& c) {
  return {g_,
          exprs_,
          p_.canon,
          non_negative_,
          memory_.loadable(),
          facts_,
          p_.budget,
          reuse_,
          p_.target,
          c.any(FoldOrder::Running),
          memory_.owners()};
}

double Legalizer::seconds(const std::vector<Step>& steps, const Candidate& c) {
  std::vector<Step> walked(steps.size());
  memory_.restart(c.roots());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Step& w = walked[i];
    w.kind = steps[i].kind;
    w.region = steps[i].region;
    w.epilogue = steps[i].epilogue;
    w.update = steps[i].update;
    if (w.kind == StepKind::Kernel) w.lowered = survey(input(c), w.region).walked;
    memory_.after(w);
  }
  const Traffic moved = traffic_of(g_, walked);
  double all = 0;
  for (std::size_t i = 0; i < walked.size(); ++i)
    all += step_seconds(p_, walked[i], static_cast<double>(moved.moved[i]));
  return all;
}

// True when the candidate changed.
bool Legalizer::ask(Step& s, Search& search) {
  Candidate& c = search.candidate();
  if (s.kind == StepKind::Direct) return false;
  p_.budget.check(exprs_.size());
  // The next time they are loaded instead.
  if (reads_missing(s.region)) return true;
  const std::int32_t lead = s.region.roots[0];
  const bool update = g_[lead].node->kind == NodeKind::Update,
             takes_over = update && memory_.may_take_over(lead, g_[lead].in[0]);
  FoundOfRegion found = look(s.region, c, takes_over);
  if (provide(found.needs, s, search)) return true;
  if (s.kind == StepKind::Direct) return false;
  s.lowered.repeated = std::move(found.lowered.repeated);
  if (!update) return false;
  s.update = update_mode(found, lead, takes_over);
  return s.update == UpdateMode::None &&
         c.add_root(g_[lead].in[1], "it reads what the write overwrites");
}

// What the region needs, and, where it may take over memory that it writes to, whether it can.
FoundOfRegion Legalizer::look(const RegionSpec& region, const Candidate& c, bool takes_over) {
  const LoweringInput in = input(c);
  facts_.start();
  FoundOfRegion found;
  if (computed_once(in, region)) return found;
  const bool keeps = EqualRegions::may_keep(region);
  if (keeps)
    if (auto known = known_.find(in, region, takes_over)) return *std::move(known);
  ++surveys_;
  Survey s = survey(in, region);
  found.needs = std::move(s.needs);
  found.lowered.repeated = std::move(s.walked.repeated);
  if (takes_over && found.needs.empty()) {
    const std::int32_t update = region.roots[0];
    found.reads_elsewhere = reads_elsewhere(s.walked, g_[update].in[0], update);
  }
  if (keeps) known_.keep(found, facts_);
  return found;
}

bool Legalizer::provide(const std::vector<StoreRequirement>& needs, Step& s, Search& search) {
  Candidate& c = search.candidate();
  const std::int32_t product = s.region.product;
  bool changed = false;
  for (const StoreRequirement& n : needs) {
    if (product >= 0 && (s.region.multiplies(n.node) || c.attention_of(n.node) == product)) {
      call_library(s.region.multiplies(n.node) ? n.node : product, search);
      return true;
    }
    if (c.at(n.node).order == FoldOrder::Running) {
      // A device has no calls: a region of its own may do.
      if (!p_.target.lanes && c.apply({Edit::Store, n.node, "scanned by a region of its own"}))
        return true;
      c.apply({Edit::Call, n.node, "computed by a call"});
      return true;
    }
    if (n.one_walk) {
      c.separate(n.node, *n.one_walk);
      changed = true;
    } else if (c.add_root(n.node, n.why)) {
      changed = true;
      missing_[n.node] = any_missing_ = true;
    } else if (product >= 0) {
      call_library(product, search);
      return true;
    } else if (!changed && s.region.roots.size() > 1) {
      // One of these roots is nothing for loops; an operation is computed alone.
      c.separate(s.region.roots.back(), false);
      changed = true;
    } else if (!changed) {
      // A root of this very region that loops cannot express.
      s.kind = StepKind::Direct;
    }
  }
  if (changed || s.kind != StepKind::Direct) return changed;
  for (const std::int32_t r : s.region.roots)
    for (const std::int32_t i : g_[r].in)
      if (i >= 0) changed |= c.add_own_root(i, "operand of an operation outside the loops");
  return changed;
}

// A product that its region cannot compute. One that is the second of an attention is no attention
// then.
void Legalizer::call_library(std::int32_t product, Search& search) {
  if (search.candidate().attention(product))
    search.withdraw({Edit::Attend, product, ""});
  else
    search.candidate().apply({Edit::Call, product, "computed by a library call"});
}

// Whether the region's value would be made of nodes that have just been put in memory.
bool Legalizer::reads_missing(const RegionSpec& region) {
  if (!any_missing_) return false;
  ++walk_;
  std::vector<std::int32_t> stack(region.roots);
  while (!stack.empty()) {
    const std::int32_t i = stack.back();
    stack.pop_back();
    if (std::exchange(seen_[i], walk_) == walk_) continue;
    if (missing_[i]) return true;
    for (const std::int32_t k : g_[i].in)
      if (k >= 0 && !memory_.loadable()[p_.canon[k]]) stack.push_back(p_.canon[k]);
  }
  return false;
}

bool Legalizer::remove_unread(const std::vector<Step>& steps, Candidate& c) {
  std::vector<bool> read(g_.nodes.size());
  std::vector<std::int32_t> stack;
  for (const Step& s : steps) {
    ++walk_;
    for (const std::int32_t r : s.region.roots) seen_[r] = walk_;
    stack = s.region.roots;
    while (!stack.empty()) {
      const std::int32_t i = stack.back();
      stack.pop_back();
      for (const std::int32_t k : g_[i].in) {
        if (k < 0) continue;
        for (const std::int32_t from : {k, p_.canon[k]}) {
          if (std::exchange(seen_[from], walk_) == walk_) continue;
          if (c.is_root(from))
            read[from] = true;
          else
            stack.push_back(from);
        }
      }
    }
  }
  bool removed = false;
  for (std::int32_t i = 0; i < g_.size(); ++i) {
    if (!c.is_root(i) || read[i] || removed_[i]) continue;
    const PlanNode& n = g_[i];
    const bool map = n.node->kind == NodeKind::Elementwise || n.node->kind == NodeKind::Cast;
    if (!map || n.wanted || n.held || !n.exclusive) continue;
    c.remove_root(i);
    removed_[i] = removed = true;
  }
  return removed;
}

// None: the value has to be in memory before the store may overwrite what it reads.
UpdateMode Legalizer::update_mode(const FoundOfRegion& found, std::int32_t update,
                                  bool takes_over) {
  const PlanNode& u = g_[update];
  if (!takes_over) return UpdateMode::Fresh;
  if (!found.reads_elsewhere) return UpdateMode::InPlace;
  const Node& n = *u.node;
  const bool most = element_count(n.view_extents) * 2 >= n.elements;
  if (most && u.in[2] < 0) return UpdateMode::Fresh;
  return memory_.loadable()[p_.canon[u.in[1]]] ? UpdateMode::Fresh : UpdateMode::None;
}

// Whether the region loads what another iteration stores to, of the old memory.
bool Legalizer::reads_elsewhere(const LoweredKernel& k, std::int32_t old, std::int32_t update) {
  const ir::Inst* store = nullptr;
  for (const ir::Inst& i : k.kernel.insts)
    if (i.op == ir::Op::Store && k.buffers[i.index].index == update) store = &i;
  // Equal now, and asked about: so they are whenever the plan runs.
  const auto same = [&](const ir::Coeff& a, const ir::Coeff& b) {
    return facts_.equal(expr_of(exprs_, k, a), expr_of(exprs_, k, b));
  };
  const auto at_the_store = [&](const ir::Inst& load) {
    const ir::Access &a = k.kernel.accesses[load.access], &b = k.kernel.accesses[store->access];
    bool equal = load.type == g_[update].node->view_dtype && a.terms.size() == b.terms.size() &&
                 same(a.offset, b.offset);
    for (std::size_t t = 0; equal && t < a.terms.size(); ++t)
      equal = a.terms[t].var == b.terms[t].var && same(a.terms[t].stride, b.terms[t].stride);
    return equal;
  };
  // As the row that was written before lies beside the one that is written now.
  const auto beside = [&](const ir::Inst& load) {
    const auto from = reach(exprs_, k, load), to = reach(exprs_, k, *store);
    return from && to && apart(exprs_, facts_, *from, *to);
  };
  for (const ir::Inst& i : k.kernel.insts) {
    if (i.op != ir::Op::Load && i.op != ir::Op::Gather) continue;
    if (k.buffers[i.index].kind != BufferSource::NodeMemory ||
        !memory_.same(k.buffers[i.index].index, old))
      continue;
    if (i.op == ir::Op::Gather || !store || (!at_the_store(i) && !beside(i))) return true;
  }
  return false;
}

}  // namespace plait::fusion
