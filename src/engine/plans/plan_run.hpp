// One run of a plan, wherever it runs: the walk over its steps.
#pragma once
#include "executor.hpp"

namespace plait::engine {

// Gives the wanted nodes of the graph their values, on its device. `values`: of the plan's
// expressions. The recorder's lock is held; it is free while a kernel runs.
void run_plan(const fusion::Graph& g, fusion::Plan& p, std::vector<std::int64_t> values,
              DeviceId device);

// Makes sure that a step of a plan for the host has its kernel.
void take_kernel(fusion::Step& s);
void run_on_host(fusion::Plan& p, Bindings& b, Recording& r);
void run_on_device(fusion::Plan& p, Bindings& b, Recording& r);

class PlanRun {
 public:
  PlanRun(fusion::Plan& p, Bindings& b, Executor& e, Recording& r)
      : plan_(p), bindings_(b), executor_(e), recording_(r) {}
  void run();
  // After a step: which values stay, and whose memory they took over.
  static void settle(std::span<const Root> roots, fusion::UpdateMode update, Bindings& b,
                     Recording& r);

 private:
  void region(const BoundStep& s);
  void take_memory(std::int32_t node);
  void allocate(const Root& r, fusion::UpdateMode update);
  void bind_buffers(Region& r);
  void join(const Region& r);

  fusion::Plan& plan_;
  Bindings& bindings_;
  Executor& executor_;
  Recording& recording_;
  // Of the region at hand.
  std::vector<void*> buffers_;
  std::vector<Ref<Buffer>> partials_;
};

}  // namespace plait::engine
