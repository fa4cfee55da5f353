#include "plan_ahead.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "codegen/llvm/fork.hpp"
#include "history.hpp"
#include "run.hpp"

namespace plait::engine {
using tracer::Node;

namespace {

constexpr int kNice = 10;
constexpr std::size_t kMaxWaiting = 16;

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
      gn.node = &n;
    }
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
    to.axes = from.axes;
    to.view_shape = from.view_shape;
    to.view_strides = from.view_strides;
    to.view_dtype = from.view_dtype;
    to.in_place = from.in_place;
    to.scalar = from.scalar;
  }

  fusion::Graph graph_;
  std::vector<Node> nodes_;
};

void work();
void reset_in_child();
void stop_at_exit();

// Never destroyed: the thread may still run while static objects go.
struct Queue {
  std::mutex mutex;
  std::condition_variable changed, idle;
  std::deque<std::unique_ptr<Snapshot>> jobs;
  bool running = false, busy = false, stopping = false;
  std::thread thread;

  Queue() {
    jit::hold_over_fork(mutex);
    jit::after_fork_in_child(&reset_in_child);
    std::atexit(&stop_at_exit);
  }
};
Queue& queue() {
  static Queue& q = *new Queue;
  return q;
}

double processor_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void run(const Snapshot& s) {
  try {
    const double started = processor_seconds();
    std::shared_ptr<fusion::Plan> plan = fusion::make_plan(s.graph());
    for (fusion::Step& step : plan->steps)
      if (step.kind == fusion::StepKind::Kernel) step.compiled = compiled(step.lowered.kernel);
    const std::lock_guard held(tracer::lock());
    learn_planning(processor_seconds() - started, s.graph().size());
    add_plan(s.graph(), std::move(plan));
  } catch (const std::exception& e) {
    if (logging(Log::Fusion)) log(Log::Fusion, std::string("no plan ahead: ") + e.what());
  }
}

void work() {
#ifdef __linux__
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);  // there, of this thread
  sched_yield();  // it came with the priority of its maker, and on one core in the maker's place
#endif
  Queue& q = queue();
  std::unique_lock lock(q.mutex);
  while (true) {
    q.changed.wait(lock, [&] { return q.stopping || !q.jobs.empty(); });
    if (q.stopping) return;
    std::unique_ptr<Snapshot> job = std::move(q.jobs.front());
    q.jobs.pop_front();
    q.busy = true;
    lock.unlock();
    run(*job);
    job.reset();
    lock.lock();
    q.busy = false;
    if (q.jobs.empty()) q.idle.notify_all();
  }
}

// The thread is not in the child; the next job starts another. What it was at is left as it stood.
void reset_in_child() {
  Queue& q = queue();
  new (&q.thread) std::thread;
  new (&q.changed) std::condition_variable;
  new (&q.idle) std::condition_variable;
  q.jobs.clear();
  q.running = q.busy = false;
}

// Waits for the plan in work, not for the queue.
void stop_at_exit() {
  Queue& q = queue();
  {
    const std::lock_guard lock(q.mutex);
    q.stopping = true;
    q.jobs.clear();
    if (!q.running) return;
  }
  q.changed.notify_all();
  q.thread.join();
}

}  // namespace

bool plan_ahead(const fusion::Graph& g) try {
  Queue& q = queue();
  auto job = std::make_unique<Snapshot>(g);
  const std::lock_guard lock(q.mutex);
  if (q.stopping || q.jobs.size() >= kMaxWaiting) return false;
  if (!q.running) {
    q.thread = std::thread(&work);
    q.running = true;
  }
  q.jobs.push_back(std::move(job));
  q.changed.notify_one();
  return true;
} catch (const std::exception&) {
  return false;  // no thread, or no memory for a copy
}

void wait_for_plans() {
  Queue& q = queue();
  std::unique_lock lock(q.mutex);
  q.idle.wait(lock, [&] { return q.stopping || (q.jobs.empty() && !q.busy); });
}

}  // namespace plait::engine
