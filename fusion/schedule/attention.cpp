#include "attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fusion/graph/walk.hpp"
#include "product_region.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

// Of rows that a block has whole.
constexpr std::int64_t kWidest = 512;

// A value of the scores' shape, by how it depends on row values. Plain: not at all. Shifted: a
// plain value less row values, the first of which grows with a maximum; the rest leaves the
// exponential as factors. Homogeneous: a plain value times a function of row values.
struct BlockValue {
  enum Kind : std::uint8_t { Other, Plain, Shifted, Homogeneous } kind = Other;
  Attention::Shift shift;
  std::vector<std::int32_t> rest;
  Attention::Scaling scaling;
};
using Factor = Attention::Factor;

class Analysis {
 public:
  Analysis(const PlanGraph& g, const std::vector<std::int32_t>& canon, std::int32_t product,
           int side, const Scores& scores)
      : g_(g), canon_(canon), shape_(g[scores.read].node->extents) {
    a_.product = product;
    a_.side = side;
    a_.scores = scores.product;
    a_.scored = scores.read;
    a_.weights = shown(weighing());
  }

  std::optional<Attention> run() {
    if (!find_axes(g_, a_)) return std::nullopt;
    kept_ = shape_;
    kept_[a_.axis] = 1;
    const BlockValue& w = value(a_.weights);
    if (!is_factor(w) || !find_folds() || !all_.count(a_.scored)) return std::nullopt;
    a_.scaling = w.scaling;
    for (const Factor& f : a_.scaling.deferred) a_.divided |= has_sum(f.row);
    if (!a_.moves_axes(g_)) find_uniform_blocks();
    find_replacement();
    all_.insert({a_.scores, weighing()});
    a_.inside.assign(all_.begin(), all_.end());
    find_products();
    if (!nobody_else_reads()) return std::nullopt;
    return std::move(a_);
  }

 private:
  const Node& node(std::int32_t i) const { return *g_[i].node; }
  std::int32_t input(std::int32_t i, int k) const {
    const std::int32_t in = g_[i].in[k];
    return in < 0 ? in : canon_[in];
  }
  bool elementwise(std::int32_t i) const {
    return !g_[i].leaf && node(i).kind == NodeKind::Elementwise;
  }
  bool elementwise(std::int32_t i, OpId fn) const { return elementwise(i) && node(i).fn == fn; }
  bool is_exponential(std::int32_t i) const {
    return elementwise(i, OpId::Exp) || elementwise(i, OpId::Exp2);
  }
  std::int32_t shown(std::int32_t i) const {
    return !g_[i].leaf && node(i).kind == NodeKind::View ? input(i, 0) : i;
  }
  std::int32_t weighing() const { return canon_[a_.weighing(g_)]; }

  // The answer of a question about a node, which is asked once.
  template <class T, class Ask>
  static const T& once(std::map<std::int32_t, T>& known, std::int32_t i, Ask&& ask) {
    if (const auto at = known.find(i); at != known.end()) return at->second;
    T answer = ask();
    return known[i] = std::move(answer);
  }
  template <class Ask>
  bool all_inputs(std::int32_t i, Ask&& ask) const {
    for (int k = 0; k < 3; ++k)
      if (input(i, k) >= 0 && !ask(input(i, k))) return false;
    return true;
  }

  // Whether it is that number, 0 or infinite. It is relied on.
  bool is_number(std::int32_t i, double x) {
    while (!g_[i].leaf && (node(i).kind == NodeKind::View || node(i).kind == NodeKind::Fill))
      i = input(i, 0);
    if (node(i).kind != NodeKind::Scalar) return false;
    const std::int64_t bits = g_.field({i, Field::Value});
    if (x == 0 ? bits != 0
               : std::abs(plait::cast(node(i).recorded->scalar, DType::Float64).as<double>()) != x)
      return false;
    a_.numbers.emplace_back(i, bits);
    return true;
  }
  bool zero(std::int32_t i) { return is_number(i, 0); }

  // Whether the value follows from the scores.
  bool depends(std::int32_t i) {
    if (i == a_.scored) return true;
    if (i < a_.scored || g_[i].leaf || node(i).kind == NodeKind::MatMul) return false;
    return once(depends_, i,
                [&] { return !all_inputs(i, [&](std::int32_t in) { return !depends(in); }); });
  }
  bool number(std::int32_t i) { return !depends(i) && node(i).elements == 1; }
  // Whether a block of the value follows from the same block of the scores, without a fold.
  bool plain(std::int32_t i) {
    if (i == a_.scored || !depends(i)) return true;
    return once(plain_, i, [&] {
      const Node& n = node(i);
      return (n.kind == NodeKind::Elementwise || n.kind == NodeKind::Cast) && n.extents == shape_ &&
             all_inputs(i, [&](std::int32_t in) { return plain(in); });
    });
  }

  // Whether it is a row value: a fold along the rows, or what follows from such row by row.
  bool row(std::int32_t i) {
    if (!depends(i) || i == a_.scored) return false;
    return once(row_, i, [&] {
      const Node& n = node(i);
      if (n.extents == shape_ ||
          (n.extents != kept_ && n.extents != without_axis(n.extents.size())))
        return false;
      if (n.kind == NodeKind::Reduce) return n.axes.size() == 1 && n.axes[0] == a_.axis && folds(i);
      if (n.kind == NodeKind::View)
        return row(input(i, 0)) && g_[i].map && n.dtype == node(input(i, 0)).dtype;
      return (n.kind == NodeKind::Elementwise || n.kind == NodeKind::Cast) &&
             all_inputs(i, [&](std::int32_t in) { return !depends(in) || row(in); });
    });
  }
  // The rows' shape without the axis of the keys, if it has so many axes.
  Numbers without_axis(int axes) const {
    Numbers d = kept_;
    if (axes < d.size()) d.erase(a_.axis);
    return d;
  }
  // Whether it is one for each row as it is broadcast between the products.
  bool of_rows(std::int32_t i) {
    if (i < 0 || !row(i)) return false;
    Numbers d = node(i).extents;
    while (d.size() < kept_.size()) d.insert(0, 1);
    return d == kept_;
  }
  bool folds(std::int32_t i) {
    const Node& n = node(i);
    const std::int32_t of = input(i, 0), mask = input(i, 1);
    if (node(of).extents != shape_ || node(of).dtype != n.dtype || (mask >= 0 && !plain(mask)) ||
        !is_float(n.dtype))
      return false;
    if (n.reduce == ReduceKind::Sum) return is_factor(value(of));
    return plain(of) && (n.reduce == ReduceKind::Max || n.reduce == ReduceKind::Min);
  }
  static bool is_factor(const BlockValue& v) {
    return v.kind == BlockValue::Plain || v.kind == BlockValue::Homogeneous;
  }
  std::int32_t without_views(std::int32_t i) const {
    while (!g_[i].leaf && node(i).kind == NodeKind::View) i = input(i, 0);
    return i;
  }
  // The maximum that a row value grows with, and is not below; -1: there is none.
  std::int32_t grows_with(std::int32_t i) {
    i = without_views(i);
    if (!row(i)) return -1;
    if (node(i).kind == NodeKind::Reduce) return node(i).reduce == ReduceKind::Max ? i : -1;
    if (!elementwise(i, OpId::Maximum)) return -1;
    const int other = depends(input(i, 0)) ? 1 : 0;
    return depends(input(i, other)) ? -1 : grows_with(input(i, 1 - other));
  }
  bool has_sum(std::int32_t i) {
    if (!row(i)) return false;
    if (node(i).kind == NodeKind::Reduce) return node(i).reduce == ReduceKind::Sum;
    return !all_inputs(i, [&](std::int32_t in) { return !has_sum(in); });
  }

  const BlockValue& value(std::int32_t i) {
    return once(values_, i, [&] { return value_of(i); });
  }
  BlockValue value_of(std::int32_t i) {
    if (plain(i)) return {BlockValue::Plain, {}, {}, {}};
    if (g_[i].leaf || node(i).extents != shape_) return {};
    if (node(i).kind == NodeKind::Cast) return cast(i);
    if (node(i).kind != NodeKind::Elementwise) return {};
    const std::int32_t a = input(i, 0), b = input(i, 1);
    switch (node(i).fn) {
      case OpId::Multiply:
        if (of_rows(b)) return deferred(i, 0, {OpId::Multiply, without_views(b)});
        if (of_rows(a)) return deferred(i, 1, {OpId::Multiply, without_views(a)});
        if (number(b) && value(a).kind == BlockValue::Shifted) return scaled(a, b, OpId::Multiply);
        if (number(a) && value(b).kind == BlockValue::Shifted) return scaled(b, a, OpId::Multiply);
        return times(value(a), value(b));
      case OpId::Divide:
        if (of_rows(b)) return deferred(i, 0, {OpId::Divide, without_views(b)});
        if (number(b) && value(a).kind == BlockValue::Shifted) return scaled(a, b, OpId::Divide);
        return plain(b) && value(a).kind == BlockValue::Homogeneous ? value(a) : BlockValue{};
      case OpId::Subtract:
        if (of_rows(b)) return less(i, value(a), b);
        [[fallthrough]];
      case OpId::Add:
        if (value(a).kind == BlockValue::Shifted && plain(b)) return value(a);
        return node(i).fn == OpId::Add && plain(a) && value(b).kind == BlockValue::Shifted
                   ? value(b)
                   : BlockValue{};
      case OpId::Exp:
      case OpId::Exp2:
        return exponential(node(i).fn, value(a));
      case OpId::Where:
        return chosen(i);
      default:
        return {};
    }
  }

  // A narrower type has weights of at most one as it has shares of them. A difference from a
  // maximum that is rounded before it is wider is no sum of two.
  BlockValue cast(std::int32_t i) {
    const std::int32_t in = input(i, 0);
    const BlockValue& v = value(in);
    const auto of = itemsize(node(in).dtype), to = itemsize(node(i).dtype);
    const bool floats = is_float(node(i).dtype) && is_float(node(in).dtype);
    const bool keeps = v.kind == BlockValue::Shifted ? to == of : to >= of || at_most_one(in);
    return floats && keeps ? v : BlockValue{};
  }
  // Of a homogeneous value, without what is deferred.
  bool at_most_one(std::int32_t i) {
    i = undivided(i);
    if (!is_exponential(i)) return false;
    const std::int32_t d = input(i, 0);
    return elementwise(d, OpId::Subtract) && value(d).kind == BlockValue::Shifted &&
           node(value(d).shift.row).kind == NodeKind::Reduce &&
           input(value(d).shift.row, 0) == input(d, 0) && input(value(d).shift.row, 1) < 0;
  }
  std::int32_t undivided(std::int32_t i) const {
    for (auto at = a_.undivided.find(i); at != a_.undivided.end(); at = a_.undivided.find(i))
      i = input(i, at->second);
    return i;
  }

  BlockValue deferred(std::int32_t i, int k, const Factor& f) {
    if (!is_factor(value(input(i, k)))) return {};
    a_.undivided[i] = k;
    BlockValue v{BlockValue::Homogeneous, {}, {}, value(input(i, k)).scaling};
    v.scaling.deferred.push_back(f);
    return v;
  }
  BlockValue times(const BlockValue& a, const BlockValue& b) {
    if (!is_factor(a) || !is_factor(b)) return {};
    BlockValue v{BlockValue::Homogeneous, {}, {}, a.scaling};
    const auto& [shifts, deferred] = b.scaling;
    v.scaling.shifts.insert(v.scaling.shifts.end(), shifts.begin(), shifts.end());
    v.scaling.deferred.insert(v.scaling.deferred.end(), deferred.begin(), deferred.end());
    return v;
  }
  BlockValue scaled(std::int32_t shifted, std::int32_t by, OpId fn) {
    BlockValue v = value(shifted);
    if (v.shift.scale >= 0 || !v.rest.empty() || node(by).dtype != node(v.shift.row).dtype)
      return {};
    v.shift.scale = by;
    v.shift.scaled_by = fn;
    return v;
  }
  // Of m + log(sum) the maximum is subtracted block by block; exp(-log(sum)) is a factor.
  BlockValue less(std::int32_t i, const BlockValue& of, std::int32_t subtracted) {
    if (of.kind == BlockValue::Shifted && of.shift.scale < 0) {
      a_.undivided[i] = 0;
      BlockValue v = of;
      v.rest.push_back(subtracted);
      return v;
    }
    if (of.kind != BlockValue::Plain) return {};
    BlockValue v{BlockValue::Shifted, {}, {}, {}};
    std::int32_t r = without_views(subtracted);
    while (grows_with(r) < 0) {
      if (!elementwise(r, OpId::Add)) return {};
      const int k = grows_with(input(r, 0)) >= 0 || has_sum(input(r, 1)) ? 0 : 1;
      if (!row(input(r, 1 - k)) || !row(input(r, k))) return {};
      v.rest.push_back(input(r, 1 - k));
      r = without_views(input(r, k));
    }
    v.shift.row = r;
    v.shift.maximum = grows_with(r);
    shifts_[subtracted] = r;
    return v;
  }
  BlockValue exponential(OpId fn, const BlockValue& of) {
    if (of.kind != BlockValue::Shifted) return {};
    Attention::Shift shift = of.shift;
    shift.exponential = fn;
    auto at = std::find(a_.shifts.begin(), a_.shifts.end(), shift);
    if (at == a_.shifts.end()) at = a_.shifts.insert(at, shift);
    BlockValue v{BlockValue::Homogeneous, {}, {}, {{static_cast<int>(at - a_.shifts.begin())}, {}}};
    for (const std::int32_t r : of.rest) v.scaling.deferred.push_back({fn, without_views(r)});
    return v;
  }

  BlockValue chosen(std::int32_t i) {
    const std::int32_t c = input(i, 0), a = input(i, 1), b = input(i, 2);
    if (of_rows(c)) {
      if (zero(b)) return deferred(i, 1, {OpId::Where, without_views(c)});
      return zero(a) ? deferred(i, 2, {OpId::Where, without_views(c), true}) : BlockValue{};
    }
    if (elementwise(c))
      if (const std::int32_t sum = divisor_of_share(input(c, 0)); sum >= 0) {
        const OpId fn = node(c).fn;
        if (fn == OpId::Isnan && zero(a)) return deferred(i, 2, {OpId::Isfinite, sum});
        // None is infinite.
        const bool infinite =
            fn == OpId::Equal && is_number(input(c, 1), std::numeric_limits<double>::infinity());
        if (value(b).kind == BlockValue::Homogeneous && (infinite || fn == OpId::Isinf)) {
          a_.undivided[i] = 2;
          return value(b);
        }
      }
    const BlockValue &v = value(a), &w = value(b);
    if (!plain(c)) return {};
    if (v.kind == w.kind && v.shift == w.shift && v.rest == w.rest && v.scaling == w.scaling)
      return v;
    if (v.kind == BlockValue::Homogeneous && zero(b)) return masked(v, {OpId::LogicalOr, c});
    return w.kind == BlockValue::Homogeneous && zero(a) ? masked(w, {OpId::LogicalOr, c, true})
                                                        : BlockValue{};
  }
  // Of a row that a mask hides whole, sums are 0, whatever its row values are.
  BlockValue masked(BlockValue v, const Factor& f) {
    if (std::find(a_.masks.begin(), a_.masks.end(), f) == a_.masks.end()) a_.masks.push_back(f);
    v.scaling.deferred.push_back(f);
    return v;
  }
  // What weights that are not negative are divided by, if that is their own sum: the shares are at
  // most 1. They are NaN in rows whose sum is 0, as then are all of the weights, or NaN; where the
  // sum is infinite, finite weights give 0 and infinite ones NaN. So shares with 0 for NaN are 0 in
  // all of a row whose sum is 0 or not finite, and the quotients in all of any other row.
  std::int32_t divisor_of_share(std::int32_t i) {
    if (i < 0 || !elementwise(i, OpId::Divide) || !of_rows(input(i, 1))) return -1;
    const std::int32_t sum = without_views(input(i, 1)), e = input(i, 0);
    const std::int32_t weight = elementwise(e, OpId::Where) && zero(input(e, 2)) ? input(e, 1) : e;
    return node(sum).kind == NodeKind::Reduce && node(sum).reduce == ReduceKind::Sum &&
                   input(sum, 0) == e && input(sum, 1) < 0 && is_exponential(weight)
               ? sum
               : -1;
  }

  // Of all that stands between the products, and of what is folded beside them: in the order of
  // their nodes, so that each follows those that its factors are of.
  bool find_folds() {
    gather(a_.weights, all_);
    for (std::int32_t i = a_.scored + 1; i < g_.size(); ++i)
      if (canon_[i] == i && !g_[i].leaf && node(i).kind == NodeKind::Reduce &&
          all_.count(input(i, 0)) && row(i))
        gather(i, all_);
    bool sums = false;
    for (const std::int32_t i : all_) {
      if (!row(i)) continue;
      a_.rows.insert(i);
      if (node(i).kind != NodeKind::Reduce) continue;
      a_.folds.push_back({i, false, value(input(i, 0)).scaling});
      sums |= node(i).reduce == ReduceKind::Sum;
    }
    for (std::size_t s = 0; s < a_.shifts.size(); ++s) {
      Attention::Shift& shift = a_.shifts[s];
      shift.maximum = a_.fold(shift.maximum);
      a_.folds[shift.maximum].first = true;
      for (const auto& [i, r] : shifts_)
        if (r == shift.row) a_.shifted_by.try_emplace(i, static_cast<int>(s));
    }
    return sums;
  }
  void gather(std::int32_t i, std::set<std::int32_t>& into) {
    if (!depends(i) || !into.insert(i).second || i == a_.scored) return;
    for (int k = 0; k < 3; ++k)
      if (input(i, k) >= 0) gather(input(i, k), into);
  }

  // A mask whose choices make all of a row one number, in the weights and in all that is folded.
  void find_uniform_blocks() {
    bool summed_alone = true;
    for (const Attention::Fold& f : a_.folds)
      summed_alone &= f.first || undivided(input(f.node, 0)) == undivided(a_.weights);
    const auto first = [](const Attention::Fold& f) { return f.first; };
    a_.peaks_at_one = summed_alone && at_most_one(a_.weights) &&
                      std::count_if(a_.folds.begin(), a_.folds.end(), first) == 1;
    for (const std::int32_t i : all_) {
      if (!elementwise(i, OpId::Where) || depends(input(i, 0)) || node(i).extents != shape_)
        continue;
      a_.mask = input(i, 0);
      a_.inverted = !depends(input(i, 1));
      uniform_.clear();
      bool all = uniform(a_.weights);
      for (const Attention::Fold& f : a_.folds) all &= uniform(input(f.node, 0));
      for (const Factor& f : a_.masks) all &= f.row == a_.mask && f.inverted == a_.inverted;
      if (all) return;
    }
    a_.mask = -1;
  }
  // Whether a value is one number in each row of a block that the mask hides.
  bool uniform(std::int32_t i) {
    if (!depends(i)) return node(i).elements == 1;
    if (row(i)) return of_rows(i);
    return once(uniform_, i, [&] {
      if (elementwise(i, OpId::Where) && input(i, 0) == a_.mask)
        return uniform(input(i, a_.inverted ? 1 : 2));
      return i != a_.scored && all_inputs(i, [&](std::int32_t in) { return uniform(in); });
    });
  }

  // What the first folds are of, if that alone is read by the rest.
  void find_replacement() {
    std::set<std::int32_t> compared, before;
    for (const Attention::Fold& f : a_.folds)
      if (f.first) compared.insert(input(f.node, 0));
    if (compared.size() != 1) return;
    const std::int32_t by = *compared.begin();
    if (by == a_.scored || node(by).dtype != node(a_.scores).dtype) return;
    gather(by, before);
    const auto reads = [&](std::int32_t in) { return in == by || !before.count(in); };
    if (std::all_of(all_.begin(), all_.end(),
                    [&](std::int32_t i) { return before.count(i) || all_inputs(i, reads); }))
      a_.replacement = by;
  }

  // Products of the same weights, whose columns are there before any of them, and where the graph
  // writes to memory, were.
  void find_products() {
    std::set<std::int32_t> behind = all_;
    const auto reads = [&](std::int32_t n) { return !g_[n].leaf; };
    const auto found = [&](std::int32_t n) { return behind.count(n) > 0; };
    for (std::int32_t i = 0; i < g_.size(); ++i) {
      if (canon_[i] != i || g_[i].leaf || node(i).kind != NodeKind::MatMul ||
          input(i, a_.side) != weighing() || node(i).extents != node(a_.product).extents ||
          node(i).dtype != node(a_.product).dtype || !node(i).axes.empty())
        continue;
      const std::int32_t values = without_views(a_.values(g_, i));
      const bool later = !a_.products.empty() && !g_[values].leaf && values > a_.products[0];
      if (later && (g_.writes() || walk_inputs(g_, canon_, {values}, reads, found))) continue;
      a_.products.push_back(i);
      behind.insert(i);
    }
    a_.product = a_.products[0];
  }

  // What would be in memory for others, there is no block of.
  bool nobody_else_reads() const {
    const auto inside = [&](std::int32_t i) {
      return all_.count(i) && (a_.moves_axes(g_) || a_.side == 1 || !a_.rows.count(i));
    };
    for (std::int32_t i = 0; i < g_.size(); ++i) {
      const std::int32_t c = canon_[i];
      if (inside(c) && g_[i].wanted) return false;
      if (g_[i].leaf || all_.count(c) || a_.multiplies(c)) continue;
      for (const std::int32_t in : g_[i].in)
        if (in >= 0 && inside(canon_[in])) return false;
    }
    return true;
  }

  const PlanGraph& g_;
  const std::vector<std::int32_t>& canon_;
  Attention a_;
  Numbers shape_, kept_;  // of block values, and of row values that are broadcast to them
  std::map<std::int32_t, bool> depends_, plain_, row_, uniform_;
  std::map<std::int32_t, BlockValue> values_;
  std::map<std::int32_t, std::int32_t> shifts_;  // what is subtracted, and of it what grows
  std::set<std::int32_t> all_;
};

}  // namespace

int Attention::fold(std::int32_t node) const {
  const auto at = std::ranges::find(folds, node, &Fold::node);
  return at == folds.end() ? -1 : static_cast<int>(at - folds.begin());
}

bool Attention::multiplies(std::int32_t node) const {
  return std::find(products.begin(), products.end(), node) != products.end();
}

std::optional<Attention> find_attention(const PlanGraph& g, const std::vector<std::int32_t>& canon,
                                        std::int32_t product, const Target& target) {
  const PlanNode& gn = g[product];
  if (gn.leaf || gn.node->kind != NodeKind::MatMul || target.product_depth == 0 ||
      !target.multiplies(product_types(*gn.node)) || !gn.node->axes.empty())
    return std::nullopt;
  for (const int side : {0, 1}) {
    for (const Scores& scores : products_before(g, canon, canon[gn.in[side]])) {
      if (gn.node->extents.end()[-1 - side] > kWidest) continue;
      if (g[scores.product].node->inputs[0]->extents.back() > kWidest) continue;
      std::optional<Attention> a = Analysis(g, canon, product, side, scores).run();
      if (!a) continue;
      a->blocks = target.blocks;
      return a;
    }
  }
  return std::nullopt;
}

}  // namespace plait::fusion
