// What the recorder shares: its lock, the hooks that later layers install, floating-point error
// states, call sites, and the bound on the pending graph.
#pragma once
#include <mutex>
#include <string>

#include "array.hpp"
#include "recursive_lock.hpp"

namespace plait::tracer {

// Installed by src/engine at start-up. The recorder decides when a value is needed; the engine
// knows how to get it.
struct Evaluator {
  virtual ~Evaluator() = default;
  // Gives every wanted node its `data`. On an exception (std::bad_alloc, interrupt) no node has
  // lost anything: wanted nodes are either materialised or still pending. Update nodes may take
  // over the memory of their inputs[0] only when nothing else reads it (its refs say so) or its
  // readers have been evaluated.
  virtual void evaluate(std::span<Node* const> wanted) = 0;
  // Computes one elementwise operation on small materialised operands at once; false if it would
  // rather record.
  virtual bool eager(OpId fn, std::span<const Array* const> in, const Array& out) = 0;
  // Multiplies matrices or vectors of one dtype that are in memory at once; `out` is a fresh array
  // that has memory.
  virtual bool multiply(const Array&, const Array&, const Array& /*out*/) { return false; }
  // Asked now and then by a thread that waits for another's evaluation; throws to give up.
  virtual void poll() {}
  // Computes one node whose inputs are in memory (or Scalars), at once; false if it would rather
  // record.
  virtual bool compute(Node&) { return false; }
};
void install(Evaluator* e);
Evaluator& evaluator();

// Recursive: public entry points of the recorder take it; it is not held while a kernel runs (see
// evaluation_scope.hpp).
RecursiveLock& lock();

// The lock of the language that calls the recorder, Python's GIL: a thread that holds it lets go of
// it while it waits to evaluate or runs a kernel. It is never taken while the
// recorder's is held.
struct HostLock {
  void* (*let_go)();           // null when this thread does not hold it
  void (*take_back)(void* p);  // p: what let_go() gave
};
void set_host_lock(HostLock l);
HostLock host_lock();

// numpy.errstate, one entry a category. Weak index 0 is NumPy's default: warn, except underflow:
// ignore.
enum class ErrorAction : std::uint8_t { Ignore, Warn, Raise, Call, Print, Log };
struct ErrorState {
  ErrorAction divide = ErrorAction::Warn, over = ErrorAction::Warn, under = ErrorAction::Ignore,
              invalid = ErrorAction::Warn;
  bool operator==(const ErrorState&) const = default;
};
void set_error_state(const ErrorState& s);  // for what this thread records from now on
ErrorState error_state(std::uint8_t index);
std::uint8_t current_error_state();  // index of this thread's
// True while every float operation has to be evaluated before it returns (raise/call, or inside
// catch_warnings); see error_states.hpp.
bool eager_errors();

// What this thread records while the scope lives is named after a function in warnings; the
// outermost scope names it.
class Naming {
 public:
  explicit Naming(NamedAs function);
  ~Naming();
  Naming(const Naming&) = delete;
  Naming& operator=(const Naming&) = delete;

 private:
  NamedAs before_;
};
// The name of an operation in warnings, by what its node says; empty where nobody is warned.
std::string_view warning_name(std::string_view own, const Node& n);

// Call sites: the bindings set a hook that gives the current "file:line"; called only when a node
// is recorded and cheap.
void set_site_hook(std::uint32_t (*hook)());
// "file:line" of a recorded call site, or nothing.
void set_site_text_hook(std::string (*hook)(std::uint32_t));
std::string site_text(std::uint32_t site);
// The engine reports floating-point events here: "divide by zero encountered in log", at the
// recorded site.
enum class FpEvent : std::uint8_t { Divide, Over, Under, Invalid };
void set_fp_sink(void (*sink)(FpEvent e, std::string_view op_name, const ErrorState& s,
                              std::uint32_t site));
bool events_are_heard();  // there is a sink
void report_fp(FpEvent e, std::string_view op_name, const Node& n);
// The same for what this call finds before it computes: 'raise' throws FloatingPointError.
void report_fp(FpEvent e, std::string_view op_name);
std::string_view event_name(FpEvent e);  // NumPy's: "divide by zero"

// Pending graph: flushed automatically past these bounds.
struct GraphStats {
  std::size_t pending_nodes, recorded_total, flushes;
};
GraphStats graph_stats();
// Evaluates every storage with a pending version. What cannot be computed stays pending and is not
// tried again here: the error is for those who ask for that value. Throws Interrupted.
void flush();
void set_graph_limit(std::size_t nodes, std::size_t bytes);

}  // namespace plait::tracer
