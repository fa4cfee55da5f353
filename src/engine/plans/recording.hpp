// The recorded graph beside a run of its plan: takes the values that stay, computes what is no
// region by the reference evaluator, and reports floating-point events by operation and call site.
// Which values stay, and whose memory is given up, is decided by the bindings and the walk.
#pragma once
#include <functional>
#include <map>

#include "bindings.hpp"

namespace plait::engine {

class Recording {
 public:
  Recording(const fusion::Graph& g, Bindings& b) : g_(g), bindings_(b) {}

  // The root's value is in that memory.
  void keep(const Root& r);
  // Lies as its operand, which need not be in the layout of the root's own.
  void keep_as_recorded(const Root& r);
  // The node's memory was written over: nobody can ask for its value any more.
  void give_up(std::int32_t node);
  // The memory of an array that nobody has written to, and others may ask for.
  NodeMemory give_memory(std::int32_t node);

  // Computes the step's roots on the host, from what this run has computed.
  void evaluate(const BoundStep& s);
  // The value of a root, computed apart on the host: memory and its offset. `to_host` gives memory
  // of the host with the contents of what a node's memory is.
  using ToHost = std::function<Ref<Buffer>(const Ref<Buffer>&)>;
  NodeMemory evaluate_apart(std::int32_t root, const ToHost& to_host) const;
  // What the root is a view of, and where in it; null: it is none, or that is not in memory.
  NodeMemory viewed(std::int32_t root) const;
  std::string_view operation(std::int32_t root) const;  // "a region" where it is none

  // Which operation raised is not known inside a fused loop, so the region is computed again, an
  // operation at a time, by the reference evaluator, which reports each event with its operation
  // and call site. What was overwritten in place cannot be; its events carry the name of the
  // operation whose value was stored.
  void report(const BoundStep& s, fusion::UpdateMode update, unsigned flags) const;

 private:
  using Copies = std::map<std::int32_t, Ref<tracer::Node>>;
  void publish(std::int32_t i);
  bool listens(unsigned flags) const;
  // A copy of the graph behind node i, down to what is in memory.
  Ref<tracer::Node> copy(std::int32_t root, std::int32_t i, const ToHost& to_host,
                         Copies& copies) const;

  const fusion::Graph& g_;
  Bindings& bindings_;
};

}  // namespace plait::engine
