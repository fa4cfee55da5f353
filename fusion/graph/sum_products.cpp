#include <algorithm>
#include <cstdlib>
#include <limits>

#include "core/device.hpp"
#include "core/even_steps.hpp"
#include "rewrites.hpp"
#include "tracer/contraction.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

// Products from which one larger product is worth giving up what stands around each of them.
constexpr std::size_t kTerms = 3;

// An addition of a dtype that products of several axes have: integers only on the host.
bool is_sum(const GNode& g) {
  const tracer::Node& n = *g.node;
  return !g.leaf && n.kind == NodeKind::Elementwise && n.fn == OpId::Add &&
         (n.dtype == DType::Float32 || n.dtype == DType::Float64 ||
          (is_integer(n.dtype) && n.device <= kHost));
}

// The number that sums start from, or an array of it.
bool is_zero(const GNode& g) {
  const tracer::Node* n = g.node;
  while (!g.leaf && (n->kind == NodeKind::View || n->kind == NodeKind::Fill) && n->inputs[0])
    n = n->inputs[0].get();
  return n->kind == NodeKind::Scalar && n->scalar.as<double>() == 0;
}

bool alike(const tracer::Node& p, const tracer::Node& q) {
  if (p.kind != NodeKind::MatMul || !same_layout(p, q) || p.dtype != q.dtype || p.axes != q.axes)
    return false;
  for (int i = 0; i < 2; ++i)
    if (!StridedSource(*p.inputs[i]).steps_alike(StridedSource(*q.inputs[i]))) return false;
  return true;
}

// The products that are added up, in the order of the additions, and one thing that they are added
// to, if there is one; none where there are several. `seen`: products and additions.
struct Terms {
  std::vector<tracer::Node*> products;
  tracer::Node* start = nullptr;
};
Terms terms_of(const Graph& g, std::int32_t top, std::vector<std::int32_t>& seen) {
  Terms all;
  std::vector<tracer::Node*>& terms = all.products;
  std::vector<std::int32_t> stack{top};
  while (!stack.empty()) {
    const std::int32_t i = stack.back();
    stack.pop_back();
    const GNode& n = g[i];
    const bool whole = i == top || (alone(n) && same_extents(*n.node, *g[top].node) &&
                                    n.node->dtype == g[top].node->dtype);
    if (whole && is_sum(n)) {
      seen.push_back(i);
      stack.push_back(n.in[1]);
      stack.push_back(n.in[0]);
    } else if (whole && n.node->kind == NodeKind::MatMul &&
               (terms.empty() || alike(*n.node, *terms[0]))) {
      seen.push_back(i);
      terms.push_back(n.node);
    } else if (!is_zero(n)) {
      if (all.start) return {};
      all.start = n.recorded;
    }
  }
  return all;
}

struct Steps {
  Dims extents, a, b;  // slowest first
};

// The axes along which the operands step from product to product, if they do so evenly.
bool steps_of(const std::vector<tracer::Node*>& terms, Steps& s) {
  const auto offset = [&](std::int64_t n, int operand) {
    return StridedSource(*terms[static_cast<std::size_t>(n)]->inputs[operand]).start;
  };
  const auto step = [&](std::int64_t n, std::int64_t stride, int operand) {
    return offset(n, operand) - offset(n - stride, operand);
  };
  const auto extents = even_extents(static_cast<std::int64_t>(terms.size()),
                                    [&](std::int64_t n, std::int64_t stride) {
                                      return step(n, stride, 0) == step(stride, stride, 0) &&
                                             step(n, stride, 1) == step(stride, stride, 1);
                                    });
  if (!extents) return false;
  s = {*extents, Dims(extents->size()), Dims(extents->size())};
  std::int64_t stride = 1;
  for (int d = s.extents.size(); d-- > 0; stride *= s.extents[d]) {
    s.a[d] = step(stride, stride, 0);
    s.b[d] = step(stride, stride, 1);
    if (s.a[d] == 0 && s.b[d] == 0) return false;
  }
  return true;
}

// Whether the terms lie further apart in the larger operand than what each of them sums, which is
// in front of it then, as it is for a product that is recorded with all of its sums.
bool steps_first(const tracer::Node& term, const tracer::ProductAxes& axes, const Steps& s) {
  const StridedSource a(*term.inputs[0]), b(*term.inputs[1]);
  const bool by_a = a.elements() >= b.elements();
  const Dims &within = (by_a ? a : b).steps, &steps = by_a ? s.a : s.b;
  const int first = by_a ? axes.batch + axes.rows : axes.batch;
  std::int64_t summed = 0, step = std::numeric_limits<std::int64_t>::max();
  for (int d = first; d < first + axes.sums; ++d) summed = std::max(summed, std::abs(within[d]));
  for (const std::int64_t by : steps) step = std::min(step, std::abs(by));
  return step > summed;
}

// The operand, with these axes inserted at `axis`: all places that the terms read it at.
Ref<tracer::Node> stepping(const Ref<tracer::Node>& operand, int axis, const Dims& extents,
                           const Dims& steps) {
  StridedSource all(*operand);
  for (int d = extents.size() - 1; d >= 0; --d) {
    all.extents.insert(axis, extents[d]);
    all.steps.insert(axis, steps[d]);
  }
  return all.node();
}

}  // namespace

std::vector<Graph::Instead> sum_products(const Graph& g) {
  std::vector<Graph::Instead> found;
  const auto is_product = [](const GNode& n) { return n.node->kind == NodeKind::MatMul; };
  if (std::ranges::count_if(g.nodes, is_product) < static_cast<std::ptrdiff_t>(kTerms))
    return found;
  std::vector<bool> done(g.nodes.size(), false);
  for (std::int32_t i = g.size() - 1; i >= 0; --i) {
    if (done[static_cast<std::size_t>(i)] || !is_sum(g[i])) continue;
    std::vector<std::int32_t> seen;
    const auto [terms, start] = terms_of(g, i, seen);
    if (terms.size() < kTerms) continue;
    const tracer::Node& sum = *g[i].node;
    const tracer::Node& first = *terms[0];
    const tracer::ProductAxes axes = tracer::product_axes(first);
    const Dims result = StridedSource(first).extents;
    const Dims rows(result.begin() + axes.batch, result.begin() + axes.batch + axes.rows);
    const Dims columns(result.end() - axes.columns, result.end());
    Steps steps;
    if (!same_layout(sum, first) ||
        std::min(element_count(rows), element_count(columns)) <= kShort || !steps_of(terms, steps))
      continue;
    const int behind = steps_first(first, axes, steps) ? 0 : axes.sums;
    Ref<tracer::Node> product = tracer::product_instead(
        sum, stepping(first.inputs[0], axes.batch + axes.rows + behind, steps.extents, steps.a),
        stepping(first.inputs[1], axes.batch + behind, steps.extents, steps.b),
        Dims{axes.rows, axes.columns, axes.sums + steps.extents.size()});
    if (start) product = tracer::sum_instead(sum, Ref<tracer::Node>(start), std::move(product));
    found.push_back({g[i].recorded, std::move(product)});
    for (const std::int32_t n : seen) done[static_cast<std::size_t>(n)] = true;  // and gone
  }
  return found;
}

}  // namespace plait::fusion
