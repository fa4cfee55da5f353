#include "contraction.hpp"

#include <algorithm>
#include <cstdlib>
#include <span>

#include "graph.hpp"

namespace plait::tracer {

namespace {

// A run of axes of an operand.
struct AxisRun {
  int first, count;
};

Dims extents(const Array& a, AxisRun axes) {
  return {a.shape.begin() + axes.first, a.shape.begin() + axes.first + axes.count};
}
std::int64_t count_of(const Array& a, AxisRun axes) { return element_count(extents(a, axes)); }

void append(Dims& to, const Dims& more) {
  for (const std::int64_t v : more) to.push_back(v);
}

// The operands with their axes in groups, which are merged as far as their strides allow.
struct Groups {
  Array a, b;
  int batch, sums;
  int rows() const { return a.ndim() - batch - sums; }
  int columns() const { return b.ndim() - batch - sums; }
  AxisRun rows_of_a() const { return {batch, rows()}; }
  AxisRun sums_of_a() const { return {a.ndim() - sums, sums}; }
  AxisRun sums_of_b() const { return {batch, sums}; }
  AxisRun columns_of_b() const { return {batch + sums, columns()}; }

  // Merges neighbours where each operand given lets them be one axis, and drops extents of 1.
  // Returns how many are left.
  static int merge(Array* x, AxisRun in_x, Array* y, AxisRun in_y) {
    int at = in_x.first, count = in_x.count;
    const int apart = in_y.first - in_x.first;
    const auto drop = [&](int axis) {
      for (auto [o, shift] : {std::pair(x, 0), std::pair(y, apart)})
        if (o) {
          o->shape.erase(axis + shift);
          o->strides.erase(axis + shift);
        }
      --count;
    };
    for (int i = at; i < at + count;) {
      if (x->shape[i] == 1)
        drop(i);
      else
        ++i;
    }
    const auto joins = [](const Array* o, int axis) {
      return !o || o->strides[axis - 1] == o->shape[axis] * o->strides[axis];
    };
    for (int i = at + count - 1; i > at; --i) {
      if (!joins(x, i) || !joins(y, i + apart)) continue;
      for (auto [o, axis] : {std::pair(x, i), std::pair(y, i + apart)})
        if (o) {
          o->shape[axis] *= o->shape[axis - 1];
        }
      drop(i - 1);
    }
    return count;
  }

  // Sums go through the larger operand as it lies in memory: what is packed of it is read in runs,
  // and more axes are one.
  void order_sums() {
    const bool by_a = element_count(a.shape) >= element_count(b.shape);
    const Array& larger = by_a ? a : b;
    const int first = (by_a ? sums_of_a() : sums_of_b()).first;
    Dims order;
    for (int i = 0; i < sums; ++i) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
      const auto step = [&](std::int64_t axis) {
        return std::abs(larger.strides[first + static_cast<int>(axis)]);
      };
      return step(i) > step(j);
    });
    if (std::is_sorted(order.begin(), order.end())) return;
    a = in_order(a, sums_of_a(), order);
    b = in_order(b, sums_of_b(), order);
  }

  static Array in_order(const Array& x, AxisRun axes, const Dims& order) {
    Dims all;
    for (int d = 0; d < x.ndim(); ++d)
      all.push_back(
          d < axes.first || d >= axes.first + axes.count ? d : axes.first + order[d - axes.first]);
    return transpose(x, std::span(all.data(), static_cast<std::size_t>(all.size())));
  }

  void merge_all() {
    merge(&a, rows_of_a(), nullptr, rows_of_a());
    merge(&b, columns_of_b(), nullptr, columns_of_b());
    sums = merge(&a, sums_of_a(), &b, sums_of_b());
  }
};

Array with_batch(const Array& a, const Dims& batch, int own) {
  Dims shape = batch;
  append(shape, extents(a, {own, a.ndim() - own}));
  return shape == a.shape ? a : broadcast_to(a, shape);
}

// As a matrix product of one axis each, whose operands are copies where strides demand it.
Array plain_product(const Groups& g) {
  Array a = g.a, b = g.b;
  if (g.rows() != 1 || g.sums != 1) {
    Dims shape = extents(a, {0, g.batch});
    shape.push_back(count_of(a, g.rows_of_a()));
    shape.push_back(count_of(a, g.sums_of_a()));
    a = reshape(a, shape);
  }
  if (g.columns() != 1 || g.sums != 1) {
    Dims shape = extents(b, {0, g.batch});
    shape.push_back(count_of(b, g.sums_of_b()));
    shape.push_back(count_of(b, g.columns_of_b()));
    b = reshape(b, shape);
  }
  return matmul(a, b, 'C');
}

// Products that are never stored, summed by the loop that reads them: there is nothing to share
// where one operand has a single row or column for all of the batch.
Array summed_in_loops(const Groups& g, DType t, const Dims& result) {
  Dims products = result;
  append(products, extents(g.a, g.sums_of_a()));
  Dims before, behind;  // new axes of the operands
  for (int i = 0; i < g.columns(); ++i) before.push_back(g.batch + g.rows() + i);
  for (int i = 0; i < g.rows(); ++i) behind.push_back(g.batch + i);
  Array a = before.empty() ? g.a : expand_dims(g.a, before);
  // b: (batch..., columns..., sums...)
  Dims order;
  for (int i = 0; i < g.batch; ++i) order.push_back(i);
  for (int i = 0; i < g.columns(); ++i) order.push_back(g.batch + g.sums + i);
  for (int i = 0; i < g.sums; ++i) order.push_back(g.batch + i);
  Array b = transpose(g.b, std::span(order.data(), static_cast<std::size_t>(order.size())));
  if (!behind.empty()) b = expand_dims(b, behind);
  const Naming as_matmul(NamedAs::MatMul);  // unless the caller has named it
  Ref<Node> p = new_node(NodeKind::Elementwise);
  p->fn = OpId::Multiply;
  p->dtype = t;
  p->shape = products;
  p->strides = dense_strides(products, static_cast<std::int64_t>(itemsize(t)), 'C');
  p->n_inputs = 2;
  p->inputs[0] = broadcast_node(as_dtype(read(a), t), products);
  p->inputs[1] = broadcast_node(as_dtype(read(b), t), products);
  p = record(std::move(p));
  Ref<Node> n = new_node(NodeKind::Reduce);
  n->reduce = ReduceKind::Sum;
  n->dtype = t;
  n->shape = result;
  n->strides = dense_strides(result, static_cast<std::int64_t>(itemsize(t)), 'C');
  for (int i = 0; i < g.sums; ++i) n->axes.push_back(result.size() + i);
  n->n_inputs = 1;
  n->inputs[0] = std::move(p);
  return wrap(record(std::move(n)));
}

Array recorded(const Groups& g, DType t, const Dims& batch, const Dims& result) {
  Ref<Node> n = new_node(NodeKind::MatMul);
  n->dtype = t;
  n->shape = result;
  n->strides = dense_strides(result, static_cast<std::int64_t>(itemsize(t)), 'C');
  n->axes = Dims{g.rows(), g.columns(), g.sums};
  n->n_inputs = 2;
  n->inputs[0] = as_dtype(read(with_batch(g.a, batch, g.batch)), t);
  n->inputs[1] = as_dtype(read(with_batch(g.b, batch, g.batch)), t);
  return wrap(record(std::move(n)));
}

}  // namespace

ProductAxes product_axes(const Dims& axes, int own) {
  const bool plain = axes.empty();
  const auto count = [&](int i) { return plain ? 1 : static_cast<int>(axes[i]); };
  return {own - count(0) - count(1), count(0), count(1), count(2)};
}
ProductAxes product_axes(const Node& p) { return product_axes(p.axes, p.shape.size()); }

std::int64_t product_depth(const Dims& first, const ProductAxes& axes) {
  std::int64_t depth = 1;
  for (int i = 0; i < axes.sums; ++i) depth *= first[first.size() - 1 - i];
  return depth;
}
std::int64_t product_depth(const Node& p) {
  return product_depth(p.inputs[0]->shape, product_axes(p));
}
ir::ProductTypes product_types(const Node& p) {
  return {p.inputs[0]->dtype, p.inputs[1]->dtype, p.dtype};
}

namespace {

Ref<Node> instead(const Node& n, NodeKind kind, Ref<Node> a, Ref<Node> b) {
  Ref<Node> made = new_node(kind);
  made->dtype = n.dtype;
  made->shape = n.shape;
  made->strides = n.strides;
  made->device = n.device;
  made->site = n.site;
  made->errstate = n.errstate;
  made->n_inputs = b ? 2 : 1;
  made->inputs[0] = std::move(a);
  made->inputs[1] = std::move(b);
  return made;
}

}  // namespace

Ref<Node> copy_instead(const Node& n, Ref<Node> a) {
  return instead(n, NodeKind::Cast, std::move(a), {});
}

Ref<Node> product_instead(const Node& n, Ref<Node> a, Ref<Node> b, const Dims& axes) {
  Ref<Node> p = instead(n, NodeKind::MatMul, std::move(a), std::move(b));
  p->axes = axes;
  p->named = NamedAs::Nobody;
  return p;
}

Ref<Node> sum_instead(const Node& n, Ref<Node> a, Ref<Node> b) {
  Ref<Node> s = instead(n, NodeKind::Elementwise, std::move(a), std::move(b));
  s->fn = OpId::Add;
  s->named = n.kind == NodeKind::Reduce ? NamedAs::Reduce : n.named;
  return s;
}

Array contract(const Array& left, const Array& right, int batch_axes, int sums) {
  const Lock held = hold();
  const DType t = promote(left.dtype, right.dtype);
  if (const DType wide = computes_in(t); wide != t)
    return astype(
        contract(astype(left, wide, 'K', false), astype(right, wide, 'K', false), batch_axes, sums),
        t, 'K', false);
  Groups g{left, right, batch_axes, sums};
  Dims whole, batch;
  for (int i = 0; i < batch_axes; ++i)
    batch.push_back(left.shape[i] == 1 ? right.shape[i] : left.shape[i]);
  whole = batch;
  append(whole, extents(left, g.rows_of_a()));
  append(whole, extents(right, g.columns_of_b()));
  const std::int64_t rows = count_of(g.a, g.rows_of_a()), columns = count_of(g.b, g.columns_of_b());
  if (rows > 1 || columns > 1) g.order_sums();  // else they are NumPy's sums of products
  g.merge_all();
  const bool plain = g.rows() <= 1 && g.columns() <= 1 && g.sums <= 1;
  const bool lone = rows == 1 && columns == 1 && element_count(batch) != 1;
  const bool on_host = std::max(device_of(left), device_of(right)) <= kHost;
  const bool tiles = (is_float(t) || (is_integer(t) && on_host)) && element_count(whole) != 0 &&
                     count_of(g.a, g.sums_of_a()) != 0;
  const bool shares = rows > 1 && columns > 1;
  // Loops would round every product of halves.
  const bool loops = t != DType::Float16 && on_host;
  Array result;
  if (!tiles || (plain && !lone) || !(loops || shares)) {
    result = plain_product(g);
  } else {
    bound_graph();
    const bool eager = eager_errors() || reads_export(left) || reads_export(right);
    Dims merged = batch;
    append(merged, extents(g.a, g.rows_of_a()));
    append(merged, extents(g.b, g.columns_of_b()));
    result = shares ? recorded(g, t, batch, merged) : summed_in_loops(g, t, merged);
    finish(result, eager);
  }
  return result.shape == whole ? result : reshape(result, whole);
}

}  // namespace plait::tracer
