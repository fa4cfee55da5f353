// What a step of a plan stores, and the operation of a step that is no region, as data: dtypes and
// attributes that decide structure by value, numbers as expressions, memory by the node whose it
// is. A plan is run by these, without the graph that it was made for.
#pragma once
#include <optional>
#include <vector>

#include "fusion/graph/plan_graph.hpp"
#include "fusion/schedule/epilogue.hpp"

namespace plait::fusion {

using ExprDims = std::vector<ExprId>;

// A value that a step stores, in memory of its own.
struct ResultSpec {
  DType dtype;
  bool kept;  // somebody can ask for it after the run
  bool folds;
  ReduceKind reduce;  // folds
  ExprDims extents, byte_strides;
  ExprId over = 0;  // elements that are folded, or combined by index
  // An update: where it stores to.
  struct Target {
    std::int32_t old;  // the version before
    bool masked;
    DType dtype;
    ExprDims extents, byte_strides;
    ExprId start;  // bytes into that version
  };
  std::optional<Target> target;
  // Of a Scatter: what the first piece's table begins with.
  struct Start {
    std::int32_t init;  // a node in memory
    bool filled;        // with the value of that Scalar instead
    ExprDims byte_strides;
  };
  std::optional<Start> start;
};

// What an operation reads: memory, or a Scalar's value.
struct OperandSpec {
  std::int32_t node;  // whose memory it lies in; the Scalar
  bool scalar;
  DType dtype;
  ExprDims extents, byte_strides;
  ExprId start = 0;  // bytes into it
};

// One operation, as Node describes the fields.
struct OperationSpec {
  std::int32_t node;  // differs from the step's root where something is added
  tracer::NodeKind kind;
  DType dtype, view_dtype;
  OpId fn;
  ReduceKind reduce;
  CallId call;
  ExprDims extents, byte_strides, axes, view_extents, view_byte_strides;
  ExprId start, step;
  std::vector<OperandSpec> operands;  // what is added comes last
};

ExprId elements(const PlanGraph& g, Exprs& e, std::int32_t node);
ResultSpec result_spec(const PlanGraph& g, Exprs& e, std::int32_t node);
// What is added to its table lies where `canon` says.
ResultSpec::Start start_spec(const PlanGraph& g, Exprs& e, std::int32_t node,
                             const std::vector<std::int32_t>& canon);
// Operands lie in memory that is `stored`, or are views of it.
OperationSpec operation_spec(const PlanGraph& g, Exprs& e, std::int32_t root,
                             const Epilogue& epilogue, const std::vector<std::int32_t>& canon,
                             const std::vector<bool>& stored);

// The nodes whose memory a library call reads, or views of it: the factors of a product, then what
// it adds to their product.
std::vector<std::int32_t> operands(const PlanGraph& g, std::int32_t root, const Epilogue& e);

}  // namespace plait::fusion
