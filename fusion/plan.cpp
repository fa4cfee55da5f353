#include "plan.hpp"

#include <algorithm>
#include <utility>

#include "fusion/graph/nonnegative.hpp"
#include "fusion/lower/reach.hpp"
#include "fusion/passes/passes.hpp"
#include "fusion/schedule/layouts.hpp"
#include "loops.hpp"
#include "roll.hpp"
#include "schedule/beam.hpp"
#include "traffic.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

class Planner {
 public:
  Planner(const Graph& g, const Target& target, Reuse reuse, Rules rules, const Budget& budget)
      : g_(g),
        target_(target),
        budget_(budget),
        reuse_(reuse),
        rules_(rules),
        plan_(std::make_shared<Plan>()),
        facts_(g_, plan_->exprs),
        known_(g_, plan_->exprs) {
    plan_->canon = common_subexpressions(g_);
    non_negative_ = non_negative(g_, plan_->canon);
  }

  std::shared_ptr<Plan> run() {
    const Problem problem(g_, plan_->canon, target_, budget_);
    Memory memory(g_, plan_->canon);
    Legalizer legalizer(problem, plan_->exprs, memory, non_negative_, reuse_);
    Chosen chosen = choose(problem, rules_, legalizer);
    const Search& search = *chosen.search;
    plan_->steps = std::move(chosen.steps);
    plan_->contenders = std::move(chosen.contenders);
    plan_->surveys = legalizer.surveys();
    plan_->layouts.resize(g_.nodes.size());
    if (target_.lanes)
      plan_->layouts = choose_layouts(g_, plan_->canon, search.candidate(), plan_->steps);
    memory.restart(search.candidate().roots());
    for (Step& s : plan_->steps) {
      if (s.kind == StepKind::Kernel)
        lower_step(s, search.candidate(), memory);
      else
        describe_operation(s, memory);
      describe_results(s);
      memory.after(s);
    }
    plan_->notes = search.candidate().notes();
    plan_->considered = search.considered();
    count_traffic(g_, *plan_);
    plan_->loops = find_loops(plan_->steps, g_.size());
    if (target_.lanes) roll_loops(g_, *plan_, facts_, memory.owners());
    find_last_uses();
    g_.answers().close();
    plan_->answers = std::move(g_.answers());
    plan_->workers = target_.workers;
    return plan_;
  }

 private:
  void lower_step(Step& s, const Candidate& candidate, Memory& memory) {
    facts_.start();
    const LoweringInput in{g_,
                           plan_->exprs,
                           plan_->canon,
                           non_negative_,
                           memory.loadable(),
                           facts_,
                           budget_,
                           reuse_,
                           target_,
                           candidate.any(FoldOrder::Running),
                           memory.owners(),
                           plan_->layouts};
    const std::int32_t lead = s.region.roots[0], old = g_[lead].in[0];
    const bool trails = s.update == UpdateMode::Fresh && memory.may_take_over(lead, old);
    const int writes = static_cast<int>(s.update) << 1 | trails;
    const bool keeps = EqualRegions::may_keep(s.region);
    std::optional<FoundOfRegion> found;
    if (keeps) found = known_.find(in, s.region, writes);
    if (!found) {
      ++plan_->lowerings;
      LoweredKernel& k = found.emplace().lowered;
      lower(in, s.region, k);
      if (s.update == UpdateMode::InPlace) share_buffer(k, memory, old, lead);
      run_passes(in, k);
      if (trails)
        found->trailing =
            trailing(plan_->exprs, k, lead, [&](std::int32_t n) { return memory.same(n, old); });
      if (keeps) known_.keep(*found, facts_);
    }
    found->lowered.repeated = std::move(s.lowered.repeated);
    s.region_class = found->region_class;
    s.lowered = std::move(found->lowered);
    s.trailing = std::move(found->trailing);
  }

  void describe_operation(Step& s, Memory& memory) {
    const std::int32_t root = s.region.roots[0];
    s.operation =
        operation_spec(g_, plan_->exprs, root, s.epilogue, plan_->canon, memory.loadable());
    for (const OperandSpec& o : s.operation->operands)
      if (o.scalar) s.lowered.scalars.push_back(o.node);
    if (s.operation->kind == NodeKind::Call) s.lowered.scalars.push_back(s.operation->node);
    if (s.operation->kind == NodeKind::Update)
      s.update =
          memory.may_take_over(root, g_[root].in[0]) ? UpdateMode::InPlace : UpdateMode::Fresh;
  }

  void describe_results(Step& s) {
    s.results.reserve(s.region.roots.size());
    for (const std::int32_t r : s.region.roots) {
      ResultSpec& result = s.results.emplace_back(result_spec(g_, plan_->exprs, r));
      if (!s.lowered.scatters) continue;
      result.start = start_spec(g_, plan_->exprs, r, plan_->canon);
      result.over = elements(g_, plan_->exprs, g_[r].in[2]);
      if (result.start->filled) s.lowered.scalars.push_back(result.start->init);
    }
  }

  // Where a kernel reads what it writes, it reads through the parameter that it stores through, at
  // the store's very address. What it reads beside that has a parameter of its own.
  void share_buffer(LoweredKernel& k, const Memory& memory, std::int32_t old, std::int32_t update) {
    const ir::Inst* store = nullptr;
    for (const ir::Inst& i : k.kernel.insts)
      if (i.op == ir::Op::Store && k.buffers[i.index].index == update) store = &i;
    const auto to = reach(plan_->exprs, k, *store);
    for (ir::Inst& i : k.kernel.insts) {
      if (i.op != ir::Op::Load || k.buffers[i.index].kind != BufferSource::NodeMemory ||
          !memory.same(k.buffers[i.index].index, old) ||
          i.type != k.kernel.buffers[store->index].dtype)
        continue;
      const auto from = reach(plan_->exprs, k, i);
      if (to && from && apart(plan_->exprs, facts_, *from, *to)) continue;
      i.index = store->index;
      i.access = store->access;
    }
  }

  void find_last_uses() {
    std::vector<std::int32_t> last(g_.nodes.size(), -1);
    for (std::size_t s = 0; s < plan_->steps.size(); ++s) {
      const Step& step = plan_->steps[s];
      auto use = [&](std::int32_t n) { last[n] = static_cast<std::int32_t>(s); };
      for (std::int32_t r : step.region.roots) use(r);
      if (step.operation)
        for (const OperandSpec& o : step.operation->operands) use(o.node);
      for (const ResultSpec& r : step.results) {
        if (r.target) use(r.target->old);
        if (r.start) use(r.start->init);
      }
      for (const BufferSource& b : step.lowered.buffers)
        if (b.kind == BufferSource::NodeMemory) use(b.index);
    }
    for (std::int32_t n = 0; n < g_.size(); ++n)
      if (last[n] >= 0 && !g_[n].leaf && !g_[n].wanted && !g_[n].held)
        plan_->steps[last[n]].dies.push_back(n);
  }

  PlanGraph g_;
  const Target target_;
  const Budget& budget_;
  const Reuse reuse_;
  const Rules rules_;
  std::shared_ptr<Plan> plan_;
  Facts facts_;  // of the step at hand
  EqualRegions known_;
  std::vector<bool> non_negative_;
};

}  // namespace

std::shared_ptr<Plan> make_plan(const Graph& g, const Target& target, Reuse reuse, Rules rules,
                                const Budget& budget) {
  return Planner(g, target, reuse, rules, budget).run();
}

bool bind(const Plan& p, const Graph& g, std::vector<std::int64_t>& values) {
  if (!p.answers.hold(g)) return false;
  values.clear();
  p.exprs.evaluate(g, values);
  return true;
}

std::size_t bytes_of(const Plan& p) {
  std::size_t n =
      sizeof p + p.exprs.bytes() + p.answers.bytes() + p.canon.size() * sizeof(std::int32_t);
  for (const StepLoop& l : p.loops) n += sizeof l + l.carried.size() * sizeof(std::int32_t);
  n += p.layouts.size() * sizeof(Dims) + p.notes.size() * sizeof(Note) +
       p.considered.size() * sizeof(Choice) + p.contenders.size() * sizeof(Contender);
  for (const Step& s : p.steps) {
    const LoweredKernel& l = s.lowered;
    n += sizeof s + ir::bytes_of(l.kernel) + l.reads.size() * (sizeof(Read) + 4 * sizeof(void*)) +
         l.buffers.size() * sizeof(BufferSource) + l.partials.size() * sizeof(Partial) +
         (l.params.size() + l.scalars.size() + l.extents.size() + l.kept.size() +
          s.region.roots.size() + s.dies.size()) *
             sizeof(std::int32_t);
    const auto dims = [&](const ExprDims& d) { n += d.size() * sizeof(ExprId); };
    for (const ResultSpec& r : s.results) {
      n += sizeof r;
      dims(r.extents);
      dims(r.byte_strides);
    }
    if (!s.operation) continue;
    for (const ExprDims* d :
         {&s.operation->extents, &s.operation->byte_strides, &s.operation->axes})
      dims(*d);
    for (const OperandSpec& o : s.operation->operands) {
      n += sizeof o;
      dims(o.extents);
      dims(o.byte_strides);
    }
  }
  return n;
}

}  // namespace plait::fusion
