// The regions of a candidate: which roots share a loop nest, and in which order the nests run.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "fusion/graph/written_parts.hpp"
#include "product_region.hpp"
#include "products.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

// Of a region over elements.
constexpr std::size_t kMaxRoots = 8;

// One operation on memory.
bool cheap(const PlanGraph& g, std::int32_t node) {
  const Node& n = *g[node].node;
  if (n.kind != NodeKind::Cast &&
      !(n.kind == NodeKind::Elementwise && op_info(n.fn).cost == Cost::Cheap))
    return false;
  return std::all_of(std::begin(g[node].in), std::end(g[node].in),
                     [&](std::int32_t in) { return in < 0 || g[in].leaf; });
}

// Whether something stands before the columns of a product.
bool inlines_columns(const Candidate& c, std::int32_t product) {
  const PlanGraph& g = c.problem().graph;
  const std::vector<std::int32_t>& canon = c.problem().canon;
  std::int32_t i = g[product].in[1];
  if (!g[product].node->axes.empty() || unfolded_axes(g, i)) return false;
  while (c.inlined(canon[i]) && g[i].node->kind == NodeKind::View) i = g[i].in[0];
  return c.inlined(canon[i]) && g[i].node->kind != NodeKind::Update;
}

// What loops over blocks of products follow from.
void describe_products(const Candidate& c, RegionSpec& region) {
  const Problem& p = c.problem();
  if (region.order == FoldOrder::Rescaled) {
    region.attention = p.attention(region.product);
    return;
  }
  const std::vector<std::int32_t> all = region.products();
  if (all.size() > 1) region.sums = summed_products(p.graph, p.canon, all, p.target);
  region.computes_columns =
      std::ranges::any_of(all, [&](std::int32_t of) { return inlines_columns(c, of); });
}

}  // namespace

// Roots that the value of `node` reads, not looking behind them.
std::vector<std::int32_t> Candidate::reached_roots(std::int32_t node) const {
  ++walk_;
  std::vector<std::int32_t> found, stack;
  const bool update = g_[node].node->kind == NodeKind::Update;
  if (direct(node)) {
    for (std::int32_t in : operands(g_, node, epilogue(node))) {
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
    if (is_root(i)) {
      found.push_back(i);
      continue;
    }
    for (std::int32_t in : g_[i].in)
      if (in >= 0)
        stack.push_back(g_[in].wanted && is_root(in) && g_[in].node->kind == NodeKind::Update
                            ? in
                            : canon_[in]);
  }
  return found;
}

// True when `node` reaches those roots only through elementwise nodes of its own shape: same
// element, same iteration.
bool Candidate::same_index_only(std::int32_t node, const std::vector<std::int32_t>& roots) const {
  if (roots.empty()) return true;
  const Numbers& shape = g_[node].node->extents;
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
      if (path == Moved || (path == Folded && !cheap(g_, i))) return false;
      continue;
    }
    if (i != node && is_root(i)) continue;
    const Node& n = *g_[i].node;
    const bool pass = n.kind == NodeKind::Elementwise || n.kind == NodeKind::Cast;
    for (std::int32_t in : g_[i].in) {
      if (in < 0) continue;
      Path next = path;
      if (n.kind == NodeKind::Reduce && g_[in].node->extents == shape)
        next = Folded;
      else if (path == Folded && !(pass && g_[in].node->extents == shape))
        next = Moved;
      else if (path == Same && !(pass && g_[in].node->extents == shape))
        // What a value of fewer elements reads is reached through a reduction.
        next = g_[in].node->elements < g_[node].node->elements ? Same : Moved;
      stack.push_back({canon_[in], next});
    }
  }
  return true;
}

// Roots of equal ones may share a region; empty: alone.
std::vector<std::int64_t> Candidate::group_key(std::int32_t node) const {
  const Node& n = *g_[node].node;
  if (n.kind == NodeKind::Update || direct(node)) return {};
  if (at(node).order == FoldOrder::ByIndex) {
    std::vector<std::int64_t> key{2, placed_[node].group, canon_[g_[node].in[1]]};
    const Node& like = *g_[cut_like(node)].node;
    for (const Number& e : like.extents) key.push_back(e.identity(Number::Extent));
    return key;
  }
  const bool bl = at(node).order == FoldOrder::Chunks;
  const Numbers& shape = bl ? g_[g_[node].in[0]].node->extents : n.extents;
  std::vector<std::int64_t> key{bl, placed_[node].group, shape.size()};
  if (any(FoldOrder::Running)) key.push_back(scanned_axis(node));
  for (const Number& e : shape) key.push_back(e.identity(Number::Extent));
  if (!bl) return key;
  // One order of loops: the chunks are cut, and the sums go, along the widest axes.
  key.insert(key.end(), n.axes.begin(), n.axes.end());
  for (int d : by_width(shape, g_[g_[node].in[0]].node->byte_strides)) key.push_back(d);
  return key;
}

// Into how many pieces floats are cut decides their bits; integers follow.
std::int32_t Candidate::cut_like(std::int32_t scatter) const {
  if (!is_integer(g_[scatter].node->dtype)) return scatter;
  for (std::int32_t i = 0; i < g_.size(); ++i)
    if (at(i).order == FoldOrder::ByIndex && !is_integer(g_[i].node->dtype) &&
        canon_[g_[i].in[1]] == canon_[g_[scatter].in[1]])
      return i;
  return scatter;
}

// Of the scans that the region of a root computes, which are one loop of it; -1: none.
int Candidate::scanned_axis(std::int32_t node) const {
  ++walk_;
  std::vector<std::int32_t> stack{canon_[node]};
  while (!stack.empty()) {
    const std::int32_t i = stack.back();
    stack.pop_back();
    if (g_[i].leaf || std::exchange(seen_[i], walk_) == walk_) continue;
    if (at(i).order == FoldOrder::Running) return static_cast<int>(g_[i].node->axes[0]);
    if (is_root(i) && i != canon_[node]) continue;
    for (std::int32_t in : g_[i].in)
      if (in >= 0) stack.push_back(canon_[in]);
  }
  return -1;
}

Candidate::Products Candidate::products_of(std::int32_t node) const {
  Products found;
  if (multiplies(node)) {
    found.stored = node;
    return found;
  }
  if (is_row_value(*this, node)) {
    found.computed.push_back(attention_of(node));
    return found;
  }
  if (direct(node) || at(node).order == FoldOrder::Chunks) return found;
  const bool update = g_[node].node->kind == NodeKind::Update;
  ++walk_;
  struct Item {
    std::int32_t node;
    bool by_rows;
  };
  std::vector<Item> stack{{node, true}};
  while (!stack.empty()) {
    const Item item = stack.back();
    stack.pop_back();
    for (const std::int32_t in : g_[item.node].in) {
      if (in < 0 || (update && item.node == node && in != g_[node].in[1])) continue;
      const std::int32_t c = canon_[in];
      if (g_[c].leaf || seen_[c] == walk_) continue;
      if (attention_of(c) >= 0 && !is_root(c)) {
        if (const std::int32_t p = attention_of(c); seen_[p] != walk_) {
          found.computed.push_back(p);
          seen_[p] = walk_;
        }
        continue;
      }
      if (multiplies(c)) {
        if (is_root(c)) {
          if (item.by_rows && follows_product(g_, item.node, c, c) &&
              !folds_apart(*this, item.node, c))
            found.stored = c;
        } else {
          found.computed.push_back(c);
          seen_[c] = walk_;
        }
        continue;
      }
      if (is_root(c)) continue;
      seen_[c] = walk_;
      stack.push_back({c, item.by_rows && g_[c].node->kind != NodeKind::Reduce &&
                              g_[c].node->kind != NodeKind::View});
    }
  }
  if (update) found.stored = -1;
  return found;
}

// As they were recorded, but that what several products of an attention read comes before all of
// them.
std::vector<std::int32_t> Candidate::roots_in_order() const {
  std::vector<std::int32_t> several;  // those products
  for (std::int32_t i = 0; i < g_.size(); ++i)
    if (attention(i) && attention(i)->products.size() > 1) several.push_back(i);
  std::vector<std::int32_t> order;
  std::vector<bool> placed(g_.nodes.size());
  const auto place = [&](const auto& self, std::int32_t i) -> void {
    if (placed[i]) return;
    placed[i] = true;
    if (!several.empty())
      for (const std::int32_t r : reached_roots(i)) self(self, r);
    order.push_back(i);
  };
  for (std::int32_t i = 0; i < g_.size(); ++i) {
    if (!is_root(i)) continue;
    const Products of = several.empty() ? Products{} : products_of(i);
    for (const std::int32_t p : several) {
      const Attention& a = *attention(p);
      if (!a.multiplies(of.stored) &&
          std::ranges::none_of(of.computed, [&](std::int32_t q) { return a.multiplies(q); }))
        continue;
      const std::int32_t values = canon_[a.values(g_, p)];
      for (const std::int32_t r : is_root(values) ? std::vector{values} : reached_roots(values))
        place(place, r);
    }
    place(place, i);
  }
  return order;
}

std::vector<Step> Candidate::regions() const {
  std::vector<Step> steps;
  std::vector<std::int32_t> step_of(g_.nodes.size(), -1);
  std::map<std::vector<std::int64_t>, std::vector<std::int32_t>> open;  // steps that take more
  std::map<std::int32_t, std::int32_t> computing;  // of each product the last step that computes it
  for (const std::int32_t i : roots_in_order()) {
    problem_->budget.check(0);
    std::int32_t after = -1;  // the last step this root needs
    const std::vector<std::int32_t> needs = reached_roots(i);
    for (std::int32_t r : needs) after = std::max(after, step_of[r]);
    std::int32_t into = -1;
    const Products products = products_of(i);
    std::vector<std::int32_t> multiplied = products.computed;
    if (multiplied.empty() && products.stored >= 0) multiplied = {products.stored};
    for (const std::int32_t p : multiplied)
      if (const auto step = computing.find(p); step != computing.end() && step->second >= after)
        into = std::max(into, step->second);
    if (!multiplied.empty() && into < 0 &&
        (multiplied[0] != products.stored || multiplied[0] == i)) {
      Step s;
      s.region = {at(multiplied[0]).order, {}, multiplied[0]};
      steps.push_back(std::move(s));
      into = static_cast<std::int32_t>(steps.size()) - 1;
      computing[multiplied[0]] = into;
    }
    if (into >= 0) {
      RegionSpec& region = steps[into].region;
      for (const std::int32_t p : multiplied)
        for (const std::int32_t q : attention(p) ? attention(p)->products : std::vector{p})
          if (!region.multiplies(q)) {
            region.beside.push_back(q);
            computing[q] = into;
          }
      region.roots.push_back(i);
      step_of[i] = into;
      continue;
    }
    const std::vector<std::int64_t> with = group_key(i);
    std::vector<std::int32_t>* const others = with.empty() ? nullptr : &open[with];
    // What is made of nothing is stored as late as can be: it would lie about until then.
    const NodeKind kind = g_[i].node->kind;
    if (kind == NodeKind::Fill || kind == NodeKind::Iota)
      after = std::max(after, static_cast<std::int32_t>(steps.size()) - 1);
    if (others)
      for (auto s = std::lower_bound(others->begin(), others->end(), after);
           s != others->end() && into < 0; ++s)
        if (*s != after ||
            (steps[*s].region.over_elements() && same_index_only(i, steps[*s].region.roots)))
          into = *s;
    if (into < 0) {
      Step s;
      s.kind = direct(i) ? StepKind::Direct : StepKind::Kernel;
      s.epilogue = epilogue(i);
      s.region.order = at(i).order;
      steps.push_back(std::move(s));
      into = static_cast<std::int32_t>(steps.size()) - 1;
      if (others && !(is_arg(g_[i].node->reduce) && steps[into].region.order == FoldOrder::Chunks))
        others->push_back(into);
    }
    steps[into].region.roots.push_back(i);
    step_of[i] = into;
    if (others && steps[into].region.over_elements() &&
        steps[into].region.roots.size() == kMaxRoots)
      others->erase(std::find(others->begin(), others->end(), into));
  }
  for (Step& s : steps)
    if (s.region.product >= 0) describe_products(*this, s.region);
  return steps;
}

}  // namespace plait::fusion
