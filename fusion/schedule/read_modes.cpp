#include "read_modes.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "cost.hpp"
#include "fusion/graph/walk.hpp"
#include "fusion/graph/written_parts.hpp"
#include "product_region.hpp"
#include "products.hpp"
#include "tracer/contraction.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

using Modes = std::vector<ReadMode>;
using Packings = std::set<std::pair<std::int32_t, int>>;  // products, and which operand of each

// How often a line of an operand is packed: columns for every block of rows; rows once, or, of
// several axes, for every block of columns.
double times_packed(const PlanGraph& g, std::int32_t product, int operand,
                    const ProductBlocks& most) {
  const Node& p = *g[product].node;
  const tracer::ProductAxes axes = product_axes(p);
  const auto blocks = [&](int first, int count, std::int64_t size) {
    const std::int64_t lines =
        element_count(Numbers(p.extents.begin() + first, p.extents.begin() + first + count))
            .estimate();
    const std::int64_t packed = (lines + size - 1) / size;
    return static_cast<double>(packed);
  };
  if (operand == 0)
    return p.axes.empty() ? 1 : blocks(axes.batch + axes.rows, axes.columns, most.columns);
  const std::int64_t rows = p.axes.empty() ? tile_shape(g, product, false, most).rows : most.rows;
  return blocks(axes.batch, axes.rows, rows);
}

// Whether it is a copy that has matrices several times, as keys have that groups of queries share.
bool repeats_matrices(const PlanGraph& g, std::int32_t view) {
  if (!unfolded_axes(g, view)) return false;
  const Node& shown = *g[g[g[view].in[0]].in[0]].node;
  bool repeats = false;
  for (int d = 0; d < shown.extents.size(); ++d)
    repeats |= shown.extents[d] != 1 && shown.byte_strides[d] == 0;
  if (shown.kind != NodeKind::View || !repeats) return false;
  const PlanIndexMap& m = *g[view].index;
  for (const std::int64_t d : {m.axis.back(), m.axis.end()[-2]})
    if (d >= 0 && m.wider[d] >= 0) return false;
  return true;
}

template <class Kind>
bool read_in_loops(const Candidate& c, std::int32_t node, Kind&& kind) {
  const PlanGraph& g = c.problem().graph;
  const std::vector<std::int32_t>& by = c.problem().readers()[node];
  return !by.empty() && std::all_of(by.begin(), by.end(), [&](std::int32_t p) {
    const PlanNode& r = g[p];
    switch (r.node->kind) {
      case NodeKind::Elementwise:
      case NodeKind::Cast:
      case NodeKind::Reduce:
        return !c.direct(p);
      case NodeKind::View:
        return !r.wanted && !r.held && read_in_loops(c, p, kind) &&
               (r.steps() || (r.index && g[node].node->kind != NodeKind::Update));
      case NodeKind::Update:
        // To pack parts of parts for each of many windows costs more.
        return r.in[0] != node && r.in[2] < 0 && kind(p) != ReadMode::Packed;
      default:
        return false;
    }
  });
}

class Finder {
 public:
  explicit Finder(const Candidate& c)
      : c_(c), problem_(c.problem()), g_(problem_.graph), canon_(problem_.canon) {}

  Modes run() {
    bool products = false, parts = false;
    for (std::int32_t i = 0; i < g_.size(); ++i) {
      products |= c_.multiplies(i);
      parts |= g_[i].part;
    }
    if (!products && !parts) return {};
    modes_.resize(g_.nodes.size());
    if (products) find_windows();
    if (products && parts) find_packed();
    if (parts) find_padded();
    return std::move(modes_);
  }

 private:
  bool is(std::int32_t node, ReadMode::Kind kind) const { return modes_[node].kind == kind; }

  void find_windows() {
    for (std::int32_t p = 0; p < g_.size(); ++p) {
      if (!c_.multiplies(p)) continue;
      if (const Attention* const a = c_.attention(p)) {
        for (const std::int32_t v : {g_[a->scores].in[0], g_[a->scores].in[1], a->values(g_, p)})
          set_window(v, repeats_matrices(g_, v));
        continue;
      }
      if (computes_columns(c_, p)) split_axes(g_[p].in[1]);
      for (const int k : {0, 1}) {
        const std::int32_t v = g_[p].in[k];
        if (!unfolded_axes(g_, v) || stores_copy(g_[v].in[0])) continue;
        const double elements = g_[v].node->elements.cost();
        set_window(v, !recompute_cost(*problem_.target.machine, elements, 1,
                                      elements * times_packed(g_, p, k, problem_.target.blocks))
                           .store());
      }
    }
  }

  void set_window(std::int32_t view, bool window) {
    if (window || is(view, ReadMode::Window))
      modes_[view].kind = window ? ReadMode::Window : ReadMode::Whole;
  }

  // Whether a copy is all that is stored of a product, whose region stores it.
  bool stores_copy(std::int32_t copy) const {
    const std::int32_t view = g_[copy].in[0], of = g_[view].in[0];
    return of >= 0 && g_[view].node->kind != NodeKind::Update && c_.multiplies(canon_[of]) &&
           g_[of].node->axes.empty() && g_[of].uses == 1 && in_blocks(c_, view, of, canon_[of]);
  }

  void split_axes(std::int32_t value) {
    walk_inputs(
        g_, canon_, {value},
        [&](std::int32_t i) {
          if (is(i, ReadMode::Whole) && merges_axes(g_[i])) modes_[i].kind = ReadMode::SplitAxes;
          return !g_[i].leaf && g_[i].uses == 1 && !g_[i].wanted && !g_[i].held;
        },
        [](std::int32_t) { return false; });
  }

  void find_packed() {
    for (std::int32_t i = g_.size(); i-- > 0;) {
      if (!g_[i].part) continue;
      if (const std::int32_t by = written_over(i); by >= 0) {
        if (is(by, ReadMode::Packed) && g_[by].in[1] != i) modes_[i].kind = ReadMode::Packed;
        continue;
      }
      Packings into;
      if (packed_only(i, i, false, into) && packs_again(i, into)) modes_[i].kind = ReadMode::Packed;
      modes_[i].products = static_cast<int>(into.size());
    }
  }

  // The write to its storage that alone reads it; -1: none.
  std::int32_t written_over(std::int32_t node) const {
    const std::vector<std::int32_t>& by = problem_.readers()[node];
    const bool over =
        by.size() == 1 && g_[by[0]].node->kind == NodeKind::Update && g_[by[0]].in[0] == node;
    return over ? by[0] : -1;
  }

  // Which packings read the node; false if anything else does. `computed`: on the way from
  // `written`.
  bool packed_only(std::int32_t node, std::int32_t written, bool computed, Packings& into) const {
    const auto reads = [&](std::int32_t p) {
      const PlanNode& r = g_[p];
      const Node& n = *r.node;
      switch (n.kind) {
        case NodeKind::MatMul:
          for (const int k : {0, 1})
            if (r.in[k] == node && !(into.insert({p, k}).second && packs(p, k, written)))
              return false;
          return true;
        case NodeKind::Elementwise:
        case NodeKind::Cast:
          return r.uses == 1 && !r.wanted && !r.held && n.extents == g_[node].node->extents &&
                 packed_only(p, written, true, into);
        case NodeKind::View:
          return (r.uses == 1 || !computed) && !r.wanted && !r.held &&
                 (r.steps() || is(p, ReadMode::Window) || is(p, ReadMode::SplitAxes) ||
                  interleaved_axes(g_, p)) &&
                 packed_only(p, written, computed, into);
        default:
          return false;
      }
    };
    const std::vector<std::int32_t>& by = problem_.readers()[node];
    return !by.empty() && std::all_of(by.begin(), by.end(), reads);
  }

  // Whether the product computes that operand, which is made of the write, where it is packed.
  bool packs(std::int32_t product, int operand, std::int32_t written) const {
    const PlanNode& p = g_[product];
    const std::int32_t node = p.in[operand];
    if (is(node, ReadMode::Window)) return g_[g_[written].in[0]].node->kind == NodeKind::Fill;
    // Windows overlap: what they show is not computed again for each of them.
    if (!p.node->axes.empty())
      return c_.multiplies(product) &&
             (node == written || (g_[node].steps() && g_[node].in[0] == written));
    const std::int32_t of = c_.attention_of(product);
    const Attention* const a = c_.attention(of < 0 ? product : of);
    const bool scores = a && a->scores == product;
    if (operand == (scores ? a->queries : a ? a->side : 0)) return c_.multiplies(product) || scores;
    return a ? computes_keys(c_, *a, node) : computes_columns(c_, product).has_value();
  }

  // Whether several products compute what they pack, each again, although to store it is less.
  bool packs_again(std::int32_t written, const Packings& into) const {
    if (into.size() < 2) return true;
    for (const auto& [product, k] : into) {
      const PlanNode& p = g_[product];
      if (p.node->kind != NodeKind::MatMul || !p.node->axes.empty() ||
          is(p.in[k], ReadMode::Window))
        continue;
      const std::optional<double> cost = computing_cost(c_, canon_[p.in[k]]);
      const auto elements = g_[written].node->elements.cost();
      if (!cost || recompute_cost(*problem_.target.machine, elements, *cost,
                                  elements * static_cast<double>(into.size()))
                       .store())
        return false;
    }
    return true;
  }

  // Lanes take loops inside the grid that are cut; threads of a device choose what they read.
  void find_padded() {
    if (c_.any(FoldOrder::Running) || c_.any(FoldOrder::ByIndex)) return;
    const auto kind = [&](std::int32_t i) { return modes_[i].kind; };
    for (std::int32_t i = g_.size(); i-- > 0;) {
      if (is(i, ReadMode::Packed) || !g_[i].part || element_count(g_[i].node->view_extents) == 0)
        continue;
      const std::int32_t over = written_over(i);
      if (over >= 0 ? is(over, ReadMode::Padded) && g_[over].in[1] != i
                    : read_in_loops(c_, i, kind))
        modes_[i].kind = ReadMode::Padded;
    }
  }

  const Candidate& c_;
  const Problem& problem_;
  const PlanGraph& g_;
  const std::vector<std::int32_t>& canon_;
  Modes modes_;
};

}  // namespace

std::vector<ReadMode> find_read_modes(const Candidate& c) { return Finder(c).run(); }

bool read_in_loops(const Candidate& c, std::int32_t node) {
  return read_in_loops(c, node, [&](std::int32_t i) { return c.read_mode(i).kind; });
}

}  // namespace plait::fusion
