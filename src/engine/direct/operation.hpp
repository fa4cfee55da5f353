// One operation on strided operands in memory: what nodes of the recorded graph and steps of a plan
// are both computed by.
#pragma once
#include <string_view>

#include "direct_rows.hpp"
#include "engine/calls/call.hpp"
#include "tracer/node.hpp"

namespace plait::engine {

// As tracer::Node describes the fields. It refers to what it was made from.
struct Operation {
  tracer::NodeKind kind;
  DType dtype, view_dtype;
  OpId fn;
  ReduceKind reduce;
  CallId call;
  std::int64_t offset, step;
  const Dims &shape, &axes, &view_shape, &view_strides;
  const Scalar& scalar;
};

// The result goes to `out`, which is laid out as one of op.shape. Operands of maps and of updates
// broadcast; Scalars are operands without axes. `fresh`: nobody can see the memory, which an
// interrupt may leave half written, and it is none of the operands'. An update's `out` holds the
// contents before. Where the work is long, the recorder's lock is free.
void run_operation(const Operation& op, std::span<const Operand> in, const Memory& out, bool fresh);

// The same of a product.
void run_product(const Operation& op, std::span<const Operand> in, const Memory& out);
// Whether this library computes such: the one that runs exported programs multiplies alone.
bool computes(tracer::NodeKind kind);

// The name NumPy's warnings give the operation; empty for those whose flags it does not look at.
std::string_view warning_name(const Operation& op, DType first_operand);

// Whether memory that is seen as `shape` shares bytes with other memory.
bool overlap(const Dims& shape, const Memory& a, std::int64_t a_size, const Memory& b,
             std::int64_t b_size);

}  // namespace plait::engine
