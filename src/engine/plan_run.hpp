// What one run of a plan is made of wherever it runs: the memory of its nodes, what a kernel is
// called with, and which values stay afterwards.
#pragma once
#include <functional>
#include <map>
#include <vector>

#include "fusion/plan.hpp"
#include "run.hpp"

namespace plait::engine {

class PlanRun {
 protected:
  // What a kernel's parameters are bound to in one call.
  struct Call {
    std::vector<std::int64_t> params;
    std::vector<Scalar> scalars;
    std::vector<void*> buffers;
    ir::CallArgs args() const { return {buffers.data(), params.data(), scalars.data()}; }
  };
  // Memory of the host with the contents of what a node's memory is.
  using ToHost = std::function<Ref<Buffer>(const Ref<Buffer>&)>;

  PlanRun(const fusion::Graph& g, fusion::Plan& p, const std::vector<std::int64_t>& values);

  Call numbers_of(const fusion::LoweredKernel& l) const;
  // The roots' memory is there.
  void bind_buffers(const fusion::LoweredKernel& l, std::span<const Ref<Buffer>> partials,
                    void* chunk_table, Call& c) const;
  // Blocked: how a step's axis of `extent` iterations is cut.
  Chunks chunks_of(const fusion::Step& s, std::int64_t extent) const;
  std::int64_t elements_an_iteration(const fusion::Step& s, std::int64_t extent) const;

  void settle(tracer::Node& n, const NodeMemory& m) const;
  // After a step's kernels.
  void settle_roots(const fusion::Step& s, fusion::UpdateMode update);

  // A copy of the graph behind node i, down to what is in memory, for the reference evaluator.
  Ref<tracer::Node> shadow(std::int32_t root, const ToHost& to_host) const;

  const fusion::Graph& g_;
  fusion::Plan& plan_;
  const std::vector<std::int64_t>& values_;
  std::vector<NodeMemory> memory_;
  std::vector<bool> of_run_;  // written in place, and made anew if the run does not come to its end

 private:
  using Copies = std::map<std::int32_t, Ref<tracer::Node>>;
  Ref<tracer::Node> shadow(std::int32_t root, std::int32_t i, const ToHost& to_host,
                           Copies& copies) const;
};

}  // namespace plait::engine
