// Who has a plan run: takes the values that stay, gives memory that others may ask for, and hears
// of floating-point events by operation and call site. Which values stay, and whose memory is given
// up, is decided by the bindings and the walk.
#pragma once
#include <functional>
#include <map>

#include "bindings.hpp"
#include "core/timeline.hpp"

namespace plait::engine {

class Recording {
 public:
  virtual ~Recording() = default;

  // The root's value is in that memory.
  virtual void keep(const Root& r, const NodeMemory& m) = 0;
  // Memory that the root's value, which is C-contiguous, is wanted in; null: any.
  virtual NodeMemory place(const Root&) const { return {}; }
  // The node's memory was written over: nobody can ask for its value any more.
  virtual void give_up(std::int32_t node) = 0;
  // The root's value is in that memory, for the case that the run does not come to its end.
  virtual void secure(const Root& r, const NodeMemory& m) = 0;
  // Secured values that the steps to come do not read: those that nothing pending is computed from
  // go, and are taken from the list.
  virtual void let_go(std::vector<std::int32_t>& nodes) = 0;
  // The memory of an array that nobody has written to, and others may ask for.
  virtual NodeMemory give_memory(std::int32_t node) = 0;

  // Which operation of a region raised is not known inside a fused loop.
  virtual void report(const BoundStep& s, fusion::UpdateMode update, unsigned flags) = 0;
  // Whether it says who raised even where a region cannot be computed again: no two operations in
  // it that may raise the same are heard differently.
  virtual bool heard_alike(const BoundStep& s) const = 0;
  // A single operation did, whose name is this.
  virtual void report(std::int32_t node, std::string_view name, unsigned flags) = 0;
  virtual std::uint32_t site(std::int32_t node) const = 0;  // 0: not known

  // Regions that a device has no code for.
  // The value of a root, computed apart on the host: memory and its offset. `to_host` gives memory
  // of the host with the contents of what a node's memory is.
  using ToHost = std::function<Ref<Buffer>(const Ref<Buffer>&)>;
  virtual NodeMemory evaluate_apart(std::int32_t root, const ToHost& to_host) = 0;
  // What the root is a view of, and where in it; null: it is none, or that is not in memory.
  virtual NodeMemory viewed(std::int32_t root) const = 0;
  // Lies as its operand, which need not be in the layout of the root's own.
  virtual void keep_as_recorded(const Root& r, const NodeMemory& m) = 0;
  virtual std::string_view operation(std::int32_t root) const = 0;  // "a region" where it is none

  // What a trace says of the step: what it computes, and where the program asks for that.
  virtual void describe(const BoundStep& s, timeline::Span& span) const = 0;
};

// The recorded graph beside a run of its plan.
class RecordedGraph : public Recording {
 public:
  // `canon`: of the plan.
  RecordedGraph(const fusion::Graph& g, const Bindings& b, std::span<const std::int32_t> canon)
      : g_(g), bindings_(b), canon_(canon) {}

  void keep(const Root& r, const NodeMemory& m) override;
  void give_up(std::int32_t node) override;
  void secure(const Root& r, const NodeMemory& m) override;
  void let_go(std::vector<std::int32_t>& nodes) override;
  NodeMemory give_memory(std::int32_t node) override;

  // A region is computed again, an operation at a time, by the reference evaluator, which reports
  // each event with its operation and call site. Where what it read was overwritten it cannot be;
  // its events are those of the first operation that may raise them.
  void report(const BoundStep& s, fusion::UpdateMode update, unsigned flags) override;
  bool heard_alike(const BoundStep& s) const override;
  void report(std::int32_t node, std::string_view name, unsigned flags) override;
  std::uint32_t site(std::int32_t node) const override { return g_[node].node->site; }

  NodeMemory evaluate_apart(std::int32_t root, const ToHost& to_host) override;
  NodeMemory viewed(std::int32_t root) const override;
  void keep_as_recorded(const Root& r, const NodeMemory& m) override;
  std::string_view operation(std::int32_t root) const override;
  bool listens(unsigned flags) const;  // whether anybody does to one of these events
  void describe(const BoundStep& s, timeline::Span& span) const override;

 protected:
  const fusion::Graph& g_;
  const Bindings& bindings_;

 private:
  const std::span<const std::int32_t> canon_;
  // Nodes that the plan takes the value of this one for.
  template <class F>
  void for_equal(std::int32_t node, F&& f) const;
  mutable std::optional<bool> one_error_state_;
  using Copies = std::map<std::int32_t, Ref<tracer::Node>>;
  // The operations that a region computes, in the order of the recording.
  std::vector<std::int32_t> operations(const BoundStep& s) const;
  // A copy of the graph behind node i, down to what is in memory.
  Ref<tracer::Node> copy(std::int32_t root, std::int32_t i, const ToHost& to_host,
                         Copies& copies) const;
};

// What a graph has for its plan; `values` of the plan's expressions.
RunInputs run_inputs(const fusion::Graph& g, const fusion::Plan& p,
                     std::vector<std::int64_t> values);

}  // namespace plait::engine
