#include "plan_graph.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "written_parts.hpp"

namespace plait::fusion {
using tracer::NodeKind;

PlanGraph::PlanGraph(const Graph& g) : nodes(g.nodes.size()), graph_(g), operations_(nodes.size()) {
  for (std::int32_t i = 0; i < size(); ++i) describe(i);
  if (g.writes) find_written_parts(nodes);
}

void PlanGraph::describe(std::int32_t i) {
  const GNode& from = graph_[i];
  const tracer::Node& t = *from.node;
  PlanNode& p = nodes[static_cast<std::size_t>(i)];
  Node& n = operations_[static_cast<std::size_t>(i)];
  p.node = &n;
  std::copy(std::begin(from.in), std::end(from.in), std::begin(p.in));
  p.uses = from.uses;
  p.memory = from.memory;
  p.leaf = from.leaf;
  p.wanted = from.wanted;
  p.held = from.held;
  p.expiring = from.expiring;
  p.exclusive = from.exclusive;
  n.kind = from.kind();
  n.dtype = t.dtype;
  n.view_dtype = t.view_dtype;
  n.fn = t.fn;
  n.reduce = t.reduce;
  n.call = t.call;
  n.n_inputs = t.n_inputs;
  n.in_place = t.in_place;
  n.axes = t.axes;
  n.recorded = &t;
  for (int k = 0; k < 3; ++k)
    if (p.in[k] >= 0) n.inputs[k] = &operations_[static_cast<std::size_t>(p.in[k])];
  find_extents(i, t);
  // Of an operand with the very extents they are the same.
  const auto same = [](const Number& a, const Number& b) {
    return a.expr_ == b.expr_ && a.value_ == b.value_;
  };
  const auto like = std::ranges::find_if(n.inputs, [&](const Node* in) {
    return in && std::ranges::equal(in->extents, n.extents, same);
  });
  n.elements = like != std::end(n.inputs) ? (*like)->elements : element_count(n.extents);
  find_maps(i);
  find_strides(i, t);
  find_view(i, t);
}

Number PlanGraph::source(const Source& s) {
  return {*this, answers_.exprs.new_source(s), graph_.field(s)};
}

// A number of the same value, which stands for one that nobody has asked about yet.
Number PlanGraph::equal_to(const Number& fresh, const Number& known) {
  answers_.note_equal(fresh.expr_, known.in(*this));
  return known;
}

// Whether it is 1 is always asked: it decides what is broadcast.
Number PlanGraph::extent(const Source& s) {
  const Number e = source(s);
  if (e.value_ == 1) return equal_to(e, 1);
  static_cast<void>(e == Number(1));
  return e;
}

// One of these, or one that has been met, where it equals that.
Number PlanGraph::like(const Source& s, const Numbers& near, Number::Kind kind) {
  const Number n = source(s);
  const std::int64_t value = n.value_;
  if (value == 0 || value == 1) return equal_to(n, value);
  for (const Number& other : near)
    if (other.value_ == value) return equal_to(n, other);
  const auto [known, fresh] = by_value_[kind].try_emplace(value, n);
  if (!fresh) return equal_to(n, known->second);
  if (kind == Number::Extent) static_cast<void>(n == Number(1));
  return n;
}

// The extents of operations follow from those of their operands; the recorder has seen to it that
// those that are broadcast together are equal, or 1.
void PlanGraph::find_extents(std::int32_t i, const tracer::Node& t) {
  Node& n = operations_[static_cast<std::size_t>(i)];
  const bool leaf = nodes[static_cast<std::size_t>(i)].leaf;
  const int dims = strided(t).extents.size();
  const auto broadcast = [&](const Source& s) -> Number {
    const std::int64_t value = graph_.field(s);
    for (int k = 0; k < t.n_inputs; ++k) {
      if (!n.inputs[k]) continue;
      const Numbers& from = n.inputs[k]->extents;
      const int e = s.dim - dims + from.size();
      if (e >= 0 && from[e].value_ == value && !from[e].is_constant()) return from[e];
    }
    return value == 1 ? Number(1) : like(s, {}, Number::Extent);
  };
  int kept = 0;
  for (int d = 0; d < dims; ++d) {
    const Source s{i, Field::Shape, d};
    const auto same_as = [&](const Numbers& from, int e) {
      return e < from.size() && from[e].value_ == graph_.field(s) ? from[e]
                                                                  : like(s, from, Number::Extent);
    };
    if (leaf) {
      n.extents.push_back(extent(s));
      continue;
    }
    switch (t.kind) {
      case NodeKind::Elementwise:
        n.extents.push_back(broadcast(s));
        break;
      case NodeKind::Cast:
      case NodeKind::Update:
        n.extents.push_back(same_as(n.inputs[0]->extents, d));
        break;
      case NodeKind::Reduce: {
        while (std::find(t.axes.begin(), t.axes.end(), kept) != t.axes.end()) ++kept;
        n.extents.push_back(same_as(n.inputs[0]->extents, kept++));
        break;
      }
      default:
        n.extents.push_back(
            like(s, n.inputs[0] ? n.inputs[0]->extents : Numbers(), Number::Extent));
    }
  }
}

// C's, and others where they are not.
Numbers PlanGraph::laid_out(std::int32_t node, Field strides, const Numbers& extents, DType item,
                            const Numbers* near) {
  Numbers all = contiguous_strides(extents, static_cast<std::int64_t>(itemsize(item)));
  if (std::all_of(extents.begin(), extents.end(), std::mem_fn(&Number::is_one))) return all;
  const Source dense{node, Field::Dense, 0};
  if (strides == Field::Stride && graph_.field(dense) == 1) {
    equal_to(source(dense), 1);
    return all;
  }
  for (int d = extents.size(); d-- > 0;) {
    if (extents[d].is_one()) continue;
    const Source s{node, strides, d};
    if (near) {
      all[d] = like(s, *near, Number::Stride);
      continue;
    }
    const Number n = source(s);
    const Number like_dense = all[d];
    all[d] = n.value_ == like_dense.value_ ? equal_to(n, like_dense)
             : n.value_ == 0               ? equal_to(n, 0)
                                           : n;
  }
  return all;
}

// Of what a map steps through, `base` are the strides; along its other axes it repeats.
Numbers PlanGraph::stepped(const PlanViewMap& map, const Numbers& base, const Numbers& extents,
                           DType item) {
  Numbers all(extents.size());
  if (std::any_of(extents.begin(), extents.end(), std::mem_fn(&Number::is_one))) {
    const Numbers dense = contiguous_strides(extents, static_cast<std::int64_t>(itemsize(item)));
    for (int d = 0; d < extents.size(); ++d)
      if (extents[d].is_one()) all[d] = dense[d];
  }
  for (int d = 0; d < base.size(); ++d)
    if (map.from[d] >= 0) all[map.from[d]] = base[d] * map.step[d];
  return all;
}

void PlanGraph::find_strides(std::int32_t i, const tracer::Node& t) {
  Node& n = operations_[static_cast<std::size_t>(i)];
  const PlanNode& p = nodes[static_cast<std::size_t>(i)];
  const bool view = t.kind == NodeKind::View && !p.leaf;
  const Numbers* const base = view ? &n.inputs[0]->byte_strides : nullptr;
  n.byte_strides = view && p.map ? stepped(*p.map, *base, n.extents, t.dtype)
                                 : laid_out(i, Field::Stride, n.extents, t.dtype, base);
}

void PlanGraph::find_view(std::int32_t i, const tracer::Node& t) {
  Node& n = operations_[static_cast<std::size_t>(i)];
  n.offset = source({i, Field::Offset, 0});
  if (n.kind == NodeKind::Gather) {
    n.step = source({i, Field::Step, 0});
    n.view_byte_strides = laid_out(i, Field::ViewStride, n.extents, t.dtype, nullptr);
  }
  if (t.kind != NodeKind::Update || nodes[static_cast<std::size_t>(i)].leaf) return;
  const Numbers& value = n.inputs[1]->extents;
  for (int d = 0; d < strided_view(t).extents.size(); ++d) {
    const Source s{i, Field::ViewShape, d};
    n.view_extents.push_back(d < value.size() && value[d].value_ == graph_.field(s)
                                 ? value[d]
                                 : like(s, n.extents, Number::Extent));
  }
  const PlanNode& p = nodes[static_cast<std::size_t>(i)];
  n.view_byte_strides =
      p.map ? stepped(*p.map, n.byte_strides, n.view_extents, t.view_dtype)
            : laid_out(i, Field::ViewStride, n.view_extents, t.view_dtype, &n.byte_strides);
}

void PlanGraph::find_maps(std::int32_t i) {
  const GNode& from = graph_[i];
  PlanNode& p = nodes[static_cast<std::size_t>(i)];
  const auto numbers = [&](Field f, const Dims& of) {
    Numbers all;
    for (int d = 0; d < of.size(); ++d) all.push_back(source({i, f, d}));
    return all;
  };
  if (from.map) {
    const Dims& axes = from.map->from;
    Numbers steps(axes.size());
    for (int d = 0; d < axes.size(); ++d)
      if (axes[d] >= 0) steps[d] = like({i, Field::MapStep, d}, {}, Number::Stride);
    p.map = std::make_shared<const PlanViewMap>(
        PlanViewMap{numbers(Field::MapStart, from.map->start), axes, steps});
  }
  if (from.index)
    p.index = std::make_shared<const PlanIndexMap>(
        PlanIndexMap{numbers(Field::IndexStart, from.index->start), from.index->wider,
                     from.index->axis, numbers(Field::IndexStep, from.index->step)});
}

ExprId PlanGraph::expression(const Source& s) const { return number(s).in(*this); }

void PlanGraph::note_estimate(ExprId e) const {
  if (!records()) return;
  answers_.estimate(e, [&](const Source& s) { return graph_.field(s); });
}

void PlanGraph::note_equal(const Number& n, Number::Kind kind) const {
  if (!records()) return;
  const auto at = static_cast<std::size_t>(n.expr_);
  if (noted_.size() <= at) noted_.resize(answers_.exprs.size());
  if (std::exchange(noted_[at][kind], true)) return;
  const auto [known, fresh] = by_value_[kind].try_emplace(n.value_, n);
  if (!fresh) static_cast<void>(known->second == n);
}

Numbers contiguous_strides(const Numbers& shape, std::int64_t item) {
  Numbers strides(shape.size());
  for (int d = shape.size(); d-- > 0;)
    strides[d] = d + 1 == shape.size() ? Number(item) : strides[d + 1] * shape[d + 1];
  return strides;
}

bool chunks_keep_bits(const Node& n) {
  return chunks_keep_bits(n, n.inputs[0]->extents, n.inputs[0]->byte_strides);
}

tracer::ProductAxes product_axes(const Node& n) {
  return tracer::product_axes(n.axes, n.extents.size());
}
Number product_depth(const Node& n) {
  const Numbers& first = n.inputs[0]->extents;
  return element_count(Numbers(first.end() - product_axes(n).sums, first.end()));
}
ir::ProductTypes product_types(const Node& n) {
  return {n.inputs[0]->dtype, n.inputs[1]->dtype, n.dtype};
}

std::vector<int> by_width(const Numbers& shape, const Numbers& strides) {
  std::vector<int> order;
  for (int d = 0; d < shape.size(); ++d)
    if (!(shape[d] == 1)) order.push_back(d);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return abs(strides[a]) > abs(strides[b]); });
  return order;
}

}  // namespace plait::fusion
