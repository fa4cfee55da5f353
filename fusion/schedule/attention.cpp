#include "attention.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "product_region.hpp"

namespace plait::fusion {
using tracer::Node;
using tracer::NodeKind;

namespace {

// Between the two products; more is no attention, and looking for it costs.
constexpr std::size_t kMostNodes = 64;
// Of rows that a block has whole.
constexpr std::int64_t kWidest = 512;

class Finder {
 public:
  Finder(const Graph& g, const std::vector<std::int32_t>& canon, std::int32_t product)
      : g_(g), canon_(canon) {
    a_.product = product;
    a_.weights = canon[g[product].in[0]];
  }

  std::optional<Attention> run() {
    for (const std::int32_t s : products_before()) {
      a_.scores = s;
      shape_ = node(s).shape;
      if (match()) return a_;
      a_ = {.product = a_.product, .weights = a_.weights};
      depends_.clear();
      plain_.clear();
      tried_.clear();
    }
    return std::nullopt;
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

  // Products of the weights' shape that they are computed from.
  std::vector<std::int32_t> products_before() const {
    std::vector<std::int32_t> found, stack{a_.weights};
    std::set<std::int32_t> seen;
    while (!stack.empty()) {
      const std::int32_t i = stack.back();
      stack.pop_back();
      if (g_[i].leaf || !seen.insert(i).second) continue;
      if (seen.size() > kMostNodes) return {};
      const Node& n = node(i);
      if (n.kind == NodeKind::MatMul) {
        if (n.axes.empty() && n.shape == node(a_.weights).shape &&
            n.dtype == node(a_.product).dtype && product_class(n) != ProductClass::Small &&
            n.inputs[0]->shape.back() <= kWidest && n.shape.back() > kShort)
          found.push_back(i);
        continue;
      }
      for (int k = 0; k < 3; ++k)
        if (input(i, k) >= 0) stack.push_back(input(i, k));
    }
    return found;
  }

  bool match() {
    const Dims& out = node(a_.product).shape;
    if (out.size() != shape_.size() || !std::equal(out.begin(), out.end() - 1, shape_.begin()))
      return false;
    // The division first: below it stands what is summed.
    if (find_quotient(a_.weights)) {
      a_.summed = input(a_.quotient, a_.divided);
    } else {
      a_.summed = a_.weights;
      find_sum();
    }
    if (a_.sum < 0) return false;
    if (!falls_with_maximum(a_.summed) && !plain(a_.summed)) return false;
    if (a_.quotient >= 0 && !scales(a_.weights)) return false;
    find_exponential();
    return collect() && nobody_else_reads();
  }

  // Where the weights are the exponential alone, of the scores or their difference from the
  // maximum.
  void find_exponential() {
    if (!elementwise(a_.summed) || (a_.weights != a_.summed && a_.weights != a_.quotient)) return;
    // Zero where a mask says so.
    std::int32_t e = a_.summed, kept = -1;
    bool kept_inverted = false;
    if (node(e).fn == OpId::Where) {
      kept_inverted = zero(input(e, 1));
      if (!kept_inverted && !zero(input(e, 2))) return;
      kept = input(e, 0);
      e = input(e, kept_inverted ? 2 : 1);
      if (!elementwise(e)) return;
    }
    const OpId fn = node(e).fn;
    if (fn != OpId::Exp && fn != OpId::Exp2) return;
    std::int32_t i = input(e, 0);
    if (a_.maximum >= 0) {
      if (!elementwise(i) || node(i).fn != OpId::Subtract || input(i, 0) != a_.compared) return;
      a_.peaks_at_one = kept < 0;
      i = a_.compared;
    }
    if (!elementwise(i) || node(i).fn != OpId::Where || node(i).shape != shape_) return;
    a_.inverted = !depends(input(i, 1));
    const std::int32_t fill = input(i, a_.inverted ? 1 : 2);
    if (depends(input(i, 0)) || depends(fill) || element_count(node(fill).shape) != 1) return;
    a_.exponential = fn;
    a_.mask = input(i, 0);
    a_.fill = fill;
  }

  // Whether it is a number that is zero, and not negative. It is relied on.
  bool zero(std::int32_t i) {
    while (!g_[i].leaf && (node(i).kind == NodeKind::View || node(i).kind == NodeKind::Fill))
      i = input(i, 0);
    if (node(i).kind != NodeKind::Scalar || g_.field({i, Field::Value}) != 0) return false;
    a_.zeros.push_back(i);
    return true;
  }

  // Whether the value follows from the scores.
  bool depends(std::int32_t i) {
    if (i == a_.scores) return true;
    if (i < a_.scores || g_[i].leaf || node(i).kind == NodeKind::MatMul) return false;
    const auto [it, fresh] = depends_.try_emplace(i, false);
    if (!fresh) return it->second;
    bool d = false;
    for (int k = 0; k < 3; ++k)
      if (input(i, k) >= 0) d |= depends(input(i, k));
    return depends_[i] = d;
  }

  // Whether a block of the value follows from the same block of the scores, without a fold.
  bool plain(std::int32_t i) {
    if (i == a_.scores || !depends(i)) return true;
    const Node& n = node(i);
    if ((n.kind != NodeKind::Elementwise && n.kind != NodeKind::Cast) || n.shape != shape_)
      return false;
    const auto [it, fresh] = plain_.try_emplace(i, true);
    if (!fresh) return it->second;
    bool all = true;
    for (int k = 0; k < 3; ++k)
      if (input(i, k) >= 0) all = all && plain(input(i, k));
    return plain_[i] = all;
  }

  // The fold of each row that `i` shows, broadcast; -1 for anything else.
  std::int32_t fold_of_rows(std::int32_t i, ReduceKind kind) {
    while (!g_[i].leaf && node(i).kind == NodeKind::View) {
      if (!follows_rows(g_, i, g_[i].in[0], shape_)) return -1;
      i = input(i, 0);
    }
    const Node& n = node(i);
    if (g_[i].leaf || n.kind != NodeKind::Reduce || n.reduce != kind || g_[i].in[1] >= 0 ||
        n.dtype != node(a_.scores).dtype || node(g_[i].in[0]).shape != shape_ ||
        node(g_[i].in[0]).dtype != n.dtype || n.axes.size() != 1 ||
        n.axes[0] != shape_.size() - 1 || !depends(i))
      return -1;
    return i;
  }

  // The sum of each row whose reciprocal `i` is, times a number.
  std::int32_t inverse_of_sum(std::int32_t i) {
    while (!g_[i].leaf && node(i).kind == NodeKind::View) {
      if (!follows_rows(g_, i, g_[i].in[0], shape_)) return -1;
      i = input(i, 0);
    }
    if (!elementwise(i) || node(i).dtype != node(a_.scores).dtype) return -1;
    const OpId fn = node(i).fn;
    if (fn == OpId::Reciprocal) return fold_of_rows(input(i, 0), ReduceKind::Sum);
    const std::int32_t number = input(i, 0);
    if (fn != OpId::Divide || depends(number) || element_count(node(number).shape) != 1) return -1;
    return fold_of_rows(input(i, 1), ReduceKind::Sum);
  }

  bool find_quotient(std::int32_t i) {
    if (!elementwise(i) || !depends(i) || node(i).shape != shape_ || !tried_.insert(i).second)
      return false;
    const OpId fn = node(i).fn;
    if (fn == OpId::Divide) {
      const std::int32_t s = fold_of_rows(input(i, 1), ReduceKind::Sum);
      if (s >= 0 && input(s, 0) == input(i, 0)) {
        a_.quotient = i;
        a_.sum = s;
        return true;
      }
    }
    for (int k = 0; fn == OpId::Multiply && k < 2; ++k) {
      const std::int32_t r = input(i, 1 - k), s = inverse_of_sum(r);
      if (s >= 0 && input(s, 0) == input(i, k)) {
        a_.quotient = i;
        a_.reciprocal = r;
        a_.divided = k;
        a_.sum = s;
        return true;
      }
    }
    for (int k = 0; k < 3; ++k)
      if (input(i, k) >= 0 && find_quotient(input(i, k))) return true;
    return false;
  }

  void find_sum() {
    for (std::int32_t i = a_.weights + 1; i < g_.size() && a_.sum < 0; ++i)
      if (canon_[i] == i && fold_of_rows(i, ReduceKind::Sum) == i && input(i, 0) == a_.weights)
        a_.sum = i;
  }

  // The answer of a test of nodes, which is asked of each once.
  using Known = std::map<std::int32_t, bool>;
  template <class Test>
  static bool once(Known& known, std::int32_t i, Test&& test) {
    const auto at = known.find(i);
    return at != known.end() ? at->second : (known[i] = test());
  }
  // What the value is multiplied by, it may be multiplied by later.
  template <class Base>
  bool linear(std::int32_t i, Base&& base) {
    Known known;
    return linear(i, base, known);
  }
  template <class Base>
  bool linear(std::int32_t i, Base& base, Known& known) {
    return once(known, i, [&] { return base(i) || is_linear(i, base, known); });
  }
  template <class Base>
  bool is_linear(std::int32_t i, Base& base, Known& known) {
    if (!elementwise(i) || node(i).shape != shape_ || plain(i)) return false;
    const std::int32_t a = input(i, 0), b = input(i, 1), c = input(i, 2);
    switch (node(i).fn) {
      case OpId::Multiply:
        return (linear(a, base, known) && plain(b)) || (plain(a) && linear(b, base, known));
      case OpId::Divide:
        return linear(a, base, known) && plain(b);
      case OpId::Where:
        return plain(a) && (linear(b, base, known) ? zero(c) || linear(c, base, known)
                                                   : zero(b) && linear(c, base, known));
      default:
        return false;
    }
  }
  bool scales(std::int32_t i) {
    return linear(i, [&](std::int32_t n) { return n == a_.quotient; });
  }
  // A product with the exponential of a difference from the maximum of the row.
  bool falls_with_maximum(std::int32_t i) {
    return linear(i, [&](std::int32_t n) {
      if (!elementwise(n) || (node(n).fn != OpId::Exp && node(n).fn != OpId::Exp2)) return false;
      if (a_.maximum >= 0 && (node(n).fn != a_.exponential || a_.scale >= 0)) return false;
      Known known;
      if (!shifted(input(n, 0), known) && !scaled(input(n, 0), known)) return false;
      a_.exponential = node(n).fn;
      return true;
    });
  }
  // The difference from the maximum, by a number: the same for all exponentials.
  bool scaled(std::int32_t i, Known& known) {
    if (!elementwise(i) || node(i).shape != shape_ || node(i).dtype != node(a_.scores).dtype ||
        a_.maximum >= 0)
      return false;
    const std::int32_t a = input(i, 0), b = input(i, 1);
    const auto number = [&](std::int32_t n) {
      return !depends(n) && element_count(node(n).shape) == 1 &&
             node(n).dtype == node(a_.scores).dtype;
    };
    const OpId fn = node(i).fn;
    if (fn != OpId::Multiply && fn != OpId::Divide) return false;
    const bool first = number(b) && shifted(a, known);
    if (!first && (fn == OpId::Divide || !number(a) || !shifted(b, known))) return false;
    a_.scale = first ? b : a;
    a_.scaled_by = fn;
    return true;
  }
  bool shifted(std::int32_t i, Known& known) {
    return once(known, i, [&] { return is_shifted(i, known); });
  }
  bool is_shifted(std::int32_t i, Known& known) {
    if (!elementwise(i) || node(i).shape != shape_ || node(i).dtype != node(a_.scores).dtype ||
        plain(i))
      return false;
    const std::int32_t a = input(i, 0), b = input(i, 1), c = input(i, 2);
    switch (node(i).fn) {
      case OpId::Subtract:
        if (plain(a))
          if (const std::int32_t m = fold_of_rows(b, ReduceKind::Max);
              m >= 0 && (a_.maximum < 0 || a_.maximum == m) && plain(input(m, 0))) {
            a_.maximum = m;
            a_.compared = input(m, 0);
            return true;
          }
        return shifted(a, known) && plain(b);
      case OpId::Add:
        return (shifted(a, known) && plain(b)) || (plain(a) && shifted(b, known));
      case OpId::Where:
        return plain(a) && shifted(b, known) && shifted(c, known);
      default:
        return false;
    }
  }

  bool row_value(std::int32_t i) const { return i == a_.maximum || i == a_.sum; }

  bool collect() {
    std::set<std::int32_t> all, before;
    gather(a_.weights, all);
    gather(a_.sum, all);
    if (!all.count(a_.scores) || (a_.maximum >= 0 && !all.count(a_.maximum))) return false;
    if (a_.maximum >= 0) gather(a_.compared, before);
    // Of what is compared, only the whole is read by the rest.
    a_.replaced = a_.maximum >= 0 && a_.compared != a_.scores;
    for (const std::int32_t i : all)
      for (int k = 0; k < 3 && i != a_.scores; ++k)
        if (const std::int32_t in = input(i, k);
            in >= 0 && in != a_.compared && before.count(in) && !before.count(i))
          a_.replaced = false;
    a_.inside.assign(all.begin(), all.end());
    return true;
  }
  void gather(std::int32_t from, std::set<std::int32_t>& found) {
    std::vector<std::int32_t> stack{from};
    while (!stack.empty()) {
      const std::int32_t i = stack.back();
      stack.pop_back();
      if (!depends(i) || !found.insert(i).second || i == a_.scores) continue;
      for (int k = 0; k < 3; ++k)
        if (input(i, k) >= 0) stack.push_back(input(i, k));
    }
  }

  // What would be in memory for others, there is no block of.
  bool nobody_else_reads() const {
    const std::set<std::int32_t> inside(a_.inside.begin(), a_.inside.end());
    for (std::int32_t i = 0; i < g_.size(); ++i) {
      const std::int32_t c = canon_[i];
      if (inside.count(c) && !shows_row_value(c) && g_[i].wanted) return false;
      if (g_[i].leaf || inside.count(c) || i == a_.product) continue;
      for (const std::int32_t in : g_[i].in)
        if (in >= 0 && inside.count(canon_[in]) && !shows_row_value(canon_[in])) return false;
    }
    return true;
  }
  bool shows_row_value(std::int32_t i) const {
    while (!g_[i].leaf && node(i).kind == NodeKind::View) i = input(i, 0);
    return row_value(i);
  }

  const Graph& g_;
  const std::vector<std::int32_t>& canon_;
  Attention a_;
  Dims shape_;
  std::map<std::int32_t, bool> depends_, plain_;
  std::set<std::int32_t> tried_;
};

}  // namespace

std::optional<Attention> find_attention(const Graph& g, const std::vector<std::int32_t>& canon,
                                        std::int32_t product, const Target& target) {
  const GNode& gn = g[product];
  if (gn.leaf || gn.node->kind != NodeKind::MatMul || target.product_depth == 0)
    return std::nullopt;
  if (gn.node->dtype != DType::Float32 && gn.node->dtype != DType::Float64) return std::nullopt;
  if (!gn.node->axes.empty() || gn.node->shape.back() > kWidest) return std::nullopt;
  std::optional<Attention> found = Finder(g, canon, product).run();
  if (found) found->blocks = target.blocks;
  return found;
}

}  // namespace plait::fusion
