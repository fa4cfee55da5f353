#include "operation.hpp"

#include "plait/error.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

ExprDims sources(Exprs& e, std::int32_t node, Field field, int count) {
  ExprDims all;
  all.reserve(static_cast<std::size_t>(count));
  for (int d = 0; d < count; ++d) all.push_back(e.source({node, field, d}));
  return all;
}

OperandSpec operand_spec(const PlanGraph& g, Exprs& e, std::int32_t i,
                         const std::vector<std::int32_t>& canon, const std::vector<bool>& stored) {
  const Node& n = *g[i].node;
  const int axes = n.extents.size();
  OperandSpec o{i, n.kind == NodeKind::Scalar, n.dtype, sources(e, i, Field::Shape, axes), {}};
  if (o.scalar) return o;
  const auto lies = [&](std::int32_t node) {
    return stored[static_cast<std::size_t>(node)] ? node : canon[static_cast<std::size_t>(node)];
  };
  const auto in_memory = [&] { return stored[static_cast<std::size_t>(lies(o.node))]; };
  o.byte_strides =
      sources(e, in_memory() ? lies(i) : i, in_memory() ? Field::Layout : Field::Stride, axes);
  while (!in_memory()) {
    const PlanNode& gn = g[o.node];
    if (gn.leaf || gn.node->kind != NodeKind::View)
      throw InternalError("an operand of a library call is not in memory");
    o.start = e.add(o.start, e.source({o.node, Field::Offset, 0}));
    o.node = gn.in[0];
  }
  o.node = lies(o.node);
  return o;
}

}  // namespace

ExprId elements(const PlanGraph& g, Exprs& e, std::int32_t node) {
  ExprId all = e.one();
  for (int d = 0; d < g[node].node->extents.size(); ++d)
    all = e.mul(all, e.source({node, Field::Shape, d}));
  return all;
}

ResultSpec result_spec(const PlanGraph& g, Exprs& e, std::int32_t i) {
  const PlanNode& gn = g[i];
  const Node& n = *gn.node;
  const bool folds = n.kind == NodeKind::Reduce;
  ResultSpec r{.dtype = n.dtype,
               .kept = gn.wanted || gn.held || !gn.exclusive,
               .folds = folds,
               .reduce = n.reduce,
               .extents = sources(e, i, Field::Shape, n.extents.size()),
               .byte_strides = sources(e, i, Field::Layout, n.extents.size())};
  if (folds) r.over = elements(g, e, gn.in[0]);
  if (n.kind == NodeKind::Update)
    r.target = {gn.in[0],
                gn.in[2] >= 0,
                n.view_dtype,
                sources(e, i, Field::ViewShape, n.view_extents.size()),
                sources(e, i, Field::ViewStride, n.view_byte_strides.size()),
                e.source({i, Field::Offset, 0})};
  return r;
}

ResultSpec::Start start_spec(const PlanGraph& g, Exprs& e, std::int32_t i,
                             const std::vector<std::int32_t>& canon) {
  const std::int32_t init = canon[static_cast<std::size_t>(g[i].in[0])];
  const Node& from = *g[init].node;
  if (from.kind == NodeKind::Fill) return {g[init].in[0], true, {}};
  return {init, false, sources(e, init, Field::Layout, from.extents.size())};
}

OperationSpec operation_spec(const PlanGraph& g, Exprs& e, std::int32_t root,
                             const Epilogue& epilogue, const std::vector<std::int32_t>& canon,
                             const std::vector<bool>& stored) {
  const std::int32_t i = epilogue ? epilogue.product : root;
  const Node& n = *g[i].node;
  OperationSpec o{.node = i,
                  .kind = n.kind,
                  .dtype = n.dtype,
                  .view_dtype = n.view_dtype,
                  .fn = n.fn,
                  .reduce = n.reduce,
                  .call = n.call,
                  .extents = sources(e, i, Field::Shape, n.extents.size()),
                  .byte_strides = sources(e, i, Field::Layout, n.extents.size()),
                  .axes = sources(e, i, Field::Axis, n.axes.size()),
                  .view_extents = sources(e, i, Field::ViewShape, n.view_extents.size()),
                  .view_byte_strides = sources(e, i, Field::ViewStride, n.view_byte_strides.size()),
                  .start = e.source({i, Field::Offset, 0}),
                  .step = e.source({i, Field::Step, 0}),
                  .operands = {}};
  for (const std::int32_t in : operands(g, root, epilogue))
    o.operands.push_back(operand_spec(g, e, in, canon, stored));
  return o;
}

std::vector<std::int32_t> operands(const PlanGraph& g, std::int32_t root, const Epilogue& e) {
  std::vector<std::int32_t> read;
  for (std::int32_t in : g[e ? e.product : root].in)
    if (in >= 0) read.push_back(in);
  if (e) read.push_back(e.addend);
  return read;
}

}  // namespace plait::fusion
