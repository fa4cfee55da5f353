#include "product_region.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include "cost.hpp"
#include "tracer/contraction.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

// More rows of a product than these have larger blocks: there are enough of them for any team.
constexpr std::int64_t kTall = 16384;
// Blocks that a product has at least, if its rows allow it.
constexpr std::int64_t kBlocks = 4;
// A row that a block can have whole; the longest sums; extents below which a tile has little to do.
constexpr std::int64_t kWholeRow = 32 << 10, kDeepest = 16384, kSmall = kShort;
// Multiplications of a product whose operands leave the caches.
constexpr double kLarge = 1 << 27;
// Sums of several axes that a block has all of.
constexpr std::int64_t kDeepestBlock = 4096;
// Between two products; more is no attention, and looking for it costs.
constexpr std::size_t kMostNodes = 64;

// Of an element of its block.
std::int64_t bytes_of_sum(const Node& product) {
  return static_cast<std::int64_t>(itemsize(ir::fragment_sums(product_types(product))));
}

bool rows_alone(const Numbers& shape, const Numbers& product) {
  const int rows = product.size() - 1;
  if (shape.size() < rows || !std::equal(product.begin(), product.end() - 1, shape.begin()))
    return false;
  return shape.size() == rows || (shape.size() == rows + 1 && shape.back() == 1);
}

bool same_axes(const PlanViewMap& map, int count) {
  for (int d = 0; d < count && d < map.from.size(); ++d)
    if (map.from[d] >= 0 && map.from[d] != d) return false;
  return true;
}

// Of the base, all elements in another order of its axes.
bool permutes(const PlanGraph& g, std::int32_t view) {
  const Node &n = *g[view].node, &base = *g[g[view].in[0]].node;
  const PlanViewMap* const m = g[view].map.get();
  if (!m || n.dtype != base.dtype || n.elements != base.elements) return false;
  for (int d = 0; d < base.extents.size(); ++d)
    if (base.extents[d] != 1 && (m->from[d] < 0 || m->start[d] != 0 || m->step[d] != 1 ||
                                 n.extents[static_cast<int>(m->from[d])] != base.extents[d]))
      return false;
  return true;
}

// So many rows, or fewer of a greater length, but `least` at least, until they fit so many elements
// beside `more` elements in each. In steps of a quarter of a power of two: lengths
// close to each other share a plan.
std::int64_t rows_that_fit(const Number& length, std::int64_t elements, std::int64_t rows,
                           std::int64_t least, std::int64_t more = 0) {
  while (!(length <= elements / rows - more) && rows > least)
    rows -= static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(rows - 1))) / 4;
  return rows;
}

// Of all rows of a product of so many columns, what leaves it enough blocks.
std::int64_t share_of_rows(const Node& p, std::int64_t columns) {
  const std::int64_t all = p.elements.estimate() / std::max<std::int64_t>(1, columns);
  return (all + kBlocks - 1) / kBlocks;
}

// Whether what an operand shows is in memory before the plan begins.
bool is_given(const PlanGraph& g, std::int32_t operand) {
  while (g[operand].node->kind == NodeKind::View && !g[operand].leaf) operand = g[operand].in[0];
  return g[operand].leaf;
}

// Where an operand's elements lie: in which memory, or in that of which node.
struct OperandPlace {
  std::int32_t memory;  // of which node
  Number offset;
  Numbers extents, byte_strides;
  bool operator==(const OperandPlace&) const = default;
};

OperandPlace place_of(const PlanGraph& g, const std::vector<std::int32_t>& canon,
                      std::int32_t operand) {
  const Node& n = *g[operand].node;
  const bool shows = n.kind == NodeKind::View;
  const std::int32_t of = shows ? g[operand].in[0] : operand;
  const Number origin = g[of].leaf ? g.number({of, Field::Origin, 0}) : Number(0);
  return {g[canon[of]].memory, shows ? origin + n.offset : origin, n.extents, n.byte_strides};
}

}  // namespace

bool by_own_transpose(const PlanGraph& g, const std::vector<std::int32_t>& canon,
                      std::int32_t product) {
  const Node& n = *g[product].node;
  if (!n.axes.empty() || n.inputs[0]->dtype != n.inputs[1]->dtype) return false;
  const OperandPlace a = place_of(g, canon, g[product].in[0]);
  OperandPlace b = place_of(g, canon, g[product].in[1]);
  const int dims = b.extents.size();
  if (dims < 2 || a.byte_strides.size() != dims) return false;
  for (Numbers* d : {&b.extents, &b.byte_strides}) std::swap((*d)[dims - 1], (*d)[dims - 2]);
  return a == b;
}

ProductClass product_class(const Node& product) {
  constexpr int kWorthTiles = 1'000'000, kWorthBlocks = 1 << 15;  // multiplications
  const Number all = product.elements * product_depth(product);
  return all >= kWorthTiles    ? ProductClass::Large
         : all >= kWorthBlocks ? ProductClass::Medium
                               : ProductClass::Small;
}

TileShape tile_shape(const PlanGraph& g, std::int32_t product, bool whole,
                     const ProductBlocks& most) {
  const Node& p = *g[product].node;
  const int dims = p.extents.size();
  const auto item = static_cast<std::int64_t>(itemsize(p.dtype)), sum_item = bytes_of_sum(p);
  const Number &rows = p.extents[dims - 2], &columns = p.extents[dims - 1],
               &depth = p.inputs[0]->extents.back();
  std::int64_t height = rows <= kTall ? most.rows : most.many_rows;
  if (!most.at_sums)
    height = rows_that_fit(depth, most.operand_bytes / item, height, most.least_rows);
  if (whole)
    height = rows_that_fit(columns, most.product_bytes / sum_item, height, most.least_rows);
  return {
      std::max(std::min(height, share_of_rows(p, p.extents.back().estimate())), most.least_rows),
      most.strip_bytes / sum_item};
}

std::vector<Scores> products_before(const PlanGraph& g, const std::vector<std::int32_t>& canon,
                                    std::int32_t weights) {
  const Number elements = g[weights].node->elements;
  std::vector<Scores> found;
  std::vector<std::int32_t> stack{weights};
  std::set<std::int32_t> seen;
  while (!stack.empty()) {
    const std::int32_t i = stack.back();
    stack.pop_back();
    if (g[i].leaf || !seen.insert(i).second) continue;
    if (seen.size() > kMostNodes) return {};
    std::int32_t of = i;
    if (g[i].node->kind == NodeKind::View && !g[canon[g[i].in[0]]].leaf) of = canon[g[i].in[0]];
    const Node& n = *g[of].node;
    if (n.kind == NodeKind::MatMul) {
      if (n.axes.empty() && n.elements == elements && is_float(n.dtype) &&
          product_class(n) != ProductClass::Small)
        found.push_back({of, i});
      continue;
    }
    for (const std::int32_t in : g[i].in)
      if (in >= 0) stack.push_back(canon[in]);
  }
  return found;
}

std::int64_t attention_rows(const PlanGraph& g, const Attention& a, std::int64_t columns) {
  const Node &p = *g[a.product].node, &s = *g[a.scores].node;
  const std::int64_t elements = a.blocks.attention_bytes /
                                std::max(bytes_of_sum(p), bytes_of_sum(s)) /
                                static_cast<std::int64_t>(a.products.size());
  const Number &across = p.extents[a.column_axis(g)], &depth = s.inputs[0]->extents.back();
  const std::int64_t fit =
      rows_that_fit(across + depth, elements, a.blocks.many_rows, a.blocks.least_rows, columns);
  const std::int64_t rows = p.extents[a.row_axis(g)].estimate(),
                     share = share_of_rows(p, p.extents[a.column_axis(g)].estimate());
  return std::max(std::min({fit, rows, share}), a.blocks.least_rows);
}

bool fits_tiles(const PlanGraph& g, std::int32_t node, const Target& target) {
  const Node& p = *g[node].node;
  if (g[node].leaf || p.kind != NodeKind::MatMul || target.product_depth == 0) return false;
  if (!target.multiplies(product_types(p))) return false;
  const Number depth = product_depth(p);
  const tracer::ProductAxes axes = product_axes(p);
  const auto count = [&](int first, int axes_of_it) {
    return element_count(
        Numbers(p.extents.begin() + first, p.extents.begin() + first + axes_of_it));
  };
  return product_class(p) == ProductClass::Large && depth > kSmall &&
         depth <= (p.axes.empty() ? kDeepest : kDeepestBlock) &&
         count(axes.batch, axes.rows) > kSmall &&
         count(axes.batch + axes.rows, axes.columns) > kSmall;
}

double tiling_seconds(const Target& target, const PlanGraph& g, std::int32_t product) {
  const Machine& m = *target.machine;
  const ProductBlocks& most = target.blocks;
  const Node& p = *g[product].node;
  const tracer::ProductAxes axes = product_axes(p);
  const double columns = elements_of(Numbers(p.extents.end() - axes.columns, p.extents.end()));
  const double rows = p.elements.cost() / columns;
  if (p.axes.empty()) {
    const TileShape block = tile_shape(g, product, false, most);
    const double down = rows / static_cast<double>(block.rows), seconds = down * m.block;
    // Of smaller ones the columns stay at hand; what is summed in another type a call casts, which
    // takes about as long; and columns that are computed where they are packed, a call has stored.
    const double depth = product_depth(p).cost();
    const ir::ProductTypes types = product_types(p);
    const bool large = rows * columns * depth >= kLarge;
    if (!target.lanes || !large || ir::fragment_sums(types) != p.dtype || !types.uniform() ||
        !is_given(g, g[product].in[1]))
      return seconds;
    // In each matrix of a batch, every block of rows but one packs the columns again, and every
    // strip of columns but one reads the block's rows again.
    const double tall = p.extents[axes.batch].cost();
    const double again = std::max(0.0, tall / static_cast<double>(block.rows) - 1) * rows / tall,
                 across = std::max(0.0, columns / static_cast<double>(block.columns) - 1);
    const auto bytes = [&](double lines, int operand) {
      return lines * depth * static_cast<double>(itemsize(p.inputs[operand]->dtype));
    };
    return seconds + again * memory_seconds(m, 2 * bytes(columns, 1)) +
           across * down * memory_seconds(m, bytes(static_cast<double>(block.rows), 0));
  }
  // A block's lines go through scratch, which a library call packs them without.
  const double down = std::max(1.0, rows / static_cast<double>(most.rows)),
               across = std::max(1.0, columns / static_cast<double>(most.columns));
  const double packed = (rows * across + columns * down) * product_depth(p).cost() *
                        static_cast<double>(itemsize(p.dtype));
  return down * across * m.block + packed * m.memory[0].byte;
}

bool follows_product(const PlanGraph& g, std::int32_t node, std::int32_t operand,
                     std::int32_t product) {
  const Node &n = *g[node].node, &p = *g[product].node;
  if (p.axes.empty() && follows_rows(g, node, operand, p.extents)) return true;
  if (g[operand].node->elements != p.elements) return false;
  switch (n.kind) {
    case NodeKind::Elementwise:
    case NodeKind::Cast:
      return n.extents == g[operand].node->extents;
    case NodeKind::View:
      return permutes(g, node);
    default:
      return false;
  }
}

std::optional<Dims> axes_of_product(const PlanGraph& g, const std::vector<std::int32_t>& canon,
                                    std::int32_t node, std::int32_t product) {
  std::set<std::int32_t> seen;
  const auto walk = [&](const auto& self, std::int32_t i) -> std::optional<Dims> {
    const Node& n = *g[i].node;
    if (i == product) {
      Dims own(n.extents.size());
      for (int d = 0; d < own.size(); ++d) own[d] = d;
      return own;
    }
    if (i < product || g[i].leaf || !seen.insert(i).second) return std::nullopt;
    for (const std::int32_t in : g[i].in) {
      if (in < 0 || n.kind == NodeKind::Reduce || !follows_product(g, i, in, product) ||
          g[in].node->elements != g[product].node->elements)
        continue;
      std::optional<Dims> of = self(self, canon[in]);
      if (!of || n.kind != NodeKind::View) {
        if (of) return of;
        continue;
      }
      Dims moved(n.extents.size(), -1);
      for (int d = 0; d < of->size(); ++d)
        if (const std::int64_t to = g[i].map->from[d]; to >= 0)
          moved[static_cast<int>(to)] = (*of)[d];
      return moved;
    }
    return std::nullopt;
  };
  return walk(walk, canon[node]);
}

// The block of a chain is rounded as its additions are, as long as a product is one block of sums.
std::vector<SummedProducts> summed_products(const PlanGraph& g,
                                            const std::vector<std::int32_t>& canon,
                                            const std::vector<std::int32_t>& products,
                                            const Target& target) {
  const auto alone = [&](std::int32_t i) {
    return !g[i].leaf && g[i].uses == 1 && !g[i].wanted && !g[i].held && canon[i] == i;
  };
  const auto term = [&](std::int32_t i) {
    return alone(i) && std::find(products.begin(), products.end(), i) != products.end() &&
           product_depth(*g[i].node) <= target.depth_of_block() &&
           ir::fragment_sums(product_types(*g[i].node)) == g[i].node->dtype;
  };
  // Whether a value is made of these products.
  const std::int32_t first = *std::min_element(products.begin(), products.end());
  std::set<std::int32_t> seen;
  const auto follows = [&](const auto& self, std::int32_t i) -> bool {
    if (i < first || g[i].leaf || !seen.insert(i).second) return false;
    if (std::find(products.begin(), products.end(), i) != products.end()) return true;
    return std::any_of(std::begin(g[i].in), std::end(g[i].in),
                       [&](std::int32_t in) { return in >= 0 && self(self, canon[in]); });
  };
  const Node& p = *g[products[0]].node;
  std::vector<SummedProducts> chains;
  for (std::int32_t i = first + 1; i < g.size(); ++i) {
    const Node& n = *g[i].node;
    if (g[i].leaf || canon[i] != i || n.kind != NodeKind::Elementwise || n.fn != OpId::Add ||
        n.extents != p.extents || n.dtype != p.dtype)
      continue;
    for (const int k : {1, 0}) {
      const std::int32_t with = canon[g[i].in[k]], to = canon[g[i].in[1 - k]];
      if (!term(with)) continue;
      auto c = std::find_if(chains.begin(), chains.end(), [&](const SummedProducts& before) {
        return before.sum == to && alone(to);
      });
      if (c == chains.end()) {
        seen.clear();
        if (!term(to) && follows(follows, to)) break;
        c = chains.insert(chains.end(), term(to) ? SummedProducts{-1, -1, {to}, {}}
                                                 : SummedProducts{-1, to, {}, {}});
      }
      c->products.push_back(with);
      c->additions.push_back(i);
      c->sum = i;
      break;
    }
  }
  std::erase_if(chains, [](const SummedProducts& c) { return c.products.size() < 2; });
  return chains;
}

bool follows_rows(const PlanGraph& g, std::int32_t node, std::int32_t operand,
                  const Numbers& product) {
  const Node &n = *g[node].node, &v = *g[operand].node;
  const bool whole = v.extents == product;
  if (!whole && !rows_alone(v.extents, product)) return false;
  switch (n.kind) {
    case NodeKind::Elementwise:
    case NodeKind::Cast:
      return n.extents == v.extents || (n.extents == product && v.extents.size() == product.size());
    case NodeKind::Reduce:
      return whole && n.reduce != ReduceKind::Prod && n.axes.size() == 1 &&
             n.axes[0] == product.size() - 1 &&
             product.back() * static_cast<std::int64_t>(itemsize(v.dtype)) <= kWholeRow;
    case NodeKind::View:
      if (!g[node].map || n.dtype != v.dtype) return false;
      return whole ? n.extents == product && same_axes(*g[node].map, product.size())
                   : rows_alone(n.extents, product) && same_axes(*g[node].map, product.size() - 1);
    default:
      return false;
  }
}

}  // namespace plait::fusion
