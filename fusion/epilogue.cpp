#include "epilogue.hpp"

#include <algorithm>

namespace plait::fusion {
using tracer::Node;
using tracer::NodeKind;

namespace {

// Nobody but the sum asks for it, and the sum is all of it, laid out the same.
bool only_for(const GNode& product, const Node& sum) {
  const Node& p = *product.node;
  return p.kind == NodeKind::MatMul && !product.leaf && product.uses == 1 && !product.wanted &&
         !product.held && p.dtype == sum.dtype && p.shape == sum.shape && p.strides == sum.strides;
}

bool along_last_axis(const Node& bias, const Node& sum) {
  const Dims& shape = bias.shape;
  return shape.size() > 0 && bias.dtype == sum.dtype && shape.back() == sum.shape.back() &&
         std::all_of(shape.begin(), shape.end() - 1, [](std::int64_t e) { return e == 1; });
}

}  // namespace

// What is looked at is part of the graph's key: structure, who holds what, extents of 1.
std::vector<Epilogue> find_epilogues(const Graph& g, const Target& target) {
  std::vector<Epilogue> found(g.nodes.size());
  for (std::int32_t i = 0; target.biased_products && i < g.size(); ++i) {
    const Node& sum = *g[i].node;
    if (g[i].leaf || sum.kind != NodeKind::Elementwise || sum.fn != OpId::Add ||
        !(target.biased_products >> static_cast<int>(sum.dtype) & 1))
      continue;
    for (int k = 0; k < 2 && !found[i]; ++k) {
      const std::int32_t product = g[i].in[k], bias = g[i].in[1 - k];
      if (only_for(g[product], sum) && along_last_axis(*g[bias].node, sum))
        found[i] = {product, bias};
    }
  }
  return found;
}

}  // namespace plait::fusion
