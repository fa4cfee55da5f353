// One run of a plan, wherever it runs: the walk over its steps.
#pragma once
#include "engine/direct/fp_flags.hpp"
#include "engine/threads/interruption.hpp"
#include "executor.hpp"
#include "values.hpp"

namespace plait::engine {

class LaunchRecorder;

// Gives the wanted nodes of the graph their values, on its device. `values`: of the plan's
// expressions. The recorder's lock is held; it is free while a kernel runs.
void run_plan(const fusion::Graph& g, fusion::Plan& p, std::vector<std::int64_t> values,
              DeviceId device);

// Makes sure that the steps of a plan for the host have their kernels: those of one class, one.
void take_kernels(fusion::Plan& p);
// Machine code for the plan's kernels: it will be run often.
void ask_for_code(fusion::Plan& p);
// `launches`: notes them, or that the run does more than to launch.
void run_on_host(fusion::Plan& p, Bindings& b, Recording& r, LaunchRecorder* launches = nullptr);
void run_on_device(fusion::Plan& p, Bindings& b, Recording& r);

// The floating-point exceptions of a step that is an operation.
void report_operation(const BoundStep& s, unsigned flags, Recording& r);
// Computes a step's operation on the host into `out`, from `memory_of` its operands, a function
// that gives the memory of a node. Returns the floating-point exceptions raised.
template <class F>
unsigned compute_operation(const BoundOperation& o, std::byte* out, bool fresh, F&& memory_of) {
  std::array<Operand, 3> in;
  std::size_t count = 0;
  for (const BoundOperand& x : o.operands) {
    Operand& to = in[count++];
    to = {nullptr, x.dtype, x.shape, x.strides};
    if (x.scalar) {
      to.data = const_cast<std::byte*>(reinterpret_cast<const std::byte*>(x.scalar->bytes));
    } else {
      const NodeMemory& m = memory_of(x.node);
      to.data = m.at() + x.offset;
      to.contents = m.contents;
    }
  }
  const SameFlag one_look_for_a_handler;
  clear_flags();
  run_operation(o.operation(), {in.data(), count}, {out, o.strides}, fresh);
  return raised_flags();
}

class PlanRun {
 public:
  PlanRun(fusion::Plan& p, Bindings& b, Executor& e, Recording& r, Values& v)
      : plan_(p), bindings_(b), executor_(e), recording_(r), values_(v) {}
  void run();

 private:
  void region(const BoundStep& s);
  void operation(const BoundStep& s);
  void together(std::span<const BoundStep> steps, const Stretch& of);
  class Freed;
  // What is free serves first.
  void take_memory(std::int32_t node, Freed* free = nullptr);
  void allocate(const Root& r, fusion::UpdateMode update, Freed* free = nullptr);
  Ref<Buffer> memory_for(const Dims& shape, DType t, Freed* free);
  void bind_buffers(Region& r);
  void join(const Region& r);

  fusion::Plan& plan_;
  Bindings& bindings_;
  Executor& executor_;
  Recording& recording_;
  Values& values_;
  // Of the region at hand.
  std::vector<void*> buffers_;
  std::vector<Ref<Buffer>> partials_;
};

}  // namespace plait::engine
