// What a plan runs on: numbers, scalars and memory. The steps read nothing else; what becomes of
// their values is a Recording's.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "core/device.hpp"
#include "engine/direct/operation.hpp"
#include "fusion/plan.hpp"

namespace plait::engine {

// A node's memory during a run.
struct NodeMemory {
  Ref<Buffer> buffer;
  std::int64_t offset = 0;
  std::uint64_t contents = 0;  // as of an Operand
  std::byte* at() const { return buffer->data + offset; }
  explicit operator bool() const { return static_cast<bool>(buffer); }
};

// What a node of the graph has in memory at the moment.
struct Slot {
  NodeMemory memory;
  bool of_run = false;          // the run's own: made anew if that does not come to its end
  std::size_t secured = 0;      // bytes of a value that is in the recorded graph until it was read
  std::int32_t unwritten = -1;  // number of the array that nobody has written to
};

// Takes its memory from the first step that asks for it: memory of the run, if nobody else may ask
// for it.
struct Unwritten {
  DType dtype;
  Dims shape;
  bool exclusive;
};

// What a plan is given for a run.
struct RunInputs {
  std::vector<std::int64_t> values;  // of the plan's expressions
  std::vector<Scalar> scalars;       // those that the steps name, one after the other
  std::vector<Slot> slots;           // one a node: the memory of leaves
  std::vector<Unwritten> unwritten;
};

// Where an update stores to: elements of the storage, of which `old` is the version before.
struct UpdateTarget {
  std::int32_t old;
  bool masked;
  DType dtype;
  Dims shape, strides;
  std::int64_t offset;
};

// A value that a step stores.
struct Root {
  std::int32_t node;
  DType dtype;
  bool folds;  // a reduction: by `reduce`
  bool kept;   // somebody can ask for it after the run
  ReduceKind reduce;
  Dims shape, strides;  // of its memory
  std::int64_t over;    // elements that are folded, or combined by index; else 0
  std::optional<UpdateTarget> update;
};

// Scatter: what the first piece's table begins with, `fill` or what is in memory.
struct TableStart {
  std::int32_t root, init;
  std::optional<Scalar> fill;
  Dims strides;
};

// What an operation reads: memory of a node, or a scalar of the step.
struct BoundOperand {
  std::int32_t node;
  const Scalar* scalar;  // null: memory
  DType dtype;
  Dims shape, strides;
  std::int64_t offset;
};

// A step's operation with its numbers.
struct BoundOperation {
  const fusion::OperationSpec& of;
  Dims shape, strides, axes, view_shape, view_strides;
  std::int64_t offset, step;
  Scalar scalar;  // of a call
  std::vector<BoundOperand> operands;

  Operation operation() const {
    return {of.kind, of.dtype, of.view_dtype, of.fn,      of.reduce,    of.call, offset,
            step,    shape,    axes,          view_shape, view_strides, scalar};
  }
};

// One step with what it runs on.
struct BoundStep {
  fusion::Step& step;
  std::span<const Root> roots;
  const std::int64_t* params;
  const Scalar* scalars;
  std::int64_t extent;              // of the grid; in pieces: of the axis that is cut
  const BoundOperation* operation;  // Direct
};

class Bindings {
 public:
  // The plan outlives them.
  Bindings(const fusion::Plan& p, RunInputs given, DeviceId device);

  const DeviceId device;
  const std::vector<std::int64_t> values;
  std::vector<Slot> slots;  // a node each
  std::vector<Unwritten> unwritten;
  std::vector<TableStart> tables;

  NodeMemory& memory(std::int32_t node) { return slots[static_cast<std::size_t>(node)].memory; }
  const NodeMemory& memory(std::int32_t node) const {
    return slots[static_cast<std::size_t>(node)].memory;
  }
  // Of the scalars that were given: which is the step's first.
  std::size_t first_scalar(const BoundStep& s) const {
    return static_cast<std::size_t>(s.scalars - scalars_.data());
  }

  // Calls f(const BoundStep&) for each step of the plan, in order.
  template <class F>
  void each(fusion::Plan& p, F&& f) const {
    const Root* root = roots_.data();
    const std::int64_t* param = params_.data();
    const Scalar* scalar = scalars_.data();
    const BoundOperation* operation = operations_.data();
    for (fusion::Step& s : p.steps) {
      f(BoundStep{s,
                  {root, s.region.roots.size()},
                  param,
                  scalar,
                  values[static_cast<std::size_t>(s.lowered.grid_extent)],
                  s.operation ? operation : nullptr});
      root += s.region.roots.size();
      param += s.lowered.params.size();
      scalar += s.lowered.scalars.size();
      operation += s.operation.has_value();
    }
  }

 private:
  Dims dims(const fusion::ExprDims& of) const;
  std::int64_t value(fusion::ExprId e) const { return values[static_cast<std::size_t>(e)]; }
  void add_root(std::int32_t node, const fusion::ResultSpec& of);
  void add_table(std::int32_t node, const fusion::ResultSpec& of, const Scalar*& fill);
  void add_operation(const fusion::OperationSpec& of, const Scalar* scalar);

  // Of all steps, one after the other.
  std::vector<Root> roots_;
  std::vector<std::int64_t> params_;
  std::vector<Scalar> scalars_;
  std::vector<BoundOperation> operations_;
};

inline const Root& root_of(const BoundStep& s, std::int32_t node) {
  const Root* r = s.roots.data();
  while (r->node != node) ++r;
  return *r;
}

}  // namespace plait::engine
