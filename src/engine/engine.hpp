// Evaluate = plan -> look up or compile -> launch. Installs itself as the recorder's evaluator.
#pragma once
#include <string>

#include "plait/detail/callback.hpp"
#include "tracer/context.hpp"
#include "tracer/interrupted.hpp"

namespace plait::engine {

void start();  // idempotent: installs the evaluator, fork handlers; the facade and the bindings
               // call it
// An operation at a time with precompiled loops: the reference evaluator, what PLAIT_FUSE=0 and
// live exports use.
void evaluate_direct(std::span<tracer::Node* const> wanted);
// Plans, compiles, runs. Callers of either have a tracer::EvaluationScope and hold the recorder's
// lock.
void evaluate_fused(std::span<tracer::Node* const> wanted);

int num_threads();
void set_num_threads(int n);

// The text of plait.explain: first line "1 region" or "N regions ...". Does not evaluate.
struct ExplainOptions {
  std::string target;   // "cpu", "cuda:sm_90"; empty: of the device that the nodes live on
  bool source = false;  // of each kernel, for targets whose kernels have one
};
// Needs no device. Throws ValueError for an unknown target, DeviceError when there is no compiler
// for it.
std::string explain(std::span<tracer::Node* const> wanted, const ExplainOptions& options = {});

// What the interpreter/JIT did so far; tests assert on these.
struct Stats {
  std::uint64_t evaluations, plans_made, plans_reused, kernels_run, kernels_interpreted,
      kernels_jitted, kernels_compiled, disk_hits, direct_nodes, bytes_moved, kernels_on_device,
      steps_moved_to_host, steps_together;
};
Stats stats();
// The plan of the last evaluation: regions and bytes, for tests/plan and explain.
struct PlanSummary {
  int regions;
  std::int64_t bytes_moved, bytes_least;
};
PlanSummary last_plan();

// Gives back what can be made again: plans, kernels, freed buffers. What an evaluation of another
// thread uses stays. Returns the bytes, as far as they are counted.
std::size_t trim();
// What is bounded by settings that have changed is within them again.
void settings_changed();
// Plans (structures of graphs) and kernels in memory; PLAIT_CODE_LIMIT bounds the bytes of either.
struct Kept {
  std::size_t plans, plan_bytes, kernels, kernel_bytes;
  // Operands of products; operands_packed and _found: so far (see packed_operands.hpp).
  std::size_t operands, operand_bytes, operands_packed, operands_found;
};
Kept kept();

// How evaluations are interrupted (Ctrl-C).
struct InterruptHook {
  // What is true once an interrupt was asked for; nullptr in threads that cannot act on it.
  const std::atomic<bool>* (*flag)();
  // Called in threads that can, when the flag is true; clears it. True: the evaluation ends.
  bool (*stop)();
};
// Called with how many steps of a long evaluation's plan are done, and how many there are, on the
// thread that evaluates, every few milliseconds at most. Nobody evaluates meanwhile. Empty: nobody
// is told.
using Progress = detail::Callback<int, int>;
void set_progress(Progress p);

void set_interrupt_hook(const InterruptHook& hook);
using tracer::Interrupted;

}  // namespace plait::engine
