// A product in tiles, by a region with what stands before and after it, or by a library call: the
// region spares the memory of what it computes in its blocks.
#include <algorithm>
#include <optional>
#include <vector>

#include "fusion/schedule/cost.hpp"
#include "fusion/schedule/product_region.hpp"
#include "fusion/schedule/products.hpp"
#include "rules.hpp"
#include "tracer/contraction.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

// Bytes that a region does not move, of each product that one could compute; empty without any.
std::vector<double> spared(const Candidate& c) {
  const PlanGraph& g = c.problem().graph;
  const std::vector<std::int32_t>& canon = c.problem().canon;
  std::vector<double> bytes;
  const auto read_by = [&](std::int32_t p, std::int32_t reader) {
    if (!in_blocks(c, reader, p, p)) return;
    bytes.resize(g.nodes.size());
    // Stored and loaded; what has to be in memory is only loaded.
    bytes[p] = bytes_of(*g[p].node) * (c.is_root(p) ? 1 : 2);
  };
  for (std::int32_t i = 0; i < g.size(); ++i)
    for (const std::int32_t in : g[i].in)
      if (in >= 0 && !g[i].leaf && c.multiplies(canon[in])) read_by(canon[in], i);
  return bytes;
}

class MultiplyInRegions final : public Rule {
 public:
  void begin(const Candidate& c, Offers& o) const override {
    const Problem& p = c.problem();
    for (std::int32_t i = 0; i < p.graph.size(); ++i)
      if (c.at(i).with < 0 && (fits_tiles(p.graph, i, p.target) || computes_columns(c, i)))
        o.begin_with({Edit::Multiply, i, "in blocks, with what reads it"});
  }

  void revise(const Candidate& c, Offers& o) const override {
    const PlanGraph& g = c.problem().graph;
    const std::vector<double> after = spared(c);
    for (std::int32_t p = 0; p < g.size(); ++p) {
      if (!c.multiplies(p) || c.attention(p)) continue;
      double bytes = after.empty() ? 0 : after[p];
      // Filled, written to, and read instead of what is written.
      bytes += 3 * static_cast<double>(packed_bytes(c, p));
      // Libraries of devices multiply matrices: several axes are copied to be one.
      const bool copied = !c.problem().target.lanes && !g[p].node->axes.empty();
      if (copied || c.read_mode(g[p].in[1]).kind == ReadMode::Window)
        bytes += 2 * bytes_of(*g[g[p].in[1]].node);
      if (copied || computes_rows(c, p)) bytes += 2 * bytes_of(*g[g[p].in[0]].node);
      const std::optional<double> columns = computes_columns(c, p);
      if (columns) bytes += 2 * bytes_of(*g[g[p].in[1]].node);
      offer_call(c, p, bytes, columns.value_or(0), o);
    }
  }

 private:
  static void offer_call(const Candidate& c, std::int32_t p, double spared_bytes, double computing,
                         Offers& o) {
    const PlanGraph& g = c.problem().graph;
    const Machine& m = *c.problem().target.machine;
    const Node& n = *g[p].node;
    const int across = product_axes(n).columns;
    const double columns = elements_of(Numbers(n.extents.end() - across, n.extents.end())),
                 depth = product_depth(n).cost();
    const double rows = n.elements.cost() / columns;
    const bool host = c.problem().target.lanes;
    const auto seconds = [&](ProductImpl by) {
      return product_seconds(m, by, product_types(n), rows, columns, depth);
    };
    const double tiles = seconds(n.axes.empty() ? ProductImpl::Tiles : ProductImpl::Axes);
    // The host multiplies what a BLAS does not take, or not faster, by tiles.
    double library = host && !n.axes.empty() ? tiles : seconds(ProductImpl::Blas);
    if (host) library = std::min(library, tiles);
    if (host && by_own_transpose(g, c.problem().canon, p)) library /= 2;
    // What stands around it is a step of its own then.
    const double launch = spared_bytes > 0 ? m.operation : 0;
    o.make({{{Edit::Call, p, "computed by a library call"}},
            tiles + tiling_seconds(c.problem().target, g, p) + computing,
            library + memory_seconds(m, spared_bytes) + launch,
            std::min(tiles, library)});
  }
};

}  // namespace

const Rule& multiply_in_regions() {
  static const MultiplyInRegions rule;
  return rule;
}

}  // namespace plait::fusion
