#include "context.hpp"

#include <algorithm>

#include "computed.hpp"
#include "graph.hpp"
#include "interrupted.hpp"
#include "plait/error.hpp"

namespace plait::tracer {

constinit ContextMemory context_memory;

namespace {
thread_local constinit ThreadState own_state;
}
ThreadState& thread_state() { return own_state; }

RecursiveLock& lock() { return context().mutex; }

void install(Evaluator* e) { context().evaluator = e; }
Evaluator& evaluator() {
  Evaluator* e = context().evaluator;
  if (!e) throw InternalError("no evaluator is installed");
  return *e;
}

void set_host_lock(HostLock l) { context().host_lock = l; }
HostLock host_lock() { return context().host_lock; }

KnownErrorState known_error_state(const ErrorState& s) {
  const Lock held = hold();
  Context& c = context();
  int i = 0;
  while (i < c.error_state_count && !(c.error_states[static_cast<std::size_t>(i)] == s)) ++i;
  // Nodes hold a byte. Past its range the last entry is reused: only pending nodes recorded under
  // it would notice.
  constexpr int kLast = 255;
  if (i > kLast) i = kLast;
  c.error_states[static_cast<std::size_t>(i)] = s;
  c.error_state_count = std::max(c.error_state_count, i + 1);
  const auto any = [&](auto&& is) {
    return is(s.divide) || is(s.over) || is(s.under) || is(s.invalid);
  };
  return {s, static_cast<std::uint8_t>(i),
          any([](ErrorAction a) { return a == ErrorAction::Raise || a == ErrorAction::Call; }),
          any([](ErrorAction a) { return a != ErrorAction::Ignore; })};
}

ErrorState error_state(std::uint8_t index) {
  const Lock held = hold();
  return context().error_states[index];
}

void record_under(const KnownErrorState& s) { thread_state().errors = s; }
void set_error_state(const ErrorState& s) { record_under(known_error_state(s)); }
const KnownErrorState& recorded_under() { return thread_state().errors; }
std::uint8_t current_error_state() { return recorded_under().index; }
bool eager_errors() {
  const KnownErrorState& s = recorded_under();
  return s.surfaces || (s.heard && context().warnings_caught.load(std::memory_order_relaxed));
}
bool set_warnings_caught(bool on) { return context().warnings_caught.exchange(on); }

Naming::Naming(NamedAs function) : before_(thread_state().named) {
  if (before_ == NamedAs::Itself) thread_state().named = function;
}
Naming::~Naming() { thread_state().named = before_; }

std::string_view warning_name(std::string_view own, const Node& n) {
  constexpr std::string_view functions[] = {"",       "reduce", "dot",   "",
                                            "matmul", "divmod", "power", "scalar divide"};
  return n.named == NamedAs::Itself || own.empty() ? own : functions[static_cast<int>(n.named)];
}

void set_site_hook(std::uint32_t (*hook)()) { context().site = hook; }
void set_site_text_hook(std::string (*hook)(std::uint32_t)) { context().site_text = hook; }
std::uint32_t current_site() { return context().site ? context().site() : 0; }
std::string site_text(std::uint32_t site) {
  const auto hook = context().site_text;
  return hook && site ? hook(site) : std::string();
}

bool everything_recorded() { return context().watched != 0; }

void set_fp_sink(void (*sink)(FpEvent, std::string_view, const ErrorState&, std::uint32_t)) {
  context().fp_sink = sink;
}

namespace {
ErrorAction action_for(FpEvent e, const ErrorState& s) {
  const ErrorAction actions[] = {s.divide, s.over, s.under, s.invalid};
  return actions[static_cast<int>(e)];
}
}  // namespace

bool events_are_heard() { return context().fp_sink != nullptr; }
void report_fp(FpEvent e, std::string_view op_name, const Node& n) {
  const Context& c = context();
  if (!c.fp_sink) return;
  const ErrorState s = error_state(n.errstate);
  // Values computed at once were never recorded: their site is where we are.
  if (action_for(e, s) != ErrorAction::Ignore)
    c.fp_sink(e, op_name, s, n.site ? n.site : current_site());
}

void report_fp(FpEvent e, std::string_view op_name) {
  const Context& c = context();
  if (!c.fp_sink) return;
  const ErrorState s = recorded_under().state;
  const ErrorAction action = action_for(e, s);
  if (action == ErrorAction::Raise)
    throw FloatingPointError(std::string(event_name(e)) + " encountered in " +
                             std::string(op_name));
  if (action != ErrorAction::Ignore) c.fp_sink(e, op_name, s, current_site());
}

std::string_view event_name(FpEvent e) {
  constexpr std::string_view names[] = {"divide by zero", "overflow", "underflow", "invalid value"};
  return names[static_cast<int>(e)];
}

GraphStats graph_stats() {
  const Lock held = hold();
  const Context& c = context();
  return {c.pending_nodes, c.recorded, c.flushes};
}

void set_graph_limit(std::size_t nodes, std::size_t bytes) {
  const Lock held = hold();
  Context& c = context();
  c.node_limit = nodes;
  c.byte_limit = bytes;
  c.loop_limit = std::min(c.loop_limit, nodes);
}

// A long loop is evaluated a piece at a time, and a piece that ends wherever the limit is met has a
// plan of its own. Past loop_limit the graph is therefore cut where a call site, the anchor, comes
// by again: the pieces are whole rounds, and all but the first find the plan of the one before. A
// site that does not come by is given up for a later one.
void keep_bounds() {
  Context& c = context();
  // What is run again is one plan, whatever that costs once.
  constexpr std::size_t kWatched = 4;
  const std::size_t most = capture() ? kWatched * c.node_limit : c.node_limit;
  // What is only recorded has no bytes.
  bool cut = c.pending_nodes > most || (c.retained_bytes > c.byte_limit && !recording_alone());
  if (!cut && capture()) return;
  if (const std::uint32_t here = !cut && c.site ? c.site() : 0) {
    cut = here == c.anchor && here != c.last_site;
    c.last_site = here;
    if (!cut && c.pending_nodes >= c.next_anchor) {
      c.anchor = here;
      c.next_anchor = 2 * c.pending_nodes;
    }
  }
  if (!cut) return;
  c.next_anchor = 2 * c.loop_limit;
  c.last_site = 0;
  flush();
}

namespace {
// False when they cannot be computed for a reason of their own.
bool evaluated(std::span<const Ref<Node>> nodes) {
  try {
    evaluate_nodes(nodes);
    return true;
  } catch (const Interrupted&) {
    throw;
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
  } catch (const std::bad_alloc&) {
  }
  return false;
}
}  // namespace

void flush() {
  const Lock held = hold();
  Context& c = context();
  std::vector<Ref<Node>> wanted;
  for (Storage* s = c.pending; s; s = s->next) wanted.push_back(s->version);
  ++c.flushes;
  flush(std::move(wanted));
}

void flush(std::vector<Ref<Node>> wanted) {
  std::erase_if(
      wanted, [](const Ref<Node>& n) { return !is_pending(*n) || (n->accounting & kFailed) != 0; });
  if (wanted.empty() || evaluated(wanted)) return;
  for (Ref<Node>& n : wanted)
    if (is_pending(*n) && (wanted.size() == 1 || !evaluated(std::span(&n, 1))))
      n->accounting |= kFailed;
}

}  // namespace plait::tracer
