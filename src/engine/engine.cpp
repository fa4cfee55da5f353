#include "engine.hpp"

#include <execinfo.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>

#include "core/array_memory.hpp"
#include "core/bounded_table.hpp"
#include "device.hpp"
#include "direct.hpp"
#include "direct_kernels.hpp"
#include "fork.hpp"
#include "fp_flags.hpp"
#include "fusion/cost.hpp"
#include "history.hpp"
#include "interruption.hpp"
#include "kernel.hpp"
#include "own_code.hpp"
#include "plan_ahead.hpp"
#include "plan_run.hpp"
#include "report.hpp"
#include "tracer/turn.hpp"
#include "undo.hpp"

namespace plait::engine {
using fusion::Graph;
using fusion::Plan;
using fusion::RegionKind;
using fusion::Step;
using fusion::StepKind;
using fusion::UpdateMode;
using tracer::Node;
using tracer::NodeKind;

namespace {

// Plans of one key that differ in their guards.
constexpr std::size_t kMaxVariants = 8;

PlanSummary summary;

using Plans = BoundedTable<std::vector<std::shared_ptr<Plan>>>;
Plans& plans() {
  static auto& p = *new Plans(code_limit());
  return p;
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Takes the step's kernel.
void prepare(Step& s) {
  if (s.kind == StepKind::Kernel && !s.compiled) s.compiled = compiled(s.lowered.kernel);
}

class Run : PlanRun {
 public:
  Run(const Graph& g, Plan& p, const std::vector<std::int64_t>& values) : PlanRun(g, p, values) {}

  void run() {
    for (Step& s : plan_.steps) {
      if (s.kind == StepKind::Direct)
        direct(s);
      else
        kernel(s);
      for (std::int32_t n : s.dies) memory_[n] = {};
    }
  }

 private:
  void kernel(Step& s) {
    prepare(s);
    auto& k = *static_cast<CompiledKernel*>(s.compiled.get());
    const fusion::LoweredKernel& l = s.lowered;
    Call call = numbers_of(l);
    std::int64_t extent = values_[l.grid_extent];
    const double scale = static_cast<double>(std::max<std::int64_t>(1, extent)) /
                         static_cast<double>(l.planned_grid);
    const double predicted =
        std::max(fusion::region_seconds(host_machine(), static_cast<double>(l.bytes) * scale,
                                        l.work * scale),
                 folding_seconds(s));

    const bool blocked =
        s.region.kind == RegionKind::Blocked || s.region.kind == RegionKind::Scatter;
    Chunks chunks;
    std::vector<Ref<Buffer>> partials;
    if (blocked) {
      chunks = chunks_of(s, extent);
      extent = chunks.count();
      for (const fusion::Partial& p : l.partials) {
        partials.push_back(
            allocate(static_cast<std::size_t>(extent * values_[p.outputs]) * itemsize(p.dtype)));
        if (l.scatters) start_tables(p, extent, partials.back()->data);
      }
    }
    // Trailing writes go back in no order that could be undone.
    const bool undoes = s.update != UpdateMode::None && Undo::pays(predicted, bytes_updated(s));
    const std::optional<Trail> trailing =
        s.trailing && !undoes ? trail(*s.trailing, values_, extent) : std::nullopt;
    const UpdateMode update = trailing ? UpdateMode::InPlace : s.update;
    for (const fusion::BufferSource& b : l.buffers)
      if (b.kind == fusion::BufferSource::NodeMemory) take_memory(b.index);
    for (std::int32_t r : s.region.roots) allocate_root(r, update);
    bind_buffers(l, partials, chunks.bounds.data(), call);
    const std::optional<EarlyExit> early_exit =
        blocked ? early_exit_of(l, partials, values_[l.partials[0].outputs], extent) : std::nullopt;
    const bool safe = update != UpdateMode::InPlace || !reads_back(s);
    Undo undo;
    if (undoes && !safe) keep_targets(s, undo);
    unsigned flags;
    try {
      flags = k.run(call.args(), extent, predicted,
                    {.interruptible = safe || undo,
                     .trail = trailing ? &*trailing : nullptr,
                     .early_exit = early_exit ? &*early_exit : nullptr});
    } catch (const Interrupted&) {
      undo.restore();
      throw;
    }
    if (blocked) join(s, chunks, partials);
    if (reported(flags)) report(s, update, flags);
    counters().bytes_moved += static_cast<std::uint64_t>(l.bytes);
    settle_roots(s, update);
  }

  // Elements that lie on top of each other, as those of a broadcast array do, are no bytes, but
  // each is folded.
  double folding_seconds(const Step& s) const {
    double elements = 0;
    for (std::int32_t r : s.region.roots)
      if (g_[r].node->kind == NodeKind::Reduce)
        elements += static_cast<double>(element_count(g_[g_[r].in[0]].node->shape));
    return elements * kMachine.cycle / 16;  // lanes
  }

  // Whether a region in place needs what it writes over. Where it does not, it may be stopped half
  // way: what is pending then writes all of it again before anybody sees it.
  bool reads_back(const Step& s) const {
    const fusion::LoweredKernel& l = s.lowered;
    if (l.scatters || s.trailing) return true;
    for (const ir::Inst& i : l.kernel.insts) {
      if (i.op != ir::Op::Load && i.op != ir::Op::Gather) continue;
      const fusion::BufferSource& from = l.buffers[static_cast<std::size_t>(i.index)];
      if (from.kind != fusion::BufferSource::NodeMemory) continue;
      for (std::int32_t r : s.region.roots)
        if (memory_[from.index].buffer.get() == memory_[r].buffer.get()) return true;
    }
    return false;
  }

  double bytes_updated(const Step& s) const {
    double bytes = 0;
    for (std::int32_t r : s.region.roots) {
      const Node& n = *g_[r].node;
      bytes += static_cast<double>(element_count(n.view_shape)) *
               static_cast<double>(itemsize(n.view_dtype));
    }
    return bytes;
  }
  void keep_targets(const Step& s, Undo& undo) const {
    for (std::int32_t r : s.region.roots) {
      const Node& n = *g_[r].node;
      if (!undo.keep(n.view_dtype, n.view_shape, {memory_[r].at() + n.offset, n.view_strides}))
        return;
    }
  }

  // An array that nobody has written to gets its memory from the first step that asks for it:
  // memory of this run, if nobody else may ask for it.
  void take_memory(std::int32_t i) {
    Node& n = *g_[i].node;
    if (memory_[i] || !g_[i].leaf) return;
    if (n.kind == NodeKind::Empty && g_[i].exclusive) {
      memory_[i] = {allocate_array(n.shape, n.dtype), 0};
      of_run_[i] = true;
      return;
    }
    if (n.kind == NodeKind::Empty) compute_direct(n);
    memory_[i] = {n.data, n.data_offset};
  }

  void allocate_root(std::int32_t r, UpdateMode mode) {
    const Node& n = *g_[r].node;
    if (n.kind != NodeKind::Update) {
      memory_[r] = {allocate_array(n.shape, n.dtype), 0};
      return;
    }
    const std::int32_t old = g_[r].in[0];
    take_memory(old);
    memory_[r] = mode == UpdateMode::InPlace ? memory_[old]
                                             : copy_for_update(n, memory_[old], g_[r].in[2] >= 0);
  }

  // The first piece's table goes on from what is combined with.
  void start_tables(const fusion::Partial& p, std::int64_t pieces, std::byte* tables) const {
    const std::int32_t root = p.root, init = plan_.canon[g_[root].in[0]];
    const Node& n = *g_[root].node;
    const auto item = static_cast<std::int64_t>(itemsize(n.dtype));
    const std::int64_t table = values_[p.outputs];
    const Memory first{tables, contiguous_strides(n.shape, item)};
    if (g_[init].node->kind == NodeKind::Fill)
      run_fill(cast(g_[g_[init].in[0]].node->scalar, n.dtype), n.shape, first);
    else
      run_cast(n.dtype, n.dtype, n.shape, {memory_[init].at(), fusion::own_strides(*g_[init].node)},
               first);
    run_fill(fold_identity(p.kind, n.dtype), Dims{(pieces - 1) * table},
             {tables + table * item, Dims{item}});
  }

  void join(const Step& s, const Chunks& chunks, std::vector<Ref<Buffer>>& partials) {
    const fusion::LoweredKernel& l = s.lowered;
    for (std::size_t p = 0; p < l.partials.size(); ++p) {
      const fusion::Partial& part = l.partials[p];
      const std::int64_t outputs = values_[part.outputs];
      const Node& n = *g_[part.root].node;
      const bool arg = n.reduce == ReduceKind::ArgMin || n.reduce == ReduceKind::ArgMax;
      std::byte* rows = partials[p]->data;
      if (arg) {
        const fusion::Partial& index = l.partials[p + 1];
        join_arg_partials(chunks, n.reduce, part.dtype, outputs, rows,
                          reinterpret_cast<std::int64_t*>(partials[p + 1]->data));
        rows = partials[++p]->data;
        scatter(n, l.kept, index.dtype, rows, memory_[part.root].at());
      } else {
        join_partials(chunks, part.kind, part.dtype, outputs, rows);
        if (l.scatters)
          std::memcpy(memory_[part.root].at(), rows,
                      static_cast<std::size_t>(outputs) * itemsize(part.dtype));
        else
          scatter(n, l.kept, part.dtype, rows, memory_[part.root].at());
      }
    }
  }

  // Row 0 of the partials, in the operand's order of dimensions, to the result's layout.
  static void scatter(const Node& n, const std::vector<std::int32_t>& kept, DType t,
                      const std::byte* row, std::byte* out) {
    const std::size_t item = itemsize(t);
    Dims at(static_cast<int>(kept.size()));
    const std::int64_t count = element_count(n.shape);
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t offset = 0;
      for (int d = 0; d < at.size(); ++d)
        offset += at[d] * n.strides[kept[static_cast<std::size_t>(d)]];
      std::memcpy(out + offset, row + static_cast<std::size_t>(i) * item, item);
      for (int d = at.size(); d-- > 0;) {
        if (++at[d] < n.shape[kept[static_cast<std::size_t>(d)]]) break;
        at[d] = 0;
      }
    }
  }

  void direct(Step& s) {
    for (std::int32_t r : s.region.roots) {
      Node& n = *g_[r].node;
      for (std::int32_t in : g_[r].in)
        if (in >= 0) publish(in);
      Node* wanted[] = {&n};
      evaluate_direct(wanted);
      memory_[r] = {n.data, n.data_offset};
    }
  }

  // Lets the reference evaluator see what this run has computed, itself or behind a view.
  void publish(std::int32_t i) {
    Node& n = *g_[i].node;
    if (!n.data && memory_[i]) {
      settle(n, memory_[i]);
      of_run_[i] = false;
    } else if (!n.data && n.kind == NodeKind::View)
      publish(g_[i].in[0]);
  }

  // Whether somebody listens to these events: most programs ignore underflow, some ignore all.
  bool reported(unsigned flags) const {
    if (!flags) return false;
    for (const fusion::GNode& gn : g_.nodes) {
      const tracer::ErrorState e = tracer::error_state(gn.node->errstate);
      constexpr auto off = tracer::ErrorAction::Ignore;
      if (((flags & kDivide) && e.divide != off) || ((flags & kOver) && e.over != off) ||
          ((flags & kUnder) && e.under != off) || ((flags & kInvalid) && e.invalid != off))
        return true;
    }
    return false;
  }
  void report(const Step& s, UpdateMode update, unsigned flags);
};

// Which operation raised is not known inside a fused loop, so the region is computed again, an
// operation at a time, by the reference evaluator, which reports each event with its operation and
// call site. What was overwritten in place cannot be; its events carry the name of the operation
// whose value was stored.
void Run::report(const Step& s, UpdateMode update, unsigned flags) {
  for (std::int32_t r : s.region.roots) {
    const Node& n = *g_[r].node;
    if (update == UpdateMode::InPlace) {
      const Node& value = *g_[g_[r].in[1]].node;
      report_flags(flags, value.fn == OpId::Count_ ? "cast" : op_info(value.fn).name, n);
      continue;
    }
    const Ref<Node> again = shadow(r, [](const Ref<Buffer>& b) { return b; });
    Node* wanted[] = {again.get()};
    evaluate_direct(wanted);
  }
}

class EngineEvaluator final : public tracer::Evaluator {
 public:
  void evaluate(std::span<Node* const> wanted) override {
    const tracer::Turn turn;
    const std::lock_guard held(tracer::lock());
    std::vector<Node*> calls;
    for (Node* n : wanted)
      if (n->kind == NodeKind::Empty) compute_direct(*n);
    for (Node* n : wanted)
      if (is_part_of_call(*n)) calls.push_back(n);
    if (calls.empty()) return evaluate_where_placed(wanted);
    evaluate_calls(wanted, calls);
  }
  bool eager(OpId fn, std::span<const tracer::Array* const> in, const tracer::Array& out) override {
    if (!direct_eager(fn, in, out)) return false;
    watch_small();
    return true;
  }
  bool multiply(const tracer::Array& a, const tracer::Array& b, const tracer::Array& out) override {
    direct_product(a, b, out);
    watch_small();
    return true;
  }
  void poll() override {
    if (interrupt_requested()) throw Interrupted("interrupted");
  }
  bool compute(Node& n) override {
    compute_direct(n);
    watch_small();
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
      if (device == kHost)
        evaluate_here(nodes);
      else
        evaluate_on_device(nodes, device);
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
  auto& variants = known.value;
  if (variants.size() >= kMaxVariants) {
    plans().remove(known, bytes_of(*variants.front()));
    variants.erase(variants.begin());
  }
  plans().add(known, bytes_of(*p));
  variants.push_back(std::move(p));
  plans().keep_bounded();
}

std::shared_ptr<Plan> new_plan(const Graph& g, std::vector<std::int64_t>& values, int owner,
                               const fusion::Target& target) {
  std::shared_ptr<Plan> p = fusion::make_plan(g, target);
  ++counters().plans_made;
  if (!fusion::bind(*p, g, values))
    throw InternalError("a new plan does not hold for its own graph");
  keep(plans().at(key_of(g, owner)), p);
  if (owner < kLookedAtHere) log_new(g, *p, values, owner);
  return p;
}

}  // namespace

std::shared_ptr<Plan> known_plan(const Graph& g, std::vector<std::int64_t>& values, int owner) {
  const auto* known = owner == 0 ? plans().find(g.key()) : plans().find(key_of(g, owner));
  if (!known) return nullptr;
  for (const auto& p : known->value)
    if (fusion::bind(*p, g, values)) {
      ++counters().plans_reused;
      return p;
    }
  return nullptr;
}

std::shared_ptr<Plan> plan_for(const Graph& g, std::vector<std::int64_t>& values, int owner,
                               const fusion::Target& target) {
  std::shared_ptr<Plan> p = known_plan(g, values, owner);
  return p ? p : new_plan(g, values, owner, target);
}

void add_plan(const Graph& g, std::shared_ptr<Plan> plan) {
  std::vector<std::int64_t> values;
  auto& known = plans().at(g.key());
  for (const auto& p : known.value)
    if (fusion::bind(*p, g, values)) return;
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
TableSize plans_kept() { return {plans().size(), plans().bytes()}; }

Stats& counters() {
  static Stats s{};
  return s;
}
Stats stats() { return counters(); }
PlanSummary last_plan() { return summary; }
void note_plan(const Plan& p) {
  summary = {static_cast<int>(p.steps.size()), p.bytes_moved, p.bytes_least};
}

void start() {
  static EngineEvaluator evaluator;
  static std::once_flag once;
  std::call_once(once, [] {
    tracer::install(&evaluator);
    install_devices();
    install_fork_handlers(kernel_registry_mutex());
    // Threads of OpenMP end by pthread_exit. Its first call loads libgcc_s, and ends the process if
    // there is no memory for that; a backtrace loads it, too.
    void* frame;
    backtrace(&frame, 1);
    map_own_code();
  });
}

int num_threads() { return std::max(1, config().threads); }
void set_num_threads(int n) {
  if (n < 1) throw ValueError("the number of threads must be at least 1");
  config().threads = n;
}

void evaluate_fused(std::span<Node* const> wanted) {
  ++counters().evaluations;
  for (Node* n : wanted)
    if (!n->materialised() && element_count(n->shape) == 0) tracer::settle(*n, allocate(0), 0);
  const Graph g(wanted);
  if (g.nodes.empty()) return;
  std::vector<std::int64_t> values;
  std::shared_ptr<Plan> plan = known_plan(g, values, 0);
  Round round(g, plan != nullptr);
  double planning = 0;
  double started = now();
  if (round.direct()) {
    watch_one_at_a_time(g);
    if (round.wants_plan_ahead() && plan_ahead(g)) round.plan_is_on_its_way();
    round.may_go_on_at_once(g);
    evaluate_direct(wanted);
  } else {
    std::vector<Ref<Node>> keep;
    keep.reserve(g.nodes.size());
    for (const fusion::GNode& n : g.nodes) keep.emplace_back(n.node);
    if (!plan) {
      plan = new_plan(g, values, 0, kHostTarget);
      for (Step& s : plan->steps) prepare(s);  // belongs to what planning costs
      planning = now() - started;
      started += planning;
    }
    log_new(g, *plan, values, 0);
    note_plan(*plan);
    const Watched watched(g, *plan, values, kHost);
    Run(g, *plan, values).run();
  }
  round.took(now() - started, planning);
}

}  // namespace plait::engine
