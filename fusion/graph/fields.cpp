// The table of fields: what each is of a node. It is read of recorded graphs, whose numbers are
// integers, and of the plan's, whose numbers are asked about, so a field is one row for both.
#include <cstring>

#include "plan_graph.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

const tracer::Node& recorded(const tracer::Node& n) { return n; }
const tracer::Node& recorded(const Node& n) { return *n.recorded; }
bool is_one(std::int64_t extent) { return extent == 1; }
bool is_one(const Number& extent) { return extent.is_one(); }

// Along axes of more than one element.
bool is_dense(const tracer::Node& n) {
  const auto& [extents, steps, start] = strided(n);
  auto step = static_cast<std::int64_t>(itemsize(n.dtype));
  for (int d = extents.size(); d-- > 0;) {
    if (extents[d] != 1 && steps[d] != step) return false;
    step = saturated_product(step, extents[d]);
  }
  return true;
}

std::int64_t bits(const Scalar& s) {
  std::int64_t words[2];
  std::memcpy(words, s.bytes, sizeof words);
  return words[0] | words[1];
}

// Visits the number; what planning has no number of its own for, as it is recorded.
template <class AnyGNode, class Visit>
auto visit_field(const AnyGNode& g, const Source& s, Visit&& visit) {
  const auto& n = *g.node;
  const int dim = s.dim;
  // Along an axis of one element a plan's is C's, whatever it is.
  const auto step = [&](const auto& of, const Strided& as_recorded) {
    return is_one(of.extents[dim]) ? visit(as_recorded.steps[dim]) : visit(of.steps[dim]);
  };
  switch (s.field) {
    case Field::Shape:
      return visit(strided(n).extents[dim]);
    case Field::Stride:
      return step(strided(n), strided(recorded(n)));
    case Field::Layout:
      return n.kind == NodeKind::View ? visit(own_strides(n)[dim])
                                      : step(strided(n), strided(recorded(n)));
    case Field::Offset:
      return visit(strided_view(n).start);
    case Field::ViewShape:
      return visit(strided_view(n).extents[dim]);
    case Field::ViewStride:
      return step(strided_view(n), strided_view(recorded(n)));
    case Field::MapStart:
      return visit(g.map->start[dim]);
    case Field::MapStep:
      return visit(g.map->step[dim]);
    case Field::IndexStart:
      return visit(g.index->start[dim]);
    case Field::IndexStep:
      return visit(g.index->step[dim]);
    case Field::InputShape:
      return visit(strided(*n.inputs[0]).extents[dim]);
    case Field::Step:
      return visit(n.step);
    case Field::Axis:
      return visit(recorded(n).axes[dim]);
    case Field::Origin:
      return visit(recorded(n).data_offset);
    case Field::Value:
      return visit(bits(recorded(n).scalar));
    case Field::Dense:
      return visit(std::int64_t{is_dense(recorded(n))});
  }
  return visit(std::int64_t{0});
}

}  // namespace

std::int64_t Graph::field(const Source& s) const {
  return visit_field(nodes[static_cast<std::size_t>(s.node)], s, [](std::int64_t n) { return n; });
}

Number PlanGraph::number(const Source& s) const {
  struct Visit {
    const PlanGraph& g;
    const Source& s;
    Number operator()(const Number& n) const { return n; }
    Number operator()(std::int64_t as_recorded) const {
      return {g, g.answers().exprs.source(s), as_recorded};
    }
  };
  return visit_field((*this)[s.node], s, Visit{*this, s});
}

Dims own_strides(const tracer::Node& n) {
  return n.kind == NodeKind::View && !n.data
             ? contiguous_strides(strided(n).extents, static_cast<std::int64_t>(itemsize(n.dtype)))
             : strided(n).steps;
}

Numbers own_strides(const Node& n) {
  return n.kind == NodeKind::View
             ? contiguous_strides(n.extents, static_cast<std::int64_t>(itemsize(n.dtype)))
             : n.byte_strides;
}

}  // namespace plait::fusion
