#include "history.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "core/config.hpp"
#include "fusion/schedule/cost.hpp"
#include "state.hpp"
#include "tracer/at_once.hpp"

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
constexpr std::uint32_t kProbeRuns = 4;
constexpr int kWarm = 3;
// Recording of an operation, and looking its part of a graph up: what is spared at once.
constexpr double kRecording = 0.4e-6;
// The direct way is measured beside a plan only where it needs little memory.
constexpr double kProbeBytes = 64e6;

PlanHistory::Records& records() { return state().rounds.records; }
PlanHistory::Rates& rates() { return state().rounds.rates; }

void least(double& known, double value) { known = known == 0 ? value : std::min(known, value); }

// Takes up the rounds that have gone by without a graph.
void catch_up(PlanHistory::Record& r, double estimate) {
  if (r.at_once == 0) return;
  const std::uint32_t rounds = tracer::rounds_at_once(std::exchange(r.at_once, 0));
  r.direct_runs += rounds;
  r.spent += rounds * estimate * r.direct;
}

bool is_short_map(const tracer::Node& n) {
  using tracer::NodeKind;
  const bool map = n.kind == NodeKind::Elementwise || n.kind == NodeKind::Cast ||
                   n.kind == NodeKind::Update || n.kind == NodeKind::Fill;
  return n.kind == NodeKind::View ||
         (map && n.site != 0 && element_count(n.shape) <= tracer::kMiddling &&
          fusion::operation_seconds(host_machine(), n) <= tracer::kMiddlingSeconds);
}

// Drops a plan that is slower than the direct way, or takes it up again.
void judge(PlanHistory::Record& r) {
  const bool settled = r.planned_runs >= kSettledRuns && r.planned_seconds >= kSettledSeconds;
  if (!settled || r.direct == 0) return;
  r.dropped = r.planned > kTooSlow * r.direct;
}

bool goes_direct(const PlanHistory::Record& r, bool planned, int nodes, double estimate,
                 const DirectWork& w) {
  if (!planned) {
    const double planning = rates().planning * nodes;
    return r.dropped ||
           r.spent + estimate * rates().direct < (r.ahead ? kPatience : kWorthPlanning) * planning;
  }
  if (r.dropped) return r.direct_runs < r.next_probe;
  if (r.planned_runs < kSettledRuns || r.planned_seconds < kSettledSeconds || w.bytes > kProbeBytes)
    return false;
  // The first rounds found nothing in a cache, and without nodes a little decides.
  if (r.maps && r.warm < kWarm) return true;
  // A settled plan that is slower than the direct way is believed to be.
  return r.direct == 0 && r.planned > kTooSlow * rates().direct;
}

// Of graphs of one structure, those of other sizes have a history of their own.
std::size_t key_of(const fusion::Graph& g, const DirectWork& w) {
  const int size = w.seconds > 0 ? std::ilogb(w.seconds) / 2 : 0;
  return std::hash<std::string_view>()(g.key()) ^
         static_cast<std::size_t>(size) * 0x9e3779b97f4a7c15U;
}

}  // namespace

Round::Round(const fusion::Graph& g, bool planned) : nodes_(g.size()) {
  if (config().plan == PlanMode::Always) return;
  const DirectWork work = direct_work(g);
  key_ = key_of(g, work);
  estimate_ = work.seconds;
  if (!work.same_bits || estimate_ <= 0) return;
  if (records().size() >= kMaxRecords) records().clear();
  PlanHistory::Record& r = records()[key_];
  catch_up(r, estimate_);
  direct_ = goes_direct(r, planned, nodes_, estimate_, work);
  wants_plan_ = direct_ && !planned && !r.ahead && r.direct_runs > 0;
}

const char* Round::why_direct(const fusion::Graph& g, bool planned) {
  if (config().plan == PlanMode::Always) return nullptr;
  const DirectWork work = direct_work(g);
  if (!work.same_bits || work.seconds <= 0) return nullptr;
  const auto at = records().find(key_of(g, work));
  const PlanHistory::Record r = at == records().end() ? PlanHistory::Record() : at->second;
  if (!goes_direct(r, planned, g.size(), work.seconds, work)) return nullptr;
  if (planned || r.dropped) return "its plan was slower";
  return r.ahead ? "a plan is being made" : "planning would take longer";
}

void Round::plan_is_on_its_way() const { records()[key_].ahead = true; }

void Round::may_go_on_at_once(const fusion::Graph& g) {
  const auto at = records().find(key_);
  if (!direct_ || at == records().end()) return;
  for (const fusion::GNode& gn : g.nodes) {
    if (gn.leaf) continue;
    if (!is_short_map(*gn.node)) {
      sites_.clear();
      break;
    }
    if (gn.node->kind != tracer::NodeKind::View) sites_.push_back(gn.node->site);
  }
  at->second.maps = !sites_.empty();
}

void Round::took(double seconds, double planning) {
  if (planning > 0) learn_planning(planning, nodes_);
  if (estimate_ <= 0) return;
  const auto at = records().find(key_);
  if (at == records().end()) return;
  PlanHistory::Record& r = at->second;
  const double rate = seconds / estimate_;
  if (direct_) {
    ++r.direct_runs;
    r.spent += seconds;
    least(r.direct, rate);
    rates().learn(rates().direct, rate, 0.05);
    r.warm += r.planned_runs >= kSettledRuns;
    judge(r);
    if (r.maps) {
      // Until the dropped plan is tried again; while one is waited for, until that has cost what
      // planning does.
      double rounds = 0;
      if (r.dropped)
        rounds = static_cast<double>(r.next_probe) - r.direct_runs;
      else if (r.ahead && r.planned_runs == 0)
        rounds = rates().planning * nodes_ / seconds;
      const auto whole = static_cast<std::uint32_t>(std::clamp(rounds, 0.0, 1e6));
      tracer::compute_at_once(sites_, whole);
      r.at_once = whole ? sites_[0] : 0;
    }
  } else {
    ++r.planned_runs;
    r.planned_seconds += seconds;
    least(r.planned, rate + (r.maps ? nodes_ * kRecording / estimate_ : 0));
    if (r.dropped && r.planned_runs % kProbeRuns == 0) {
      r.next_probe = 2 * r.direct_runs;
    }
  }
  judge(r);
}

void never_plan(const fusion::Graph& g) {
  PlanHistory::Record& r = records()[key_of(g, direct_work(g))];
  r.dropped = r.ahead = true;
}

void learn_planning(double seconds, int nodes) {
  rates().learn(rates().planning, seconds / nodes, std::min(0.5, nodes / 200.0));
}

std::size_t forget_rounds() {
  tracer::record_again();
  auto& all = records();
  constexpr std::size_t kEntry = sizeof(decltype(records().begin())::value_type) + sizeof(void*);
  const std::size_t bytes = all.size() * kEntry + all.bucket_count() * sizeof(void*);
  all = {};
  rates() = {};
  return bytes;
}

}  // namespace plait::engine
