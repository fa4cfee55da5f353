#include "plan.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "nonnegative.hpp"
#include "passes.hpp"
#include "schedule/search.hpp"
#include "traffic.hpp"

namespace plait::fusion {
using tracer::Node;
using tracer::NodeKind;

namespace {

class Planner {
 public:
  Planner(const Graph& g, const Target& target, Reuse reuse, Rules rules)
      : g_(g),
        target_(target),
        reuse_(reuse),
        rules_(rules),
        plan_(std::make_shared<Plan>()),
        facts_(g, plan_->exprs) {
    plan_->canon = common_subexpressions(g);
    non_negative_ = non_negative(g, plan_->canon);
    seen_.resize(g.nodes.size());
    find_readers();
    find_memory();
    guard_equal_views();
  }

  std::shared_ptr<Plan> run() {
    Problem problem(g_, plan_->canon, target_);
    std::optional<Search> search(std::in_place, problem, rules_);
    std::size_t sound = 0;  // steps that no demand of the attempt before can have changed
    for (bool again = true; again;) {
      again = false;
      std::vector<Step> before = std::exchange(plan_->steps, search->regions());
      std::size_t settled = std::exchange(sound, 0);
      while (const std::optional<std::int32_t> parted = search->candidate().parted_attention()) {
        problem.parted.insert(*parted);
        search.emplace(problem, rules_);
        plan_->steps = search->regions();
        settled = 0;
      }
      Candidate& candidate = search->candidate();
      in_memory_.assign(g_.nodes.size(), false);
      memory_of_ = own_memory_;
      demanded_.assign(g_.nodes.size(), false);
      any_demanded_ = false;
      scans_ = candidate.scans();
      for (std::int32_t i = 0; i < g_.size(); ++i) in_memory_[i] = g_[i].leaf && !is_scalar(i);
      bool unchanged = true;
      for (std::size_t i = 0; i < plan_->steps.size(); ++i) {
        Step& s = plan_->steps[i];
        unchanged = unchanged && i < settled && before[i].region == s.region;
        if (unchanged)
          s = std::move(before[i]);
        else
          again |= lower_step(s, candidate);
        if (!again) sound = i + 1;
        for (std::int32_t r : s.region.roots) in_memory_[r] = true;
        if (const std::int32_t lead = s.region.roots[0]; s.update == UpdateMode::InPlace)
          memory_of_[lead] = memory_of_[g_[lead].in[0]];
      }
    }
    plan_->notes = search->candidate().notes();
    plan_->considered = search->considered();
    collect_guards();
    find_last_uses();
    count_traffic(g_, *plan_);
    return plan_;
  }

 private:
  bool is_view(std::int32_t i) const { return !g_[i].leaf && g_[i].node->kind == NodeKind::View; }
  bool is_scalar(std::int32_t i) const { return g_[i].node->kind == NodeKind::Scalar; }

  LoweringInput input() {
    return {g_,     plan_->exprs, plan_->canon, non_negative_, in_memory_,
            facts_, reuse_,       target_,      scans_};
  }

  // True when the schedule changed and planning starts over.
  bool lower_step(Step& s, Candidate& candidate) {
    if (s.kind == StepKind::Direct) return false;
    // The next attempt loads them instead.
    if (reads_demanded(s.region)) return true;
    facts_.forget(0);
    const LoweringInput in = input();
    ++plan_->lowerings;
    std::vector<Demand> demands = lower(in, s.region, s.lowered);
    bool changed = false;
    for (const Demand& d : demands) {
      if (s.region.kind == RegionKind::Product &&
          (d.node == s.region.product || candidate.attention_of(d.node) == s.region.product)) {
        candidate.call_library(s.region.product);
        return true;
      }
      if (candidate.scans(d.node)) {
        candidate.apply({Edit::Call, d.node, "computed by a call"});
        return true;
      }
      if (d.one_walk) {
        candidate.part(d.node, *d.one_walk);
        changed = true;
      } else if (candidate.add_root(d.node, d.why)) {
        changed = true;
        demanded_[d.node] = any_demanded_ = true;
      } else if (s.region.kind == RegionKind::Product) {
        candidate.call_library(s.region.product);
        return true;
      } else if (!changed) {
        // A root of this very region that loops cannot express.
        s.kind = StepKind::Direct;
      }
    }
    if (changed) return true;
    if (s.kind == StepKind::Direct) {
      bool added = false;
      for (std::int32_t r : s.region.roots)
        for (std::int32_t i : g_[r].in)
          if (i >= 0)
            added |= candidate.add_own_root(i, "operand of an operation outside the loops");
      return added;
    }
    const std::int32_t lead = s.region.roots[0];
    if (g_[lead].node->kind == NodeKind::Update) {
      s.update = update_mode(s, lead);
      if (s.update == UpdateMode::None)
        return candidate.add_root(g_[lead].in[1], "it reads what the write overwrites");
    }
    if (s.update == UpdateMode::InPlace) share_buffer(s.lowered, g_[lead].in[0], lead);
    run_passes(in, s.lowered);
    if (const std::int32_t old = g_[lead].in[0];
        s.update == UpdateMode::Fresh && may_take_over(lead, old))
      s.trailing = trailing(plan_->exprs, s.lowered, lead,
                            [&](std::int32_t n) { return same_memory(n, old); });
    s.guards = facts_.take();
    return false;
  }

  // Whether the region's value would be made of nodes that have just been put in memory.
  bool reads_demanded(const RegionSpec& region) {
    if (!any_demanded_) return false;
    ++walk_;
    std::vector<std::int32_t> stack(region.roots);
    while (!stack.empty()) {
      const std::int32_t i = stack.back();
      stack.pop_back();
      if (std::exchange(seen_[i], walk_) == walk_) continue;
      if (demanded_[i]) return true;
      for (std::int32_t k : g_[i].in)
        if (k >= 0 && !in_memory_[plan_->canon[k]]) stack.push_back(plan_->canon[k]);
    }
    return false;
  }

  // Memory that a kernel reads and writes is one parameter of it, and each load is at the store's
  // very address.
  void share_buffer(LoweredKernel& k, std::int32_t old, std::int32_t update) const {
    std::int32_t target = -1, access = -1;
    for (const ir::Inst& i : k.kernel.insts)
      if (i.op == ir::Op::Store && k.buffers[i.index].index == update) {
        target = i.index;
        access = i.access;
      }
    for (ir::Inst& i : k.kernel.insts) {
      if (i.op != ir::Op::Load || k.buffers[i.index].kind != BufferSource::NodeMemory ||
          !same_memory(k.buffers[i.index].index, old) || i.type != k.kernel.buffers[target].dtype)
        continue;
      i.index = target;
      k.kernel.accesses[i.access] = k.kernel.accesses[access];
    }
  }

  // --- writes to storage
  // ---------------------------------------------------------------------------------------------
  // None: the value has to be in memory before the store may overwrite what it reads.
  UpdateMode update_mode(const Step& s, std::int32_t update) {
    const GNode& u = g_[update];
    const std::int32_t old = u.in[0];
    if (!may_take_over(update, old)) return UpdateMode::Fresh;
    if (!reads_elsewhere(s.lowered, old, update)) return UpdateMode::InPlace;
    const Node& n = *u.node;
    const bool most = element_count(n.view_shape) * 2 >= element_count(n.shape);
    if (most && u.in[2] < 0) return UpdateMode::Fresh;
    return in_memory_[plan_->canon[u.in[1]]] ? UpdateMode::Fresh : UpdateMode::None;
  }

  // Whether everything that reads the old contents goes into the value of this very update.
  bool may_take_over(std::int32_t update, std::int32_t old) {
    if (!g_[old].exclusive || g_[old].wanted) return false;
    ++walk_;
    std::vector<std::int32_t> readers{old};
    while (!readers.empty()) {
      const std::int32_t r = readers.back();
      readers.pop_back();
      for (std::int32_t i : readers_[r]) {
        if (i == update || i < old || std::exchange(seen_[i], walk_) == walk_) continue;
        if (i > update || g_[i].wanted || g_[i].held || g_[i].node->kind == NodeKind::Update)
          return false;
        // In memory before this step: read already.
        if (!in_memory_[plan_->canon[i]]) readers.push_back(i);
      }
    }
    return true;
  }

  // Whether the kernel loads the old memory at another address than the iteration stores to.
  bool reads_elsewhere(const LoweredKernel& k, std::int32_t old, std::int32_t update) {
    const ir::Access* store = nullptr;
    for (const ir::Inst& i : k.kernel.insts)
      if (i.op == ir::Op::Store && k.buffers[i.index].index == update)
        store = &k.kernel.accesses[i.access];
    for (const ir::Inst& i : k.kernel.insts) {
      if (i.op != ir::Op::Load && i.op != ir::Op::Gather) continue;
      if (k.buffers[i.index].kind != BufferSource::NodeMemory ||
          !same_memory(k.buffers[i.index].index, old))
        continue;
      if (i.op == ir::Op::Gather) return true;
      if (store && i.type != g_[update].node->view_dtype) return true;
      const ir::Access& a = k.kernel.accesses[i.access];
      if (!store || a.terms.size() != store->terms.size() || !same(k, a.offset, store->offset))
        return true;
      for (std::size_t t = 0; t < a.terms.size(); ++t)
        if (a.terms[t].var != store->terms[t].var ||
            !same(k, a.terms[t].stride, store->terms[t].stride))
          return true;
    }
    return false;
  }
  // Equal now, and guarded to be equal whenever the plan runs.
  bool same(const LoweredKernel& k, const ir::Coeff& a, const ir::Coeff& b) {
    auto expr = [&](const ir::Coeff& c) {
      return c.param == ir::kNoParam ? plan_->exprs.constant(c.value) : k.params[c.param];
    };
    return facts_.equal(expr(a), expr(b));
  }
  // Chains of updates in place share the memory of their first version; one that writes to fresh
  // memory leaves the version before it as it is.
  bool same_memory(std::int32_t node, std::int32_t old) const {
    return memory_of_[node] == memory_of_[old];
  }
  // Before the first step: every node has its own, but leaves of one buffer.
  void find_memory() {
    std::unordered_map<const Buffer*, std::int32_t> known;
    own_memory_.resize(g_.nodes.size());
    for (std::int32_t i = 0; i < g_.size(); ++i)
      own_memory_[i] = g_[i].leaf && g_[i].node->data
                           ? known.try_emplace(g_[i].node->data.get(), i).first->second
                           : i;
  }

  // Those of attempts that were given up are no matter of the plan.
  void collect_guards() {
    std::vector<Guard>& all = plan_->guards;
    for (Step& s : plan_->steps) {
      all.insert(all.end(), s.guards.begin(), s.guards.end());
      s.guards = {};
    }
    auto order = [](const Guard& g) { return std::pair(g.left, g.right); };
    std::sort(all.begin(), all.end(),
              [&](const Guard& a, const Guard& b) { return order(a) < order(b); });
    all.erase(std::unique(all.begin(), all.end(),
                          [&](const Guard& a, const Guard& b) { return order(a) == order(b); }),
              all.end());
  }

  // What equals a value may be loaded from its memory.
  void find_readers() {
    readers_.resize(g_.nodes.size());
    for (std::int32_t i = 0; i < g_.size(); ++i) {
      if (g_[i].leaf) continue;
      if (plan_->canon[i] != i) readers_[plan_->canon[i]].push_back(i);
      for (std::int32_t in : g_[i].in) {
        if (in < 0) continue;
        readers_[in].push_back(i);
        if (plan_->canon[in] != in) readers_[plan_->canon[in]].push_back(i);
      }
    }
  }

  // --- whole plan
  // ----------------------------------------------------------------------------------------------------
  void guard_equal_views() {
    Exprs& e = plan_->exprs;
    for (std::int32_t i = 0; i < g_.size(); ++i) {
      const std::int32_t c = plan_->canon[i];
      if (c == i) continue;
      const Node& n = *g_[i].node;
      auto equal = [&](Field f, int d) { facts_.equal(e.source({i, f, d}), e.source({c, f, d})); };
      for (int d = 0; d < n.shape.size(); ++d) equal(Field::Shape, d);
      if (n.kind == NodeKind::Gather) {
        equal(Field::Offset, 0);
        equal(Field::Step, 0);
        for (int d = 0; d < n.view_strides.size(); ++d) equal(Field::ViewStride, d);
      }
      if (n.kind != NodeKind::View) continue;
      equal(Field::Offset, 0);
      for (int d = 0; d < n.strides.size(); ++d) equal(Field::Stride, d);
    }
    plan_->guards = facts_.take();
  }

  void find_last_uses() {
    std::vector<std::int32_t> last(g_.nodes.size(), -1);
    for (std::size_t s = 0; s < plan_->steps.size(); ++s) {
      const Step& step = plan_->steps[s];
      auto use = [&](std::int32_t n) { last[n] = static_cast<std::int32_t>(s); };
      for (std::int32_t r : step.region.roots) {
        use(r);
        if (step.kind == StepKind::Direct || g_[r].node->kind == NodeKind::Update)
          for (std::int32_t in : operands(g_, r, step.epilogue))
            for (; in >= 0; in = is_view(in) ? g_[in].in[0] : -1) use(in);
      }
      for (const Partial& p : step.lowered.partials)
        if (step.lowered.scatters) use(plan_->canon[g_[p.root].in[0]]);
      for (const BufferSource& b : step.lowered.buffers)
        if (b.kind == BufferSource::NodeMemory) use(b.index);
    }
    for (std::int32_t n = 0; n < g_.size(); ++n)
      if (last[n] >= 0 && !g_[n].leaf && !g_[n].wanted && !g_[n].held)
        plan_->steps[last[n]].dies.push_back(n);
  }

  const Graph& g_;
  const Target target_;
  const Reuse reuse_;
  const Rules rules_;
  std::shared_ptr<Plan> plan_;
  Facts facts_;  // of the step at hand
  std::vector<bool> non_negative_;
  std::vector<bool> demanded_;  // nodes that this attempt found missing in memory
  bool any_demanded_ = false, scans_ = false;
  std::vector<int> seen_;  // in which walk
  int walk_ = 0;
  std::vector<std::vector<std::int32_t>> readers_;  // of each node
  std::vector<bool> in_memory_;
  // The first node whose memory a node has, at first and after the steps so far.
  std::vector<std::int32_t> own_memory_, memory_of_;
};

}  // namespace

std::vector<std::int32_t> operands(const Graph& g, std::int32_t root, const Epilogue& e) {
  std::vector<std::int32_t> read;
  for (std::int32_t in : g[e ? e.product : root].in)
    if (in >= 0) read.push_back(in);
  if (e) read.push_back(e.addend);
  return read;
}

std::shared_ptr<Plan> make_plan(const Graph& g, const Target& target, Reuse reuse, Rules rules) {
  return Planner(g, target, reuse, rules).run();
}

bool bind(const Plan& p, const Graph& g, std::vector<std::int64_t>& values) {
  p.exprs.evaluate(g, values);
  for (const Guard& guard : p.guards)
    if (values[guard.left] != values[guard.right]) return false;
  return true;
}

std::size_t bytes_of(const Plan& p) {
  constexpr std::size_t kExpr = 80;  // an item, and its place in the index
  std::size_t n = sizeof p + p.exprs.size() * kExpr + p.guards.size() * sizeof(Guard) +
                  p.canon.size() * sizeof(std::int32_t);
  n += p.notes.size() * sizeof(Note) + p.considered.size() * sizeof(Choice);
  for (const Step& s : p.steps) {
    const LoweredKernel& l = s.lowered;
    n += sizeof s + ir::bytes_of(l.kernel) + l.reads.size() * (sizeof(Read) + 4 * sizeof(void*)) +
         l.buffers.size() * sizeof(BufferSource) + l.partials.size() * sizeof(Partial) +
         (l.params.size() + l.scalars.size() + l.extents.size() + l.kept.size() +
          s.region.roots.size() + s.dies.size()) *
             sizeof(std::int32_t);
  }
  return n;
}

}  // namespace plait::fusion
