// Products that several regions would compute, or one region more than its blocks fit the cache:
// they are in memory, or library calls.
#include <algorithm>
#include <set>

#include "fusion/schedule/cost.hpp"
#include "fusion/schedule/product_region.hpp"
#include "fusion/schedule/products.hpp"
#include "rules.hpp"
#include "tracer/contraction.hpp"

namespace plait::fusion {

namespace {

// Products that a region has blocks of at a time: they share the cache.
constexpr std::size_t kMostBlocks = 4;

// Whether a region may have blocks of both, row by row and column by column.
bool share_blocks(const Candidate& c, std::int32_t a, std::int32_t b) {
  const PlanGraph& g = c.problem().graph;
  const Node &p = *g[a].node, &q = *g[b].node;
  const tracer::ProductAxes of_p = product_axes(p), of_q = product_axes(q);
  if (c.attention(a) || c.attention(b)) return c.attention(a) && c.attention(a)->multiplies(b);
  const auto sums = [](const Node& n) { return ir::fragment_sums(product_types(n)); };
  return p.dtype == q.dtype && sums(p) == sums(q) && p.extents == q.extents &&
         p.axes.empty() == q.axes.empty() && of_p.batch == of_q.batch && of_p.rows == of_q.rows;
}

class KeepProducts final : public Rule {
 public:
  void revise_regions(const Candidate& c, std::span<const Step> steps, Offers& o) const override {
    std::set<std::int32_t> computed;
    for (const Step& s : steps) {
      if (s.region.product < 0) continue;
      std::size_t blocks = 1 + s.region.beside.size();
      if (blocks > kMostBlocks)
        for (const SummedProducts& sums : summed_products(c.problem().graph, c.problem().canon,
                                                          s.region.products(), c.problem().target))
          blocks -= sums.products.size() - 1;
      for (const std::int32_t p : s.region.beside) {
        if (share_blocks(c, s.region.product, p) && blocks <= kMostBlocks) continue;
        --blocks;
        if (c.attention(p) || computes_rows(c, p) || packed_bytes(c, p) > 0)
          o.require({Edit::Store, p, "read beside another product"});
        else
          o.require({Edit::Call, p, "computed by a library call"});
      }
      for (const std::int32_t p : s.region.products())
        if (!computed.insert(p).second) store(c, p, o);
    }
  }

 private:
  // It is stored once, or another region multiplies again, which no product that is worth a region
  // is worth. Folds of its rows are stored beside it: another region would need the product.
  static void store(const Candidate& c, std::int32_t product, Offers& o) {
    constexpr const char* why = "read by several regions";
    const PlanGraph& g = c.problem().graph;
    if (!c.is_root(product))
      o.make_exact({Edit::Store, product, why}, g.unasked([&] {
        const Machine& m = *c.problem().target.machine;
        const Node& n = *g[product].node;
        const double columns = std::max(1.0, n.extents.back().cost());
        const ProductImpl by = c.attention(product) ? ProductImpl::Attention
                               : n.axes.empty()     ? ProductImpl::Tiles
                                                    : ProductImpl::Axes;
        return Costs{product_seconds(m, by, product_types(n), n.elements.cost() / columns, columns,
                                     product_depth(n).cost()),
                     memory_seconds(m, 2 * bytes_of(n))};
      }));
    if (const Attention* const a = c.attention(product))
      for (const Attention::Fold& f : a->folds) o.require({Edit::Store, f.node, why});
  }
};

}  // namespace

const Rule& keep_products() {
  static const KeepProducts rule;
  return rule;
}

}  // namespace plait::fusion
