#include "executable.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "core/array_memory.hpp"
#include "core/config.hpp"
#include "core/timeline.hpp"
#include "engine/direct/fp_flags.hpp"
#include "engine/threads/interruption.hpp"
#include "engine/threads/team.hpp"
#include "tracer/computed.hpp"
#include "tracer/context.hpp"
#include "tracer/evaluation_scope.hpp"
#include "tracer/layout.hpp"

namespace plait::engine {
using fusion::GNode;
using tracer::Node;
using tracer::NodeKind;

namespace {

// Planning more nodes takes longer than a call that asks for it may wait.
constexpr int kPlannedAtOnce = 64;

// The fields that a later run asks for: of events, by operation and line.
Ref<Node> detached(const Node& n, bool constant) {
  Ref<Node> c = tracer::new_node(n.kind);
  c->dtype = n.dtype;
  c->fn = n.fn;
  c->reduce = n.reduce;
  c->n_inputs = n.n_inputs;
  c->errstate = n.errstate;
  c->named = n.named;
  c->device = n.device;
  c->site = n.site;
  c->shape = n.shape;
  c->strides = n.strides;
  c->offset = n.offset;
  c->step = n.step;
  c->axes = n.axes;
  c->view_shape = n.view_shape;
  c->view_strides = n.view_strides;
  c->view_dtype = n.view_dtype;
  c->call = n.call;
  c->scalar = n.scalar;
  if (constant) {
    c->data = n.data;
    c->data_offset = n.data_offset;
  }
  return c;
}

std::int32_t number_of(const fusion::Graph& g, const Node* n) {
  const auto at =
      std::find_if(g.nodes.begin(), g.nodes.end(), [&](const GNode& x) { return x.recorded == n; });
  return at == g.nodes.end() ? -1 : static_cast<std::int32_t>(at - g.nodes.begin());
}

}  // namespace

// Takes the values that were wanted.
class Executable::Taken final : public RecordedGraph {
 public:
  Taken(const Executable& e, const Bindings& b, std::span<Result> results)
      : RecordedGraph(e.graph_, b, e.plan_->canon), executable_(e), results_(results) {}

  void keep(const Root& r, const NodeMemory& m) override { keep_as_recorded(r, m); }
  void keep_as_recorded(const Root& r, const NodeMemory& m) override {
    const auto& wanted = executable_.wanted_;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i] == r.node) results_[i] = {m, r.strides};
  }
  void give_up(std::int32_t) override {}
  void secure(const Root&, const NodeMemory&) override {}
  void let_go(std::vector<std::int32_t>& nodes) override { nodes.clear(); }
  NodeMemory give_memory(std::int32_t node) override {
    const Node& n = *g_[node].node;
    return {allocate_array(n.shape, n.dtype), 0};
  }

 private:
  const Executable& executable_;
  const std::span<Result> results_;
};

std::shared_ptr<Executable> Executable::make(std::span<Node* const> wanted,
                                             std::span<const Node* const> inputs,
                                             PlanAhead& ahead) {
  std::shared_ptr<Executable> e(new Executable(wanted));
  std::vector<std::int64_t> values;
  for (const GNode& n : e->graph_.nodes)
    if (n.node->device > kHost) return nullptr;
  e->plan_ = known_plan(e->graph_, values);
  if (!e->plan_ && !ahead && e->graph_.size() > kPlannedAtOnce && config().plan != PlanMode::Always)
    if ((ahead = plan_ahead(e->graph_))) return nullptr;
  if (!e->plan_) e->plan_ = plan_for(e->graph_, values);
  take_kernels(*e->plan_);
  e->given_ = run_inputs(e->graph_, *e->plan_, std::move(values));
  for (const Node* n : inputs) e->inputs_.push_back(number_of(e->graph_, n));
  for (const Node* n : wanted) e->wanted_.push_back(number_of(e->graph_, n));
  for (const fusion::Step& s : e->plan_->steps)
    for (const fusion::ResultSpec& r : s.results)
      if (r.target) {
        const auto old = std::find(e->inputs_.begin(), e->inputs_.end(), r.target->old);
        e->in_place_ |= old != e->inputs_.end();
      }
  e->detach();
  return e;
}

Executable::~Executable() {
  const std::lock_guard held(tracer::lock());
  own_.clear();
  launches_.reset();
}

void Executable::detach() {
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    GNode& g = graph_.nodes[i];
    const bool input = std::ranges::find(inputs_, static_cast<std::int32_t>(i)) != inputs_.end();
    const bool constant = g.leaf && g.node->data && !input;
    if (constant) constants_.push_back(g.node);
    if (input) given_.slots[i].memory = {};
    own_.push_back(detached(*g.node, constant));
    g.node = g.recorded = own_.back().get();
  }
  graph_.instead.clear();
}

namespace {

bool is_exact(const Scalar& number, DType as) {
  return number.dtype == as || same_bits(cast(cast(number, as), number.dtype), number);
}

}  // namespace

bool Executable::same_constants(const Executable& other) const {
  for (std::size_t i = 0; i < own_.size(); ++i) {
    const Node &a = *own_[i], &b = *other.own_[i];
    if (!a.data || !b.data) {
      if (a.data || b.data) return false;
      continue;
    }
    const auto bytes = static_cast<std::int64_t>(itemsize(a.dtype));
    const auto e = tracer::extent(a.shape, a.strides, bytes);
    if (a.data != b.data &&
        std::memcmp(a.data->data + a.data_offset + e.first, b.data->data + b.data_offset + e.first,
                    static_cast<std::size_t>(e.last - e.first)) != 0)
      return false;
  }
  return true;
}

// Some exponents are recorded as other functions than power.
bool Executable::is_exponent(std::size_t scalar) const {
  std::size_t first = 0;
  for (const fusion::Step& s : plan_->steps) {
    const auto& nodes = s.lowered.scalars;
    if (scalar >= first + nodes.size()) {
      first += nodes.size();
      continue;
    }
    const std::int32_t node = nodes[scalar - first];
    return std::ranges::any_of(graph_.nodes, [&](const GNode& n) {
      return n.node->kind == NodeKind::Elementwise && n.node->fn == OpId::Power && n.in[1] == node;
    });
  }
  return false;
}

bool Executable::take_numbers(const Executable& other, const Numbers& n) {
  if (plan_ != other.plan_ || given_.values != other.given_.values || inputs_ != other.inputs_ ||
      wanted_ != other.wanted_ || !same_constants(other))
    return false;
  const auto is_taken = [](const std::vector<Taker>& by, std::size_t number) {
    return std::ranges::find(by, number, &Taker::number) != by.end();
  };
  std::vector<Taker> takers;
  for (std::size_t i = 0; i < given_.scalars.size(); ++i) {
    const Scalar &here = given_.scalars[i], &there = other.given_.scalars[i];
    const DType as = here.dtype;
    if (const auto t = std::ranges::find(takers_, i, &Taker::scalar); t != takers_.end()) {
      if (!same_bits(cast(n.there[t->number], as), there)) return false;
      takers.push_back({i, t->number, t->exact && is_exact(n.there[t->number], as)});
      continue;
    }
    if (same_bits(here, there)) continue;
    std::optional<std::size_t> number;
    for (std::size_t k = 0; k < n.here.size(); ++k) {
      if (is_taken(takers_, k) || same_bits(n.here[k], n.there[k]) ||
          !same_bits(cast(n.here[k], as), here) || !same_bits(cast(n.there[k], as), there))
        continue;
      if (number) return false;  // it may be either
      number = k;
    }
    if (!number || is_exponent(i)) return false;
    takers.push_back({i, *number, is_exact(n.here[*number], as) && is_exact(n.there[*number], as)});
  }
  // A number that no scalar is may have decided what was recorded.
  for (std::size_t k = 0; k < n.here.size(); ++k)
    if (!same_bits(n.here[k], n.there[k]) && !is_taken(takers, k)) return false;
  takers_ = std::move(takers);
  if (!takers_.empty()) idle_.clear();
  return true;
}

bool Executable::holds(std::span<const Scalar> numbers) const {
  return std::ranges::all_of(takers_, [&](const Taker& t) {
    return !t.exact || is_exact(numbers[t.number], given_.scalars[t.scalar].dtype);
  });
}

void Executable::give(std::span<const Scalar> numbers) {
  for (const Taker& t : takers_) {
    Scalar& s = given_.scalars[t.scalar];
    s = cast(numbers[t.number], s.dtype);
  }
}

void Executable::run(std::span<const NodeMemory> inputs, std::span<const Scalar> numbers,
                     std::span<Result> results) {
  const tracer::EvaluationScope turn(std::span<Node* const>{});
  timeline::Span span(timeline::Category::Evaluation);
  span.name("evaluate what a call replays");
  if (span) span.site(tracer::current_site());
  const Uninterrupted whole(in_place_);
  ++counters().evaluations;
  if (!std::exchange(seen_again_, true)) ask_for_code(*plan_);
  give(numbers);
  // A trace shows the steps, and tests have every region on the team.
  const bool walk = span || shares_always();
  if (!walk && launches_ && run_launches(inputs, results)) return;
  std::unique_ptr<Bindings> b;
  if (idle_.empty()) {
    b = std::make_unique<Bindings>(*plan_, RunInputs(given_), kHost);
  } else {
    b = std::move(idle_.back());
    idle_.pop_back();
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs_[i] >= 0) b->memory(inputs_[i]) = inputs[i];
  Taken taken(*this, *b, results);
  LaunchRecorder recorded;
  const bool records = !walk && launches_alone();
  run_on_host(*plan_, *b, taken, records ? &recorded : nullptr);
  if (records) keep_launches(std::move(recorded), inputs, results, taken);
  std::ranges::copy(given_.slots, b->slots.begin());
  if (takers_.empty()) idle_.push_back(std::move(b));  // else it has the scalars of this run
}

bool Executable::launches_alone() const {
  return tries_ > 0 && !launches_ && std::ranges::all_of(plan_->steps, [](const fusion::Step& s) {
           return s.kind == fusion::StepKind::Kernel && s.compiled && !is_cut(s) &&
                  static_cast<const CompiledKernel*>(s.compiled.get())->jitted();
         });
}

void Executable::keep_launches(LaunchRecorder&& recorded, std::span<const NodeMemory> inputs,
                               std::span<const Result> results, const RecordedGraph& of) {
  --tries_;
  for (const unsigned flag : {kInvalid, kDivide, kOver, kUnder})
    if (of.listens(flag)) heard_ |= flag;
  // What was written over could not be computed again for who hears of it.
  if (in_place_ && heard_ != 0)
    tries_ = 0;
  else
    launches_ =
        Launches::make(std::move(recorded), inputs_, inputs, given_.slots, results, in_place_);
}

bool Executable::run_launches(std::span<const NodeMemory> inputs, std::span<Result> results) {
  const Ref<Launches> all = launches_;  // others may run in the middle
  try {
    const std::span<const Scalar> scalars(given_.scalars);
    if (!(all->run(inputs, takers_.empty() ? scalars.first(0) : scalars, results) & heard_))
      return true;
    launches_.reset();
    tries_ = 0;
  } catch (const std::bad_alloc&) {
  }
  for (Result& r : results) r = {};
  return false;
}

}  // namespace plait::engine
