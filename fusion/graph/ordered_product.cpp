#include "ordered_product.hpp"

#include <algorithm>

namespace plait::fusion {

bool multiplied_in_order(const Node& n) {
  return n.kind == tracer::NodeKind::Reduce && n.reduce == ReduceKind::Prod &&
         (is_float(n.dtype) || is_complex(n.dtype));
}

bool one_loop_multiplies(const Node& n) {
  const Node& on = *n.inputs[0];
  const std::vector<int> order = by_width(on.extents, on.byte_strides);
  auto reduced = [&](int d) { return std::find(n.axes.begin(), n.axes.end(), d) != n.axes.end(); };
  int wider = -1;
  for (int d : order) {
    if (!reduced(d)) continue;
    if (wider >= 0 && on.byte_strides[wider] != on.byte_strides[d] * on.extents[d]) return false;
    wider = d;
  }
  return n.dtype != DType::Float16 || (n.n_inputs == 1 && (order.empty() || reduced(order.back())));
}

}  // namespace plait::fusion
