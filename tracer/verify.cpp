// The rules of node.hpp, executable.
#include "contraction.hpp"
#include "core/call_table.hpp"
#include "graph.hpp"

namespace plait::tracer {

namespace {

[[noreturn]] void broken(const Node& n, const char* what) {
  throw InternalError("node of kind " + std::to_string(static_cast<int>(n.kind)) + ", shape " +
                      shape_text(n.shape) + ": " + what);
}

void check(const Node& n, bool ok, const char* what) {
  if (!ok) broken(n, what);
}

int expected_inputs(const Node& n) {
  switch (n.kind) {
    case NodeKind::Data:
    case NodeKind::Scalar:
    case NodeKind::Empty:
      return 0;
    case NodeKind::Fill:
    case NodeKind::Cast:
    case NodeKind::View:
      return 1;
    case NodeKind::Iota:
    case NodeKind::Gather:
    case NodeKind::MatMul:
      return 2;
    case NodeKind::Elementwise:
      return op_info(n.fn).arity;
    case NodeKind::Reduce:
    case NodeKind::Update:
    case NodeKind::Call:
      return n.n_inputs;  // some are optional, checked by kind
  }
  return -1;
}

void check_update(const Node& n) {
  const Node& memory = *n.inputs[0];
  const Node& value = *n.inputs[1];
  check(n, n.n_inputs == 2 || n.n_inputs == 3, "update takes two or three inputs");
  check(n, memory.shape == n.shape && memory.strides == n.strides && memory.dtype == n.dtype,
        "update keeps the layout of its storage");
  check(n, value.shape == n.view_shape && value.dtype == n.view_dtype,
        "update's value has the view's shape and dtype");
  check(n, n.view_strides.size() == n.view_shape.size(), "update's view needs strides");
  if (n.n_inputs == 3)
    check(n, n.inputs[2]->dtype == DType::Bool && n.inputs[2]->shape == n.view_shape,
          "update's mask is Bool of the view's shape");
  const Extent all = extent(n.shape, n.strides, static_cast<std::int64_t>(itemsize(n.dtype)));
  Extent part =
      extent(n.view_shape, n.view_strides, static_cast<std::int64_t>(itemsize(n.view_dtype)));
  if (part.first == part.last) return;
  check(n, n.offset + part.first >= all.first && n.offset + part.last <= all.last,
        "update stores outside its storage");
}

void check_reduce(const Node& n) {
  const Node& in = *n.inputs[0];
  check(n, n.n_inputs == 1 || n.n_inputs == 2, "reduce takes one or two inputs");
  check(n, std::is_sorted(n.axes.begin(), n.axes.end()), "axes are sorted");
  Dims kept;
  int next = 0;
  for (int i = 0; i < in.shape.size(); ++i) {
    if (next < n.axes.size() && n.axes[next] == i)
      ++next;
    else
      kept.push_back(in.shape[i]);
  }
  check(n, next == n.axes.size(), "axes are distinct and within the input");
  check(n, kept == n.shape, "reduce drops its axes");
  const bool arg = is_arg(n.reduce);
  check(n, arg ? n.dtype == DType::Int64 && n.axes.size() == 1 : in.dtype == n.dtype,
        "reduce folds in its own dtype");
  if (n.n_inputs == 2)
    check(n, n.inputs[1]->dtype == DType::Bool && broadcastable(n.inputs[1]->shape, in.shape),
          "reduce's mask is Bool and broadcasts to the input");
}

void check_product(const Node& n) {
  const Node &a = *n.inputs[0], &b = *n.inputs[1];
  check(n, n.axes.empty() || n.axes.size() == 3, "products name rows, columns and sums");
  check(n, product_types(n).uniform() || ir::has_fragments(product_types(n)),
        "product operands have one dtype, or those of fragments");
  const ProductAxes x = product_axes(n);
  const int lead = x.batch + x.rows;
  check(n,
        x.batch >= 0 && a.shape.size() == lead + x.sums &&
            b.shape.size() == x.batch + x.sums + x.columns,
        "product operands have ranks");
  const auto meet = [&](const Dims& p, int i, const Dims& q, int j, int count) {
    return std::equal(p.begin() + i, p.begin() + i + count, q.begin() + j);
  };
  check(n,
        meet(a.shape, 0, n.shape, 0, lead) && meet(b.shape, 0, n.shape, 0, x.batch) &&
            meet(b.shape, x.batch + x.sums, n.shape, lead, x.columns) &&
            meet(a.shape, lead, b.shape, x.batch, x.sums),
        "product shapes meet");
}

void check_call(const Node& n) {
  check(n, n.call < CallId::Count_, "a call names a row of the table");
  const CallInfo& info = call_info(n.call);
  check(n, n.n_inputs >= info.fewest_inputs && n.n_inputs <= info.most_inputs,
        "a call takes as many inputs as its row says");
  if (info.results > 1)
    check(n, n.dtype == DType::UInt8 && n.shape.size() == 1,
          "several results are a block of bytes");
}

}  // namespace

void verify(const Node& n) {
  check(n, n.strides.size() == n.shape.size(), "shape and strides differ in length");
  for (std::int64_t e : n.shape) check(n, e >= 0, "negative extent");
  if (n.kind == NodeKind::Data) {
    check(n, n.materialised(), "data without memory");
    return;
  }
  check(n, n.n_inputs == expected_inputs(n), "wrong number of inputs");
  for (int i = 0; i < n.n_inputs; ++i) check(n, static_cast<bool>(n.inputs[i]), "missing input");
  switch (n.kind) {
    case NodeKind::Scalar:
      check(n, n.shape.empty() && n.scalar.dtype == n.dtype, "scalars are 0-D");
      break;
    case NodeKind::Fill:
    case NodeKind::Iota:
      for (int i = 0; i < n.n_inputs; ++i)
        check(n, n.inputs[i]->kind == NodeKind::Scalar && n.inputs[i]->dtype == n.dtype,
              "takes scalars of its own dtype");
      if (n.kind == NodeKind::Iota) check(n, n.shape.size() == 1, "a range is 1-D");
      break;
    case NodeKind::Cast:
      check(n, n.inputs[0]->shape == n.shape, "cast keeps the shape");
      break;
    case NodeKind::Elementwise:
      for (int i = 0; i < n.n_inputs; ++i)
        check(n, broadcastable(n.inputs[i]->shape, n.shape), "inputs broadcast to the shape");
      break;
    case NodeKind::Reduce:
      check_reduce(n);
      break;
    case NodeKind::View:
      check(n, n.inputs[0]->kind != NodeKind::View, "views are relative to memory");
      break;
    case NodeKind::Update:
      check_update(n);
      break;
    case NodeKind::Gather:
      check(n, n.inputs[0]->kind != NodeKind::View, "gathers are relative to memory");
      check(n, n.inputs[1]->dtype == DType::Int64 && broadcastable(n.inputs[1]->shape, n.shape),
            "a gather's indices are Int64 and broadcast to the shape");
      check(n, n.view_strides.size() == n.shape.size(), "a gather needs strides");
      break;
    case NodeKind::MatMul:
      check_product(n);
      break;
    case NodeKind::Call:
      check_call(n);
      break;
    case NodeKind::Data:
    case NodeKind::Empty:
      break;
  }
}

}  // namespace plait::tracer
