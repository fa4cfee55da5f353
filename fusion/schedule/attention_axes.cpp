// Which axes of the values between the products of an attention are its batch, rows and keys.
#include "attention.hpp"

namespace plait::fusion {

namespace {

// Of a view of all of a base in C order, or in another order of its axes.
std::optional<MergedAxes> merged_axes(const Numbers& base_shape, const Numbers& base_strides,
                                      const Numbers& shape, const Numbers& strides) {
  MergedAxes m{Dims(shape.size()), Dims(shape.size())};
  Number left = 1;  // elements along dimensions that none of the view's has yet
  for (const Number& e : base_shape) left *= e;
  for (int j = 0; j < shape.size(); ++j) {
    if (shape[j] == 1) continue;
    int d = base_shape.size();
    while (d-- > 0)
      if (base_shape[d] != 1 && base_strides[d] == strides[j]) break;
    if (d < 0) return std::nullopt;
    m.last[j] = d + 1;
    Number merged = base_shape[d];
    while (merged < shape[j] && d > 0) merged *= base_shape[--d];
    if (merged != shape[j] || left % merged != 0) return std::nullopt;
    left = left / merged;
    m.first[j] = d;
    for (int i = 0; i < j; ++i)
      if (m.first[i] < m.last[j] && m.first[j] < m.last[i]) return std::nullopt;
  }
  return left == 1 ? std::optional(m) : std::nullopt;
}

}  // namespace

bool Attention::moves_axes(const PlanGraph& g) const {
  const Numbers &shape = g[weights].node->extents, &whole = g[weighing(g)].node->extents;
  bool moves = queries != 0 || shape.size() != whole.size();
  for (int d = 0; !moves && d < shape.size(); ++d)
    moves = shape[d] != 1 && (axes.first[d] != d || axes.last[d] != d + 1);
  return moves;
}

bool find_axes(const PlanGraph& g, Attention& a) {
  const Node &w = *g[a.weights].node, &v = *g[a.weighing(g)].node, &s = *g[a.scores].node,
             &read = *g[a.scored].node;
  const int last = v.extents.size() - 1, batch = last - 1, keys = last - a.side;
  if (w.extents != read.extents || s.extents.size() != v.extents.size()) return false;
  const auto of = merged_axes(w.extents, own_strides(w), v.extents, v.byte_strides),
             in = merged_axes(read.extents, read.byte_strides, s.extents, s.byte_strides);
  if (!of || !in || of->last[keys] != of->first[keys] + 1) return false;
  a.axes = *of;
  a.axis = of->first[keys];
  a.queries = in->first[last] == a.axis && s.extents[last] != 1 ? 0 : 1;
  for (int d = 0; d <= last; ++d) {
    const int e = d < batch || a.queries == a.side ? d : last + batch - d;
    if (s.extents[e] != v.extents[d] || of->first[d] != in->first[e] || of->last[d] != in->last[e])
      return false;
  }
  return v.extents[keys] > kShort;
}

}  // namespace plait::fusion
