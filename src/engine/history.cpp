#include "history.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "core/config.hpp"
#include "core/machine.hpp"

namespace plait::engine {

namespace {

constexpr std::size_t kMaxRecords = 1 << 14;
// A plan's first runs are interpreted, and its kernels are still to be compiled: planning is worth
// while once the direct way has taken this many times as long.
constexpr double kWorthPlanning = 2;
constexpr double kPatience = 6;  // with a plan that is on its way
// Runs and seconds after which a plan is as fast as it becomes, and how much slower than the direct
// way it may be: small differences are noise.
constexpr std::uint32_t kSettledRuns = 16;
constexpr double kSettledSeconds = 0.01;
constexpr double kTooSlow = 1.1;
// Rounds before a plan that was dropped is tried again; doubled each time.
constexpr std::uint32_t kProbeAfter = 512;
constexpr std::uint32_t kProbeRuns = 4;
// The direct way is measured beside a plan only where it needs little memory.
constexpr double kProbeBytes = 64e6;

struct Record {
  double spent = 0;                // seconds of the direct way before there was a plan
  double direct = 0, planned = 0;  // least seconds an estimated second; 0: not measured
  double planned_seconds = 0;      // of all runs of the plan
  std::uint32_t direct_runs = 0, planned_runs = 0;
  std::uint32_t next_probe = kProbeAfter;  // direct runs before the dropped plan is tried again
  bool dropped = false, ahead = false;     // ahead: asked for in the background
};

std::unordered_map<std::uint64_t, Record>& records() {
  static auto& r = *new std::unordered_map<std::uint64_t, Record>;
  return r;
}

// What this machine needs, learnt from what was measured: seconds to plan a node and prepare its
// kernels, and seconds of direct work for one that is estimated.
struct Rates {
  double planning = kMachine.plan_node;
  double direct = 1;
  void learn(double& rate, double measured, double weight) {
    rate += (std::clamp(measured, rate / 4, rate * 4) - rate) * weight;
  }
} rates;

void least(double& known, double value) { known = known == 0 ? value : std::min(known, value); }

// Drops a plan that is slower than the direct way, or takes it up again.
void judge(Record& r) {
  const bool settled = r.planned_runs >= kSettledRuns && r.planned_seconds >= kSettledSeconds;
  if (!settled || r.direct == 0) return;
  r.dropped = r.planned > kTooSlow * r.direct;
}

bool goes_direct(const Record& r, bool planned, int nodes, double estimate, const DirectWork& w) {
  if (!planned) {
    const double planning = rates.planning * nodes;
    return r.dropped ||
           r.spent + estimate * rates.direct < (r.ahead ? kPatience : kWorthPlanning) * planning;
  }
  if (r.dropped) return r.direct_runs < r.next_probe;
  // A settled plan that is slower than the direct way is believed to be.
  return r.direct == 0 && r.planned_runs >= kSettledRuns && r.planned_seconds >= kSettledSeconds &&
         r.planned > kTooSlow * rates.direct && w.bytes <= kProbeBytes;
}

}  // namespace

Round::Round(const fusion::Graph& g, bool planned)
    : key_(std::hash<std::string_view>()(g.key())), nodes_(g.size()) {
  if (config().plan == PlanMode::Always) return;
  const DirectWork work = direct_work(g);
  estimate_ = work.seconds;
  if (!work.same_bits || estimate_ <= 0) return;
  if (records().size() >= kMaxRecords) records().clear();
  const Record& r = records()[key_];
  direct_ = goes_direct(r, planned, nodes_, estimate_, work);
  wants_plan_ = direct_ && !planned && !r.ahead && r.direct_runs > 0;
}

const char* Round::why_direct(const fusion::Graph& g, bool planned) {
  if (config().plan == PlanMode::Always) return nullptr;
  const DirectWork work = direct_work(g);
  if (!work.same_bits || work.seconds <= 0) return nullptr;
  const auto at = records().find(std::hash<std::string_view>()(g.key()));
  const Record r = at == records().end() ? Record() : at->second;
  if (!goes_direct(r, planned, g.size(), work.seconds, work)) return nullptr;
  if (planned || r.dropped) return "its plan was slower";
  return r.ahead ? "a plan is being made" : "planning would take longer";
}

void Round::plan_is_on_its_way() const { records()[key_].ahead = true; }

void Round::took(double seconds, double planning) {
  if (planning > 0) learn_planning(planning, nodes_);
  if (estimate_ <= 0) return;
  const auto at = records().find(key_);
  if (at == records().end()) return;
  Record& r = at->second;
  const double rate = seconds / estimate_;
  if (direct_) {
    ++r.direct_runs;
    r.spent += seconds;
    least(r.direct, rate);
    rates.learn(rates.direct, rate, 0.05);
  } else {
    ++r.planned_runs;
    r.planned_seconds += seconds;
    least(r.planned, rate);
    if (r.dropped && r.planned_runs % kProbeRuns == 0) {
      r.next_probe = 2 * r.direct_runs;
    }
  }
  judge(r);
}

void learn_planning(double seconds, int nodes) {
  rates.learn(rates.planning, seconds / nodes, std::min(0.5, nodes / 200.0));
}

std::size_t forget_rounds() {
  auto& all = records();
  constexpr std::size_t kEntry = sizeof(decltype(records().begin())::value_type) + sizeof(void*);
  const std::size_t bytes = all.size() * kEntry + all.bucket_count() * sizeof(void*);
  all = {};
  rates = {};
  return bytes;
}

}  // namespace plait::engine
