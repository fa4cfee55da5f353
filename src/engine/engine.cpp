#include "engine.hpp"

#include <execinfo.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "codegen/cache/disk_cache.hpp"
#include "core/os/pages.hpp"
#include "core/timeline.hpp"
#include "engine/devices/device.hpp"
#include "engine/direct/direct.hpp"
#include "engine/plans/history.hpp"
#include "engine/plans/kernel.hpp"
#include "engine/plans/plan_ahead.hpp"
#include "engine/plans/plan_run.hpp"
#include "engine/plans/state.hpp"
#include "engine/reports/report.hpp"
#include "engine/threads/fork.hpp"
#include "engine/threads/interruption.hpp"
#include "engine/threads/seconds.hpp"
#include "tracer/computed.hpp"
#include "tracer/context.hpp"
#include "tracer/derived.hpp"
#include "tracer/evaluation_scope.hpp"

namespace plait::engine {
using fusion::Graph;
using fusion::Plan;
using tracer::Node;
using tracer::NodeKind;

namespace {

using Plans = decltype(State::plans);
Plans& plans() { return state().plans; }

void describe_evaluation(timeline::Span& span, std::span<Node* const> wanted) {
  span.name("evaluate");
  span.site(tracer::current_site());
  std::string values;
  std::int64_t elements = 0;
  for (const Node* n : wanted) elements += element_count(n->shape);
  span.elements(elements);
  constexpr std::size_t kMost = 8;
  for (std::size_t i = 0; i < std::min(wanted.size(), kMost); ++i)
    values += (i ? ", " : "") + value_of(*wanted[i], {}).type;
  span.arg("values", values + (wanted.size() > kMost ? ", ..." : ""));
}

class EngineEvaluator final : public tracer::Evaluator {
 public:
  void evaluate(std::span<Node* const> wanted) override {
    end_if_asked();
    const std::lock_guard held(tracer::lock());
    const tracer::EvaluationScope turn(wanted);
    timeline::Span span(timeline::Category::Evaluation);
    if (span) describe_evaluation(span, wanted);
    std::vector<Node*> calls;
    for (Node* n : wanted)
      if (n->kind == NodeKind::Empty) compute_direct(*n);
    for (Node* n : wanted)
      if (is_part_of_call(*n)) calls.push_back(n);
    if (calls.empty()) return evaluate_where_placed(wanted);
    evaluate_calls(wanted, calls);
  }
  bool eager(OpId fn, std::span<const tracer::Array* const> in, const tracer::Array& out) override {
    const AtCall at_call;
    if (!direct_eager(fn, in, out)) return false;
    at_call.done(op_info(fn).name, out.dtype, out.shape);
    return true;
  }
  bool multiply(const tracer::Array& a, const tracer::Array& b, const tracer::Array& out) override {
    const AtCall at_call;
    direct_product(a, b, out);
    at_call.done("matmul", out.dtype, out.shape);
    return true;
  }
  void poll() override {
    if (interrupt_requested()) throw Interrupted("interrupted");
  }
  bool compute(Node& n) override {
    const AtCall at_call;
    const std::string what = at_call.before(n);
    compute_direct(n);
    at_call.done(what, n.site);
    return true;
  }

 private:
  // One of several results, which lie in the call's block.
  static bool is_part_of_call(const Node& n) {
    return n.kind == NodeKind::View && !n.materialised() && n.inputs[0]->kind == NodeKind::Call;
  }
  // What is wanted of a call's results is its block: a result is no copy of its part of it.
  static void evaluate_calls(std::span<Node* const> wanted, const std::vector<Node*>& parts) {
    std::vector<Node*> whole;
    for (Node* n : wanted) {
      Node* const want = is_part_of_call(*n) ? n->inputs[0].get() : n;
      if (std::find(whole.begin(), whole.end(), want) == whole.end()) whole.push_back(want);
    }
    evaluate_where_placed(whole);
    for (Node* n : parts)
      if (!n->materialised()) compute_direct(*n);
  }
  static void evaluate_where_placed(std::span<Node* const> wanted) {
    if (devices_in_use())
      evaluate_by_device(wanted);
    else
      evaluate_here(wanted);
  }
  static void evaluate_here(std::span<Node* const> wanted) {
    if (config().fuse && !direct_is_faster(wanted))
      evaluate_fused(wanted);
    else
      direct(wanted);
  }
  static void direct(std::span<Node* const> wanted) {
    watch_one_at_a_time(wanted);
    evaluate_direct(wanted);
  }
  // A graph lives on one device; what is wanted may not.
  static void evaluate_by_device(std::span<Node* const> wanted) {
    allocate_empty(wanted);
    std::map<DeviceId, std::vector<Node*>> parts;
    for (Node* n : wanted) parts[std::max(n->device, kHost)].push_back(n);
    for (const auto& [device, nodes] : parts)
      if (device == kHost) {
        evaluate_here(nodes);
      } else {
        const tracer::EvaluationScope alone(tracer::EvaluationScope::LockWhileRunning::Released);
        evaluate_on_device(nodes, device);
      }
  }
};

}  // namespace

namespace {

std::string key_of(const Graph& g, int owner) {
  return owner == 0 ? g.key() : g.key() + static_cast<char>(owner);
}

void log_new(const Graph& g, Plan& p, const std::vector<std::int64_t>& values, int owner) {
  if (!logging(Log::Fusion) || std::exchange(p.logged, true)) return;
  log(Log::Fusion, plan_text(g, p, values, {.target = target_of(static_cast<DeviceId>(owner))}));
}

void keep(Plans::Entry& known, std::shared_ptr<Plan> p) {
  plans().add(known, bytes_of(*p));
  if (const auto gone = known.value.add(std::move(p))) plans().remove(known, bytes_of(*gone));
  plans().keep_bounded();
}

std::shared_ptr<Plan> new_plan(const Graph& g, std::vector<std::int64_t>& values, int owner,
                               const fusion::Target& target) {
  timeline::Span span(timeline::Category::Plan);
  span.name("plan");
  span.arg("nodes", g.size());
  std::shared_ptr<Plan> p = fusion::make_plan(g, target);
  span.arg("steps", static_cast<std::int64_t>(p->steps.size()));
  ++counters().plans_made;
  if (!fusion::bind(*p, g, values))
    throw InternalError("a new plan does not hold for its own graph");
  keep(plans().at(key_of(g, owner)), p);
  if (owner < kLookedAtHere) log_new(g, *p, values, owner);
  return p;
}

}  // namespace

std::shared_ptr<Plan> known_plan(const Graph& g, std::vector<std::int64_t>& values, int owner,
                                 int workers) {
  auto* const known = owner == 0 ? plans().find(g.key()) : plans().find(key_of(g, owner));
  if (!known) return nullptr;
  std::shared_ptr<Plan> found = known->value.find(
      [&](const auto& p) { return p->workers == workers && fusion::bind(*p, g, values); });
  if (found) ++counters().plans_reused;
  return found;
}

std::shared_ptr<Plan> plan_for(const Graph& g, std::vector<std::int64_t>& values, int owner,
                               const fusion::Target& target) {
  std::shared_ptr<Plan> p = known_plan(g, values, owner, target.workers);
  return p ? p : new_plan(g, values, owner, target);
}

void add_plan(const Graph& g, std::shared_ptr<Plan> plan) {
  std::vector<std::int64_t> values;
  auto& known = plans().at(g.key());
  for (const auto& p : known.value)
    if (p->workers == plan->workers && fusion::bind(*p, g, values)) return;
  keep(known, std::move(plan));
  ++counters().plans_made;
}

void adopt_plan(const Graph& g, std::shared_ptr<Plan> plan) {
  const std::lock_guard held(tracer::lock());
  auto& known = plans().at(g.key());
  for (const auto& p : known.value) plans().remove(known, bytes_of(*p));
  known.value.clear();
  keep(known, std::move(plan));
}

std::size_t forget_plans() {
  const std::lock_guard held(tracer::lock());
  const std::size_t rounds = forget_rounds();
  return rounds + plans().clear();
}
void bound_plans() {
  const std::lock_guard held(tracer::lock());
  plans().set_limit(code_limit());
  plans().keep_bounded();
}
TableSize plans_kept() { return {plans().size(), plans().bytes()}; }

State& state() {
  static State& s = *new State;
  return s;
}
Stats& counters() { return state().stats; }
Stats stats() {
  Stats s = counters();
  s.disk_hits = cache::hits();
  return s;
}
PlanSummary last_plan() { return state().last_plan; }
void note_plan(const Plan& p) {
  state().last_plan = {static_cast<int>(p.steps.size()), p.bytes_moved, p.bytes_least};
}

namespace {
timeline::Source timeline_source(std::uint32_t site) { return {tracer::site_text(site), {}, {}}; }
}  // namespace

void start() {
  static EngineEvaluator evaluator;
  static std::once_flag once;
  std::call_once(once, [] {
    tracer::install(&evaluator);
    tracer::on_contents_gone([](std::uint64_t contents) { state().packed.drop(contents); });
    install_devices();
    install_fork_handlers(state().kernels.mutex);
    // Threads of OpenMP end by pthread_exit. Its first call loads libgcc_s, and ends the process if
    // there is no memory for that; a backtrace loads it, too.
    void* frame;
    backtrace(&frame, 1);
    os::map_code_around(reinterpret_cast<const void*>(&install_fork_handlers));
    // Behind the handlers of fork() that free what those of core/at_fork.hpp need.
    timeline::start_from_settings(timeline_source);
  });
}

int num_threads() { return std::max(1, config().threads); }
void set_num_threads(int n) {
  if (n < 1) throw ValueError("the number of threads must be at least 1");
  config().threads = n;
}

namespace {

// An operation at a time, too, what planning has another node for is computed by that: the bits do
// not depend on who computes it. What one of them reads, another may have.
void evaluate_instead(const Graph& g) {
  if (g.instead.empty()) return;
  for (const fusion::GNode& n : g.nodes) {
    if (n.node == n.recorded) continue;
    Node* made[] = {n.node};
    evaluate_direct(made);
    n.recorded->strides = n.node->strides;
    tracer::settle(*n.recorded, std::exchange(n.node->data, {}), n.node->data_offset);
  }
}

}  // namespace

void evaluate_fused(std::span<Node* const> wanted) {
  ++counters().evaluations;
  for (Node* n : wanted)
    if (!n->materialised() && element_count(n->shape) == 0) tracer::settle(*n, allocate(0), 0);
  const Graph g(wanted);
  if (g.nodes.empty()) return;
  std::vector<std::int64_t> values;
  std::shared_ptr<Plan> plan = known_plan(g, values);
  Round round(g, plan != nullptr);
  double planning = 0;
  double started = seconds_now();
  if (round.direct()) {
    watch_one_at_a_time(g);
    if (round.wants_plan_ahead() && plan_ahead(g)) round.plan_is_on_its_way();
    round.may_go_on_at_once(g);
    evaluate_instead(g);
    evaluate_direct(wanted);
  } else {
    std::vector<Ref<Node>> keep;
    keep.reserve(g.nodes.size());
    for (const fusion::GNode& n : g.nodes) keep.emplace_back(n.recorded);
    if (!plan) {
      plan = new_plan(g, values, 0, host_target());
      take_kernels(*plan);  // belongs to what planning costs
      planning = seconds_now() - started;
      started += planning;
    }
    log_new(g, *plan, values, 0);
    note_plan(*plan);
    const Watched watched(g, *plan, values, kHost);
    run_plan(g, *plan, std::move(values), kHost);
  }
  round.took(seconds_now() - started, planning);
}

}  // namespace plait::engine
