#include "candidate.hpp"

#include <set>
#include <unordered_map>

#include "fusion/graph/ordered_product.hpp"
#include "product_region.hpp"
#include "scan_region.hpp"
#include "scatter_region.hpp"

namespace plait::fusion {
using tracer::NodeKind;

std::vector<std::int32_t> common_subexpressions(const PlanGraph& g) {
  std::vector<std::int32_t> canon(g.nodes.size());
  std::unordered_map<std::string, std::int32_t> seen;
  std::string s;
  for (std::int32_t i = 0; i < g.size(); ++i) {
    canon[i] = i;
    const PlanNode& gn = g[i];
    const Node& n = *gn.node;
    if (gn.leaf || n.kind == NodeKind::Update || n.kind == NodeKind::MatMul ||
        n.kind == NodeKind::Call)
      continue;
    s.clear();
    auto put = [&](std::int64_t v) { s.append(reinterpret_cast<const char*>(&v), sizeof v); };
    put(static_cast<int>(n.kind) | static_cast<int>(n.dtype) << 8 | static_cast<int>(n.fn) << 16 |
        static_cast<int>(n.reduce) << 24);
    for (std::int32_t in : gn.in) put(in < 0 ? -1 : canon[in]);
    put(n.axes.size());
    for (std::int64_t a : n.axes) put(a);
    const auto numbers = [](const Node& of, auto&& each) {
      for (const Numbers* all : {&of.extents, &of.byte_strides})
        for (const Number& x : *all) each(x);
      if (of.kind == NodeKind::View || of.kind == NodeKind::Gather) each(of.offset);
      if (of.kind != NodeKind::Gather) return;
      for (const Number& x : of.view_byte_strides) each(x);
      each(of.step);
    };
    numbers(n, [&](const Number& x) { put(x.hash()); });
    const auto [same, fresh] = seen.try_emplace(s, i);
    if (fresh) continue;
    canon[i] = same->second;
    std::vector<Number> own;
    numbers(n, [&](const Number& x) { own.push_back(x); });
    auto next = own.begin();
    numbers(*g[canon[i]].node, [&](const Number& x) { static_cast<void>(x == *next++); });
  }
  return canon;
}

namespace {

// How it is computed as long as no region takes it.
How outside_regions(const Node& n, const Target& target) {
  if (n.kind == NodeKind::MatMul) return How::Library;
  const bool call =
      n.kind == NodeKind::Call ||
      (n.kind == NodeKind::Reduce && is_arg(n.reduce)
           ? n.axes.size() != 1
           : target.ordered_products && multiplied_in_order(n) && !one_loop_multiplies(n));
  return call ? How::Call : How::Loop;
}

}  // namespace

Candidate::Candidate(const Problem& p)
    : problem_(&p), g_(p.graph), canon_(p.canon), placed_(g_.nodes.size()), seen_(g_.nodes.size()) {
  folds_[static_cast<std::size_t>(FoldOrder::Whole)] = g_.size();
  for (std::int32_t i = 0; i < g_.size(); ++i)
    if (!g_[i].leaf) placed_[i].how = outside_regions(*g_[i].node, p.target);
  for (std::int32_t i = 0; i < g_.size(); ++i)
    if (const Epilogue& e = p.epilogues[i]) {
      placed_[e.product].with = i;
      placed_[i].how = How::Call;
    }
}

ReadMode Candidate::read_mode(std::int32_t node) const {
  if (!modes_) modes_ = std::make_shared<const std::vector<ReadMode>>(find_read_modes(*this));
  if (modes_->empty()) return {};
  const ReadMode m = (*modes_)[node];
  return m.in_parts() && is_root(node) ? ReadMode{} : m;
}

std::vector<bool> Candidate::roots() const {
  std::vector<bool> all(placed_.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = placed_[i].stored;
  return all;
}

bool Candidate::apply(const Edit& e) {
  if (e.node < 0) return false;
  switch (e.kind) {
    case Edit::Store: {
      // Each wanted node has memory of its own, also when an equal one exists.
      const bool own = g_[e.node].wanted || g_[e.node].node->kind == NodeKind::Update;
      return store(own || g_[e.node].leaf ? e.node : canon_[e.node], e.why);
    }
    case Edit::StoreThis:
      return store(e.node, e.why);
    case Edit::StoreOperand:
      return store(operand_memory(e.node), e.why);
    case Edit::Cut: {
      const bool changed = apply({Edit::Store, e.node, e.why});
      fold(e.node, FoldOrder::Chunks);
      return changed;
    }
    case Edit::Multiply:
      multiply(e.node, -1);
      modes_.reset();
      return true;
    case Edit::Attend:
      attend(e.node);
      modes_.reset();
      return true;
    case Edit::Scan:
      fold(e.node, FoldOrder::Running);
      modes_.reset();
      return true;
    case Edit::Scatter:
      fold(e.node, FoldOrder::ByIndex);
      modes_.reset();
      return true;
    case Edit::Call: {
      Placement& p = placed_[e.node];
      bool changed = p.how == How::Fragment || p.order != FoldOrder::Whole;
      if (changed) {
        p.how = outside_regions(*g_[e.node].node, problem_->target);
        fold(e.node, FoldOrder::Whole);
      }
      changed |= apply({Edit::Store, e.node, e.why});
      for (const std::int32_t in : operands(g_, e.node, epilogue(e.node)))
        changed |= apply({Edit::StoreOperand, in, "operand of a library call"});
      return changed;
    }
  }
  return false;
}

bool Candidate::store(std::int32_t node, const char* why) {
  if (node < 0 || g_[node].leaf || is_root(node)) return false;
  const bool in_parts = read_mode(node).in_parts();
  placed_[node].stored = true;
  notes_.push_back({node, why});
  if (in_parts) store(g_[node].in[0], "a write to it");
  return true;
}

void Candidate::remove_root(std::int32_t node) {
  placed_[node].stored = false;
  std::erase_if(notes_, [&](const Note& n) { return n.node == node; });
}

void Candidate::separate(std::int32_t node, bool one_walk) {
  std::int32_t& group = placed_[node].group;
  group = group != 0 ? 3 + node : one_walk ? 1 : 2;
}

// The fold of a node by loops goes over what it folds in that order.
void Candidate::fold(std::int32_t node, FoldOrder order) {
  Placement& p = placed_[node];
  --folds_[static_cast<std::size_t>(p.order)];
  ++folds_[static_cast<std::size_t>(order)];
  p.order = order;
  if (order != FoldOrder::Whole && p.how == How::Call) p.how = How::Loop;
}

// In blocks of its own, or of another product.
void Candidate::multiply(std::int32_t product, std::int32_t with) {
  Placement& p = placed_[product];
  if (has_epilogue(product)) placed_[p.with].how = How::Loop;
  p.how = How::Fragment;
  p.with = with;
}

void Candidate::attend(std::int32_t product) {
  const Attention& a = *problem_->attention(product);
  multiply(a.scores, a.product);
  for (const std::int32_t n : a.inside) placed_[n].with = a.product;
  for (const std::int32_t p : a.products) {
    multiply(p, -1);
    fold(p, FoldOrder::Rescaled);
  }
}

std::int32_t Candidate::operand_memory(std::int32_t node) const {
  std::int32_t base = node;
  while (!g_[base].leaf && g_[base].node->kind == NodeKind::View) base = g_[base].in[0];
  const Node& b = *g_[base].node;
  if (b.kind == NodeKind::Scalar) return node;
  return g_[base].leaf || is_root(base) || b.elements <= g_[node].node->elements ? base : node;
}

Number Candidate::leaf_bytes(std::int32_t node) const {
  Number bytes = 0;
  std::set<std::int32_t> seen;
  std::vector<std::int32_t> stack{node};
  while (!stack.empty() && seen.size() < 64) {
    const std::int32_t i = stack.back();
    stack.pop_back();
    if (!seen.insert(i).second) continue;
    if (i != node && (g_[i].leaf || is_root(canon_[i]))) {
      bytes += node_bytes(*g_[i].node);
      continue;
    }
    // Generated values and what is written in parts, too: in NumPy they are arrays.
    const NodeKind kind = g_[i].node->kind;
    if (i != node &&
        (kind == NodeKind::Iota || kind == NodeKind::Fill || kind == NodeKind::Update)) {
      bytes += node_bytes(*g_[i].node);
      continue;
    }
    for (std::int32_t in : g_[i].in)
      if (in >= 0) stack.push_back(in);
  }
  return bytes;
}

}  // namespace plait::fusion
