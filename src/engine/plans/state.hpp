// What the engine keeps from one evaluation to the next, all of it. What else is mutable in this
// folder belongs to the process, not to an engine: docs/architecture.md lists it with reasons.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "call_cache.hpp"
#include "core/bounded_table.hpp"
#include "engine/direct/select.hpp"
#include "engine/products/packed_operands.hpp"
#include "engine/threads/lent_threads.hpp"
#include "executor.hpp"
#include "plan_history.hpp"
#include "reductions_along.hpp"
#include "run.hpp"

namespace plait::engine {

// Plans of one structure, for graphs that give other answers.
using PlanVariants = CallCache<std::shared_ptr<fusion::Plan>, 64>;

// Guarded by the recorder's lock, where nothing else is said.
struct State {
  Stats stats{};
  PlanSummary last_plan{};
  BoundedTable<PlanVariants> plans{code_limit()};  // of a key
  PlanHistory rounds;
  std::uint64_t reports = 0;  // of plait.explain, so far
  // How reductions are cut on devices: device, whether in a tree, extent, elements an iteration.
  std::map<std::tuple<DeviceId, bool, std::int64_t, std::int64_t>, AxisCut> device_cuts;

  struct {
    std::mutex mutex;  // held while the table changes
    BoundedTable<std::shared_ptr<CompiledKernel>> table{code_limit()};
  } kernels;
  std::atomic<double> interpreted{0};  // seconds, of all kernels; the evaluating thread adds

  // The labels that were last selected by (numpy_compat/labels.hpp), and how often.
  struct Labels {
    std::uint64_t of = 0;  // tracer::contents_of() them
    std::int64_t elements = 0, asked = 0;
    std::int64_t expected = 0;  // how often the ones before, of as many elements
    std::shared_ptr<const Groups> groups;
  } labels;

  ReductionsAlong reductions_along;

  PackedOperands packed{config().packed_limit};  // guards itself

  InterruptHook interrupts{};                          // set before anything is evaluated
  std::atomic<const Progress*> progress{nullptr};      // null: nobody is told
  std::atomic<const RunTasks*> lent_threads{nullptr};  // null: the team's
};

// Never destroyed: threads in the background and arrays outlive any static.
State& state();

}  // namespace plait::engine
