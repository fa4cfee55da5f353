#include "report.hpp"

#include <mutex>
#include <set>

#include "tracer/at_once.hpp"
#include "tracer/computed.hpp"
#include "tracer/context.hpp"

namespace plait::engine {

namespace {
thread_local Watch* current_watch = nullptr;

constexpr std::size_t kMostSaid = 1 << 16;  // after which the log repeats itself
}  // namespace

Watch::Watch(Names n) : names(std::move(n)), outer_(current_watch) {
  current_watch = this;
  ++number;
  const std::lock_guard held(tracer::lock());
  tracer::record_everything(true);  // what is computed at once is not described
}
Watch::~Watch() {
  current_watch = outer_;
  --number;
  const std::lock_guard held(tracer::lock());
  tracer::record_everything(false);
}
Watch* Watch::current() { return current_watch; }

Watched::Watched(const fusion::Graph& g, fusion::Plan& plan,
                 const std::vector<std::int64_t>& values, DeviceId device)
    : watch_(current_watch), g_(g), plan_(plan) {
  if (!watch_) return;
  event_ = watch_->events.size();
  watch_->events.push_back({Watch::Event::Evaluation,
                            gather(g, plan, values, {.target = target_of(device)}, watch_->names)});
  watch_->events.back().report.site = tracer::current_site();
}

Watched::~Watched() {
  if (!watch_) return;
  Report& r = watch_->events[event_].report;
  for (std::size_t i = 0; i < r.regions.size(); ++i) {
    r.regions[i].compiled = plan_.steps[i].compiled;
    r.regions[i].schedule = plan_.steps[i].schedule;
  }
  for (const fusion::GNode& n : g_.nodes)
    if (!n.leaf && !n.recorded->materialised()) tracer::mark_computed(*n.recorded);
}

namespace {

// What the log has said. The lock is held.
bool said(const std::string& what) {
  static auto& all = *new std::set<std::string>;
  return all.size() < kMostSaid && !all.insert(what).second;
}

}  // namespace

void AtCall::describe(const std::string& what, std::uint32_t site) const {
  const bool traced = timeline::on();
  if (!current_watch && !logging(Log::Fusion) && !traced) return;  // another thread's watch
  const double seconds = seconds_now() - started_;
  const std::lock_guard held(tracer::lock());
  if (site == 0) site = tracer::current_site();
  if (traced) timeline::add(timeline::Category::Operation, what, traced_, site);
  if (logging(Log::Fusion) && !said(std::to_string(site) + " " + what)) {
    const std::string where = tracer::site_text(site);
    log(Log::Fusion, "at its call" + (where.empty() ? "" : " at " + where) + ": " + what);
  }
  if (!current_watch) return;
  for (Watch::Event& e : current_watch->events)
    if (e.kind == Watch::Event::AtCall && e.report.site == site && e.note == what) {
      ++e.times;
      e.seconds += seconds;
      return;
    }
  current_watch->events.push_back({Watch::Event::AtCall, {}, what, 1, seconds});
  current_watch->events.back().report.site = site;
}

void watch_one_at_a_time(const fusion::Graph& g) {
  if (g.nodes.empty() || !(current_watch || logging(Log::Fusion))) return;
  if (logging(Log::Fusion) && !said(g.key())) {
    const Report r = gather_one_at_a_time(g, {});
    log(Log::Fusion, headline(r) + text(r, 1, place_of));
  }
  if (!current_watch) return;
  current_watch->events.push_back(
      {Watch::Event::Evaluation, gather_one_at_a_time(g, current_watch->names)});
  current_watch->events.back().report.site = tracer::current_site();
}
void watch_one_at_a_time(std::span<tracer::Node* const> wanted) {
  if (current_watch || logging(Log::Fusion)) watch_one_at_a_time(fusion::Graph(wanted));
}

}  // namespace plait::engine
