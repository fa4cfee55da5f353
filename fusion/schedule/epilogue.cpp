#include "epilogue.hpp"

#include <algorithm>

#include "product_region.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

// Nobody but the sum asks for it, and the sum is all of it, laid out the same.
bool only_for(const PlanNode& product, const Node& sum) {
  const Node& p = *product.node;
  return p.kind == NodeKind::MatMul && !product.leaf && product.uses == 1 && !product.wanted &&
         !product.held && p.dtype == sum.dtype && p.extents == sum.extents &&
         p.byte_strides == sum.byte_strides;
}

bool along_last_axis(const Node& bias, const Node& sum) {
  const Numbers& shape = bias.extents;
  return shape.size() > 0 && bias.dtype == sum.dtype && shape.back() == sum.extents.back() &&
         std::all_of(shape.begin(), shape.end() - 1, [](const Number& e) { return e == 1; });
}

// Strides of a last axis of one element are no part of the graph's key.
bool lies_as(const Node& addend, const Node& sum) {
  return addend.dtype == sum.dtype && addend.extents == sum.extents && sum.extents.back() != 1 &&
         addend.byte_strides == sum.byte_strides;
}

// What a library call computes is, and views lie in what they show.
bool in_memory(const PlanGraph& g, const std::vector<Epilogue>& found, std::int32_t i) {
  while (!g[i].leaf && g[i].node->kind == NodeKind::View) i = g[i].in[0];
  return g[i].leaf || g[i].node->kind == NodeKind::MatMul || found[i];
}

}  // namespace

// A region computes the product with what stands around it.
bool better_in_region(const PlanGraph& g, const std::vector<Epilogue>& found, std::int32_t sum,
                      const Target& target) {
  const std::int32_t product = found[sum].product;
  return fits_tiles(g, product, target) &&
         (!g[sum].wanted || !in_memory(g, found, g[product].in[0]) ||
          !in_memory(g, found, g[product].in[1]));
}

// What is looked at is part of the graph's key: structure, who holds what, extents of 1, and which
// of what is in memory is contiguous.
std::vector<Epilogue> find_epilogues(const PlanGraph& g, const Target& target) {
  std::vector<Epilogue> found(g.nodes.size());
  for (std::int32_t i = 0; target.summed_products && i < g.size(); ++i) {
    const Node& sum = *g[i].node;
    if (g[i].leaf || sum.kind != NodeKind::Elementwise || sum.fn != OpId::Add ||
        !(target.summed_products >> static_cast<int>(sum.dtype) & 1))
      continue;
    for (int k = 0; k < 2 && !found[i]; ++k) {
      const std::int32_t product = g[i].in[k], addend = g[i].in[1 - k];
      if (!only_for(g[product], sum)) continue;
      if (along_last_axis(*g[addend].node, sum))
        found[i] = {product, addend};
      else if (lies_as(*g[addend].node, sum) && in_memory(g, found, addend))
        found[i] = {product, addend, true};
    }
    if (found[i] && better_in_region(g, found, i, target)) found[i] = {};
  }
  return found;
}

}  // namespace plait::fusion
