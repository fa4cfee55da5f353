#include "plan_ahead.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "core/background.hpp"
#include "core/timeline.hpp"
#include "history.hpp"
#include "plan_run.hpp"
#include "run.hpp"
#include "tracer/at_once.hpp"

namespace plait::engine {
using tracer::Node;

namespace {

constexpr std::size_t kMaxWaiting = 16;
// A graph of four thousand nodes takes a tenth of a second. An expression is 80 bytes.
constexpr double kMostSeconds = 2;
constexpr std::size_t kMostExpressions = std::size_t{1} << 20;

// A graph of nodes of its own, which nobody else counts references of: the recorder's go on
// changing.
class Snapshot {
 public:
  explicit Snapshot(const fusion::Graph& g) : graph_(g), nodes_(g.nodes.size()) {
    std::map<const Buffer*, Ref<Buffer>> buffers;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      fusion::GNode& gn = graph_.nodes[i];
      Node& n = nodes_[i];
      copy(*gn.node, n);
      n.refs = 1;  // never given to Node::destroy
      if (gn.node->data) {
        Ref<Buffer>& b = buffers[gn.node->data.get()];
        if (!b) b = allocate(0);
        n.data = b;
      }
      for (int k = 0; k < 3; ++k)
        if (gn.in[k] >= 0) n.inputs[k] = Ref<Node>(&nodes_[static_cast<std::size_t>(gn.in[k])]);
      gn.node = gn.recorded = &n;
    }
    graph_.instead.clear();  // while the lock is held
  }
  ~Snapshot() {
    for (Node& n : nodes_)
      for (Ref<Node>& in : n.inputs) in.reset();
  }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  const fusion::Graph& graph() const { return graph_; }

 private:
  static void copy(const Node& from, Node& to) {
    to.kind = from.kind;
    to.dtype = from.dtype;
    to.fn = from.fn;
    to.reduce = from.reduce;
    to.n_inputs = from.n_inputs;
    to.device = from.device;
    to.shape = from.shape;
    to.strides = from.strides;
    to.offset = from.offset;
    to.step = from.step;
    to.axes = from.axes;
    to.call = from.call;
    to.view_shape = from.view_shape;
    to.view_strides = from.view_strides;
    to.view_dtype = from.view_dtype;
    to.in_place = from.in_place;
    to.scalar = from.scalar;
    to.data_offset = from.data_offset;
  }

  fusion::Graph graph_;
  std::vector<Node> nodes_;
};

void log_failure(const char* why) noexcept try {
  if (logging(Log::Fusion)) log(Log::Fusion, std::string("no plan ahead: ") + why);
} catch (const std::bad_alloc&) {  // no memory, no message
}

// Graphs like this one are evaluated an operation at a time from here on.
void give_up(const fusion::Graph& g) noexcept try {
  const std::lock_guard held(tracer::lock());
  never_plan(g);
} catch (const std::bad_alloc&) {  // it is tried once more
}

void plan(const Snapshot& s, const std::atomic<bool>& ending) noexcept {
  timeline::Span span(timeline::Category::Plan);
  span.name("plan ahead");
  span.arg("nodes", s.graph().size());
  const fusion::Budget budget(ending, kMostSeconds, kMostExpressions);
  try {
    const double started = fusion::processor_seconds();
    std::shared_ptr<fusion::Plan> plan = fusion::make_plan(
        s.graph(), host_target(), fusion::Reuse::ByCost, fusion::all_rules(), budget);
    take_kernels(*plan);
    if (ending) return;
    const std::lock_guard held(tracer::lock());
    learn_planning(fusion::processor_seconds() - started, s.graph().size());
    add_plan(s.graph(), std::move(plan));
    tracer::record_again();
  } catch (const std::exception& e) {
    log_failure(e.what());
    if (budget.spent()) give_up(s.graph());
  }
}

class Planning final : public Job {
 public:
  explicit Planning(const fusion::Graph& g) : snapshot_(g) {}
  ~Planning() override { *done_ = true; }
  Planning(const Planning&) = delete;
  Planning& operator=(const Planning&) = delete;
  PlanAhead plan_to_come() const { return PlanAhead(done_); }
  void run(const std::atomic<bool>& ending) noexcept override { plan(snapshot_, ending); }
  void lost(bool) noexcept override { *done_ = true; }

 private:
  Snapshot snapshot_;
  const std::shared_ptr<std::atomic<bool>> done_ = std::make_shared<std::atomic<bool>>(false);
};

Background& planner() {
  static Background& b = *new Background("plait: plans ahead");
  return b;
}

}  // namespace

PlanAhead plan_ahead(const fusion::Graph& g) try {
  auto planning = std::make_unique<Planning>(g);
  PlanAhead to_come = planning->plan_to_come();
  std::unique_ptr<Job> job = std::move(planning);
  const bool accepted = planner().add(job, kMaxWaiting) == Background::Answer::Accepted;
  return accepted ? to_come : PlanAhead();
} catch (const std::bad_alloc&) {
  return {};
}

void wait_for_plans() { planner().wait_idle(); }

}  // namespace plait::engine
