// Which way a graph is evaluated, by a plan or an operation at a time, and what is remembered of
// graphs like it. A plan costs before it saves anything: operations are done one by one until it is
// there, or until they have taken about the time of planning. The sum of both is then at most twice
// what the better way would have taken. A plan that measures slower than the direct way is not
// used. Where the direct way is taken for a while, its operations are computed at their call sites
// (tracer/at_once.hpp) and no graph is made, which counts for it.
#pragma once
#include <cstdint>
#include <vector>

#include "fusion/graph/graph.hpp"

namespace plait::engine {

// What computing a graph an operation at a time is estimated to take.
struct DirectWork {
  double seconds = 0;
  double bytes = 0;       // of the values in memory on the way, all together
  bool same_bits = true;  // whether its results are those of a plan, bit for bit
};
DirectWork direct_work(const fusion::Graph& g);

// One evaluation of a graph, whose maker has a tracer::EvaluationScope.
class Round {
 public:
  // `planned`: a plan is at hand.
  Round(const fusion::Graph& g, bool planned);
  bool direct() const { return direct_; }
  // Why the next round of a graph like this one will be direct; null: it will be planned. Nothing
  // is remembered of being asked.
  static const char* why_direct(const fusion::Graph& g, bool planned);
  // The graph has come by before, and nobody has asked for its plan yet. Asked before it is
  // evaluated.
  bool wants_plan_ahead() const { return wants_plan_; }
  void plan_is_on_its_way() const;
  // Asked before the graph is evaluated: took() then has rounds to come computed at once, where a
  // plan is waited for or was dropped and all of the graph are short maps.
  void may_go_on_at_once(const fusion::Graph& g);
  // The evaluation is done: what running it took, and what planning did before, if it was planned
  // now.
  void took(double seconds, double planning = 0);

 private:
  std::uint64_t key_ = 0;
  int nodes_;
  double estimate_ = 0;
  bool direct_ = false, wants_plan_ = false;
  std::vector<std::uint32_t> sites_;  // of what may be computed at once
};

// Planning this graph has taken too long: no round of one like it asks for a plan again. The
// recorder's lock is held.
void never_plan(const fusion::Graph& g);

// The seconds that planning a graph of so many nodes took, its kernels included.
void learn_planning(double seconds, int nodes);

// Also what was learnt of the machine. The recorder's lock is held. Returns the bytes.
std::size_t forget_rounds();

}  // namespace plait::engine
