// What the general way of recording elementwise operations shares with the short one. Callers hold
// the lock.
#pragma once
#include "graph.hpp"

namespace plait::tracer {

inline constexpr int kMaxOperands = 3;

inline std::int64_t item_bytes(DType t) { return static_cast<std::int64_t>(itemsize(t)); }
inline bool logical(OpId fn) {
  return fn == OpId::LogicalAnd || fn == OpId::LogicalOr || fn == OpId::LogicalXor;
}

// The operands' layouts, and that of `where`.
struct Layouts {
  Laid of[kMaxOperands + 1];
  std::size_t count = 0;

  explicit Layouts(std::span<const Operand> operands, const Array* where = nullptr) {
    for (const Operand& o : operands)
      if (o.array) of[count++] = {o.array->shape, o.array->strides};
    if (where) of[count++] = {where->shape, where->strides};
  }
  std::span<const Laid> all() const { return {of, count}; }
};

// The loop for operands that all have one dtype, resolved once.
struct UniformLoop {
  LoopTypes types;
  bool plain = false;  // its operands are of just that dtype, and nothing depends on their values
  bool known = false;
};
const UniformLoop& uniform_loop(OpId fn, DType t);

// A scalar operand in the loop's dtype.
Scalar loop_scalar(OpId fn, const Operand& o, DType to);

// What the conversion of scalar operands raises comes before the operation is computed.
inline void report_casts(OpId fn, std::span<const Operand> operands, const LoopTypes& types) {
  if (logical(fn)) return;
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (const Operand& o = operands[i]; !o.array)
      report_cast(o.scalar, fn == OpId::Where && where_casts_numbers ? Weak::None : o.weak,
                  types.in[i]);
}

// The operand's value in the loop's dtype, as it is computed with.
inline Ref<Node> operand_node(OpId fn, const Operand& o, DType to) {
  Ref<Node> n = o.array ? node_of(*o.array) : scalar_node(loop_scalar(fn, o, to));
  return as_dtype(as_dtype(std::move(n), to), computes_in(to));
}

// Records the operation itself; input(i) is operand i's value.
template <class Input>
Ref<Node> loop_node(OpId fn, std::size_t operands, DType out, const Dims& shape,
                    const Dims& strides, Input&& input) {
  if (const DType wide = computes_in(out); wide != out)
    return cast_node(loop_node(fn, operands, wide, shape,
                               scaled_strides(shape, strides, item_bytes(out), item_bytes(wide)),
                               std::forward<Input>(input)),
                     out, strides);
  Ref<Node> n = take_node(NodeKind::Elementwise);
  n->fn = fn;
  n->dtype = out;
  n->shape = shape;
  n->strides = strides;
  n->n_inputs = static_cast<std::uint8_t>(operands);
  for (std::size_t i = 0; i < operands; ++i) n->inputs[i] = input(i);
  return record(std::move(n));
}

// Whether the result may not stay pending: an operand's memory is exported, or errors of floats are
// to surface in this call.
inline bool surfaces_at_once(std::span<const Operand> operands) {
  bool eager = eager_errors();
  for (const Operand& o : operands) eager = eager || (o.array && reads_export(*o.array));
  return eager;
}

// Gives a value that is computed again the error state and the name of what this thread records.
void recorded_here(Node& n);

// Few elements, of operands that are in the host's memory already; or what at_once.hpp is about.
bool small_and_ready(OpId fn, DType loop, std::span<const Operand> operands, const Dims& shape);

// A result in memory of its own. What is small and ready is computed at once where `direct` lets
// it: the types follow from the operands.
Array fresh_elementwise(OpId fn, std::span<const Operand> operands, const LoopTypes& types,
                        const Dims& shape, const Dims& strides, bool direct);

// Few elements of operands in memory, all of one dtype and shape, stored at once in place of what
// only `out` sees. False: record.
bool computed_in_place(OpId fn, std::span<const Operand> operands, const Array& out);

// The most frequent calls by far: arrays of one dtype in C order, and plain scalars. No question of
// the general way arises; the result is in C order, too.
struct PlainCall {
  const Dims* shape;       // of the result; null for all other calls
  const LoopTypes* types;  // of the loop
};
// `joint` takes the shape where it is none of the operands'.
PlainCall plain_call(OpId fn, std::span<const Operand> operands, Dims& joint);

}  // namespace plait::tracer
