#include "report.hpp"

#include <mutex>

#include "tracer/at_once.hpp"
#include "tracer/computed.hpp"
#include "tracer/context.hpp"

namespace plait::engine {

namespace {
thread_local Watch* current_watch = nullptr;
}

Watch::Watch(Names n) : names(std::move(n)), outer_(current_watch) {
  current_watch = this;
  const std::lock_guard held(tracer::lock());
  tracer::record_everything(true);  // what is computed at once is not described
}
Watch::~Watch() {
  current_watch = outer_;
  const std::lock_guard held(tracer::lock());
  tracer::record_everything(false);
}
Watch* Watch::current() { return current_watch; }

Watched::Watched(const fusion::Graph& g, fusion::Plan& plan,
                 const std::vector<std::int64_t>& values, DeviceId device)
    : watch_(current_watch), g_(g), plan_(plan) {
  if (!watch_) return;
  event_ = watch_->events.size();
  watch_->events.push_back(
      {{}, gather(g, plan, values, {.target = target_of(device)}, watch_->names)});
  watch_->events.back().report.site = tracer::current_site();
}

Watched::~Watched() {
  if (!watch_) return;
  Report& r = watch_->events[event_].report;
  for (std::size_t i = 0; i < r.regions.size(); ++i)
    r.regions[i].compiled = plan_.steps[i].compiled;
  for (const fusion::GNode& n : g_.nodes)
    if (!n.leaf && !n.node->materialised()) tracer::mark_computed(*n.node);
}

void watch_one_at_a_time(const fusion::Graph& g) {
  Watch* w = current_watch;
  if (!w || g.nodes.empty()) return;
  w->events.push_back({{}, gather_one_at_a_time(g, w->names)});
  w->events.back().report.site = tracer::current_site();
}
void watch_one_at_a_time(std::span<tracer::Node* const> wanted) {
  if (current_watch) watch_one_at_a_time(fusion::Graph(wanted));
}

}  // namespace plait::engine
