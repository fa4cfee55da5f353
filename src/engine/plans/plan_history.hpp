// What is remembered of graphs that were evaluated before, and what was learnt of the machine from
// them: see history.hpp.
#pragma once
#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "core/machine.hpp"

namespace plait::engine {

struct PlanHistory {
  // Of direct rounds, before a plan that was dropped is tried again; doubled each time.
  static constexpr std::uint32_t kProbeAfter = 512;
  struct Record {
    double spent = 0;                // seconds of the direct way before there was a plan
    double direct = 0, planned = 0;  // least seconds an estimated second; 0: not measured
    double planned_seconds = 0;      // of all runs of the plan
    std::uint32_t direct_runs = 0, planned_runs = 0;
    std::uint32_t next_probe = kProbeAfter;  // direct runs before the dropped plan is tried again
    bool dropped = false, ahead = false;     // ahead: asked for in the background
    bool maps = false;                       // rounds may go by at once
    int warm = 0;                            // times that it was measured beside the plan
    std::uint32_t at_once = 0;               // a site that rounds go by at; 0: none do
  };

  // What this machine needs, learnt from what was measured: seconds to plan a node and prepare its
  // kernels, and seconds of direct work for one that is estimated.
  struct Rates {
    double planning = host_machine().plan_node;
    double direct = 1;
    void learn(double& rate, double measured, double weight) {
      rate += (std::clamp(measured, rate / 4, rate * 4) - rate) * weight;
    }
  };

  using Records = std::unordered_map<std::uint64_t, Record>;  // by the hash of a graph's key
  Records records;
  Rates rates;
};

}  // namespace plait::engine
