#include "schedule.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "cost.hpp"
#include "ordered_product.hpp"
#include "product_region.hpp"

namespace plait::fusion {
using tracer::Node;
using tracer::NodeKind;

namespace {

// Deeper chains are cut: lowering recurses, and a region gains nothing from more.
constexpr int kMaxDepth = 200;
// Of a region over elements.
constexpr std::size_t kMaxRoots = 8;

std::int64_t node_bytes(const Node& n) {
  return element_count(n.shape) * static_cast<std::int64_t>(itemsize(n.dtype));
}

}  // namespace

std::vector<std::int32_t> common_subexpressions(const Graph& g) {
  std::vector<std::int32_t> canon(g.nodes.size());
  std::unordered_map<std::string, std::int32_t> seen;
  std::string s;
  for (std::int32_t i = 0; i < g.size(); ++i) {
    canon[i] = i;
    const GNode& gn = g[i];
    const Node& n = *gn.node;
    if (gn.leaf || n.kind == NodeKind::Update || n.kind == NodeKind::MatMul) continue;
    s.clear();
    auto put = [&](std::int64_t v) { s.append(reinterpret_cast<const char*>(&v), sizeof v); };
    put(static_cast<int>(n.kind) | static_cast<int>(n.dtype) << 8 | static_cast<int>(n.fn) << 16 |
        static_cast<int>(n.reduce) << 24);
    for (std::int32_t in : gn.in) put(in < 0 ? -1 : canon[in]);
    put(n.axes.size());
    for (std::int64_t a : n.axes) put(a);
    // Numbers of views and shapes of generators are compared as they are; the plan guards what it
    // relies on.
    for (std::int64_t e : n.shape) put(e);
    for (std::int64_t t : n.strides) put(t);
    put(n.offset);
    canon[i] = seen.try_emplace(s, i).first->second;
  }
  return canon;
}

Schedule::Schedule(const Graph& g, const std::vector<std::int32_t>& canon, const Target& target)
    : g_(g),
      canon_(canon),
      target_(target),
      epilogues_(find_epilogues(g, target)),
      taken_up_(g.nodes.size()),
      tiled_(g.nodes.size()),
      root_(g.nodes.size()),
      group_(g.nodes.size()),
      seen_(g.nodes.size()) {
  for (const Epilogue& e : epilogues_)
    if (e) taken_up_[e.product] = true;
  for (std::int32_t i = 0; i < g.size(); ++i) tiled_[i] = !taken_up_[i] && fits_tiles(g, i, target);
  std::vector<int> depth(g.nodes.size());
  for (std::int32_t i = 0; i < g.size(); ++i) {
    const GNode& gn = g[i];
    const Node& n = *gn.node;
    if (gn.leaf) continue;
    if (gn.wanted) add_root(i, "wanted");
    if (n.kind == NodeKind::Update) {
      add_root(i, "a write to storage");
    } else if (direct(i)) {
      add_root(i, "computed by a library call");
    }
    if (n.kind == NodeKind::Update) add_own_root(gn.in[0], "a write to it");
    if (direct(i))
      for (std::int32_t in : operands(g, i, epilogues_[i]))
        add_own_root(operand_memory(in), "operand of a library call");
    if (tiled_[i]) place_operands(i);
    if (n.kind == NodeKind::View && !gn.map)
      add_root(gn.in[0], "a view that changes its shape reads it");
    if (gn.held && !gn.expiring && n.kind != NodeKind::View && n.kind != NodeKind::Fill &&
        n.kind != NodeKind::Iota && node_bytes(n) <= leaf_bytes(i))
      add_root(i, "held by a live name, or read by what is still pending");
    for (std::int32_t in : gn.in)
      if (in >= 0 && !root_[canon_[in]]) depth[i] = std::max(depth[i], depth[in] + 1);
    if (depth[i] > kMaxDepth && add_root(i, "the chain before it is long")) depth[i] = 0;
    if (n.kind == NodeKind::Reduce && blocked(i)) add_root(i, "few results of a long reduction");
  }
  settle_products();
  keep_what_many_writes_read();
}

// Each write to storage is a loop of its own, which computes what it stores from the roots: a value
// that several of them read (the pieces of a roll, of a concatenation) may be better in memory.
void Schedule::keep_what_many_writes_read() {
  std::vector<double> cost(g_.nodes.size()), computed(g_.nodes.size());
  bool updates = false;
  for (std::int32_t i = 0; i < g_.size(); ++i) {
    const Node& n = *g_[i].node;
    updates |= !g_[i].leaf && n.kind == NodeKind::Update;
    if (g_[i].leaf || root_[canon_[i]]) continue;
    if (n.kind == NodeKind::Elementwise) cost[i] = static_cast<double>(op_info(n.fn).cost);
    if (n.kind == NodeKind::Cast) cost[i] = 1;
    const double elements = std::max<double>(1, static_cast<double>(element_count(n.shape)));
    for (std::int32_t in : g_[i].in)
      if (in >= 0)
        cost[i] +=
            cost[in] * (n.kind == NodeKind::View
                            ? 1
                            : static_cast<double>(element_count(g_[in].node->shape)) / elements);
  }
  if (!updates) return;
  for (std::int32_t i = g_.size(); i-- > 0;) {
    const GNode& gn = g_[i];
    const Node& n = *gn.node;
    if (gn.leaf) continue;
    if (n.kind == NodeKind::Update) {
      if (gn.in[1] >= 0) computed[gn.in[1]] += static_cast<double>(element_count(n.view_shape));
      continue;
    }
    if (root_[canon_[i]]) continue;
    const double elements = static_cast<double>(element_count(n.shape));
    if (n.kind != NodeKind::View &&
        reading(*target_.machine, elements, cost[i], computed[i]).store() &&
        node_bytes(n) <= leaf_bytes(i)) {
      add_root(i, "several writes would compute it again");
      continue;
    }
    for (std::int32_t in : gn.in)
      if (in >= 0) computed[in] += computed[i];
  }
}

bool Schedule::add_root(std::int32_t node, const std::string& why) {
  if (node < 0 || g_[node].leaf) return false;
  // Each wanted node has memory of its own, also when an equal one exists.
  const std::int32_t c =
      g_[node].wanted || g_[node].node->kind == NodeKind::Update ? node : canon_[node];
  return add_own_root(c, why);
}

bool Schedule::add_own_root(std::int32_t node, const std::string& why) {
  if (node < 0 || g_[node].leaf || root_[node]) return false;
  root_[node] = true;
  notes_.push_back({node, why});
  return true;
}

void Schedule::part(std::int32_t node, bool one_walk) {
  group_[node] = group_[node] != 0 ? 3 + node : one_walk ? 1 : 2;
}

bool Schedule::direct(std::int32_t node) const {
  const GNode& gn = g_[node];
  if (gn.leaf) return false;
  const Node& n = *gn.node;
  if (n.kind == NodeKind::MatMul) return !taken_up_[node] && !tiled_[node];
  if (epilogues_[node]) return true;
  if (n.kind == NodeKind::Reduce &&
      (n.reduce == ReduceKind::ArgMin || n.reduce == ReduceKind::ArgMax))
    return n.axes.size() != 1;
  if (target_.ordered_products && multiplied_in_order(n)) return !one_loop_multiplies(n);
  return false;
}

// A library call takes a view as it lies in memory that is there anyway, or is not larger.
std::int32_t Schedule::operand_memory(std::int32_t node) const {
  std::int32_t base = node;
  while (!g_[base].leaf && g_[base].node->kind == NodeKind::View) base = g_[base].in[0];
  const Node& b = *g_[base].node;
  if (b.kind == NodeKind::Scalar) return node;
  return g_[base].leaf || root_[base] ||
                 element_count(b.shape) <= element_count(g_[node].node->shape)
             ? base
             : node;
}

bool Schedule::blocked(std::int32_t node) const {
  const GNode& gn = g_[node];
  const Node& n = *gn.node;
  if (n.kind != NodeKind::Reduce || direct(node)) return false;
  if (target_.ordered_products && multiplied_in_order(n)) return false;
  const Node& on = *g_[gn.in[0]].node;
  const std::int64_t results = element_count(n.shape);
  const std::int64_t total = element_count(on.shape);
  if (results == 0 || total / results < 64 || total < kBlockedFold) return false;
  if (results == 1) return true;
  int inner = -1, outer = -1;
  for (int d = 0; d < on.shape.size(); ++d) {
    if (on.shape[d] == 1) continue;
    if (inner < 0 || std::abs(on.strides[d]) < std::abs(on.strides[inner])) inner = d;
    if (outer < 0 || std::abs(on.strides[d]) > std::abs(on.strides[outer])) outer = d;
  }
  auto reduced = [&](int d) { return std::find(n.axes.begin(), n.axes.end(), d) != n.axes.end(); };
  // Columns: short rows and many of them are streamed row by row; else the threads share the
  // columns.
  if (!reduced(inner)) return reduced(outer) && results < kManyColumns && total / results > results;
  return results < kFewRows ||
         (total / results > kLongRow && target_.spreads(n, static_cast<double>(results)));
}

std::int64_t Schedule::leaf_bytes(std::int32_t node) const {
  std::int64_t bytes = 0;
  std::set<std::int32_t> seen;
  std::vector<std::int32_t> stack{node};
  while (!stack.empty() && seen.size() < 64) {
    const std::int32_t i = stack.back();
    stack.pop_back();
    if (!seen.insert(i).second) continue;
    if (i != node && (g_[i].leaf || root_[canon_[i]])) {
      bytes += node_bytes(*g_[i].node);
      continue;
    }
    // Generated values too: in NumPy they are arrays.
    const NodeKind kind = g_[i].node->kind;
    if (i != node && (kind == NodeKind::Iota || kind == NodeKind::Fill)) {
      bytes += node_bytes(*g_[i].node);
      continue;
    }
    for (std::int32_t in : g_[i].in)
      if (in >= 0) stack.push_back(in);
  }
  return bytes;
}

// Roots that the value of `node` reads, not looking behind them.
std::vector<std::int32_t> Schedule::reached_roots(std::int32_t node) const {
  ++walk_;
  std::vector<std::int32_t> found, stack;
  const bool update = g_[node].node->kind == NodeKind::Update;
  if (direct(node)) {
    for (std::int32_t in : operands(g_, node, epilogues_[node])) {
      stack.push_back(in);
      stack.push_back(operand_memory(in));
    }
  } else {
    for (int k = 0; k < 3; ++k)
      if (const std::int32_t in = g_[node].in[k]; in >= 0)
        stack.push_back(update && k == 0 ? in : canon_[in]);
  }
  if (canon_[node] != node) stack.push_back(canon_[node]);
  while (!stack.empty()) {
    const std::int32_t i = stack.back();
    stack.pop_back();
    if (g_[i].leaf || std::exchange(seen_[i], walk_) == walk_) continue;
    if (root_[i]) {
      found.push_back(i);
      continue;
    }
    for (std::int32_t in : g_[i].in)
      if (in >= 0)
        stack.push_back(
            g_[in].wanted && root_[in] && g_[in].node->kind == NodeKind::Update ? in : canon_[in]);
  }
  return found;
}

// True when `node` reaches those roots only through elementwise nodes of its own shape: same
// element, same iteration.
bool Schedule::same_index_only(std::int32_t node, const std::vector<std::int32_t>& roots) const {
  if (roots.empty()) return true;
  const Dims& shape = g_[node].node->shape;
  // Along rows a root that is cheap to compute again may also be read by reductions.
  enum Path { Same, Folded, Moved };
  struct Item {
    std::int32_t node;
    Path path;
  };
  std::vector<Item> stack{{canon_[node], Same}};
  std::set<std::pair<std::int32_t, Path>> seen;
  while (!stack.empty()) {
    auto [i, path] = stack.back();
    stack.pop_back();
    if (!seen.insert({i, path}).second || g_[i].leaf) continue;
    if (i != node && std::find(roots.begin(), roots.end(), i) != roots.end()) {
      if (path == Moved || (path == Folded && !cheap(i))) return false;
      continue;
    }
    if (i != node && root_[i]) continue;
    const Node& n = *g_[i].node;
    const bool pass = n.kind == NodeKind::Elementwise || n.kind == NodeKind::Cast;
    for (std::int32_t in : g_[i].in) {
      if (in < 0) continue;
      Path next = path;
      if (n.kind == NodeKind::Reduce && g_[in].node->shape == shape)
        next = Folded;
      else if (path == Folded && !(pass && g_[in].node->shape == shape))
        next = Moved;
      else if (path == Same && !(pass && g_[in].node->shape == shape))
        next = small(in, shape) ? Same : Moved;
      stack.push_back({canon_[in], next});
    }
  }
  return true;
}

// One operation on memory.
bool Schedule::cheap(std::int32_t node) const {
  const Node& n = *g_[node].node;
  if (n.kind != NodeKind::Cast &&
      !(n.kind == NodeKind::Elementwise && op_info(n.fn).cost == Cost::Cheap))
    return false;
  return std::all_of(std::begin(g_[node].in), std::end(g_[node].in),
                     [&](std::int32_t in) { return in < 0 || g_[in].leaf; });
}

// A value of fewer elements than the region's: what it reads is reached through a reduction.
bool Schedule::small(std::int32_t node, const Dims& shape) const {
  return element_count(g_[node].node->shape) < element_count(shape);
}

// Roots of equal ones may share a region; empty: alone.
std::vector<std::int64_t> Schedule::group_key(std::int32_t node) const {
  const Node& n = *g_[node].node;
  if (n.kind == NodeKind::Update || direct(node)) return {};
  const bool bl = blocked(node);
  const Dims& shape = bl ? g_[g_[node].in[0]].node->shape : n.shape;
  std::vector<std::int64_t> key{bl, group_[node], shape.size()};
  key.insert(key.end(), shape.begin(), shape.end());
  if (!bl) return key;
  // One order of loops: the chunks are cut, and the sums go, along the widest axes.
  key.insert(key.end(), n.axes.begin(), n.axes.end());
  for (int d : by_width(shape, g_[g_[node].in[0]].node->strides)) key.push_back(d);
  return key;
}

std::vector<Step> Schedule::regions() const {
  std::vector<Step> steps;
  std::vector<std::int32_t> step_of(g_.nodes.size(), -1);
  std::map<std::vector<std::int64_t>, std::vector<std::int32_t>> open;  // steps that take more
  std::map<std::int32_t, std::int32_t> computing;  // of each product the last step that computes it
  for (std::int32_t i = 0; i < g_.size(); ++i) {
    if (!root_[i]) continue;
    std::int32_t after = -1;  // the last step this root needs
    const std::vector<std::int32_t> needs = reached_roots(i);
    for (std::int32_t r : needs) after = std::max(after, step_of[r]);
    std::int32_t into = -1;
    const Products products = products_of(i);
    if (const std::int32_t p = products.computed.empty() ? products.stored : products.computed[0];
        p >= 0) {
      const auto step = computing.find(p);
      if (step != computing.end() && step->second >= after) {
        steps[step->second].region.roots.push_back(i);
        step_of[i] = step->second;
        continue;
      }
      if (p != products.stored || p == i) {
        Step s;
        s.region = {RegionKind::Product, {i}, p};
        steps.push_back(std::move(s));
        step_of[i] = computing[p] = static_cast<std::int32_t>(steps.size()) - 1;
        continue;
      }
    }
    const std::vector<std::int64_t> with = group_key(i);
    std::vector<std::int32_t>* const others = with.empty() ? nullptr : &open[with];
    if (others)
      for (auto s = std::lower_bound(others->begin(), others->end(), after);
           s != others->end() && into < 0; ++s)
        if (*s != after || (steps[*s].region.kind == RegionKind::Map &&
                            same_index_only(i, steps[*s].region.roots)))
          into = *s;
    if (into < 0) {
      Step s;
      s.kind = direct(i) ? StepKind::Direct : StepKind::Kernel;
      s.epilogue = epilogues_[i];
      s.region.kind = blocked(i) ? RegionKind::Blocked : RegionKind::Map;
      steps.push_back(std::move(s));
      into = static_cast<std::int32_t>(steps.size()) - 1;
      const ReduceKind k = g_[i].node->reduce;
      const bool arg = k == ReduceKind::ArgMin || k == ReduceKind::ArgMax;
      if (others && !(arg && steps[into].region.kind == RegionKind::Blocked))
        others->push_back(into);
    }
    steps[into].region.roots.push_back(i);
    step_of[i] = into;
    if (others && steps[into].region.kind == RegionKind::Map &&
        steps[into].region.roots.size() == kMaxRoots)
      others->erase(std::find(others->begin(), others->end(), into));
  }
  return steps;
}

}  // namespace plait::fusion
