#include "expr.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "graph.hpp"

namespace plait::fusion {

Exprs::Exprs() : table_(64, -1) {
  constant(0);
  constant(1);
}

// Where the expression is in the table, or is to be.
ExprId& Exprs::place(const Item& i) {
  const auto rest = static_cast<std::uint64_t>(i.op) | static_cast<std::uint64_t>(i.field) << 8 |
                    static_cast<std::uint64_t>(i.dim) << 16;
  const std::uint64_t h =
      (static_cast<std::uint64_t>(i.bits) + rest * 0xff51afd7ed558ccdULL) * 0x9e3779b97f4a7c15ULL;
  std::size_t at = (h ^ h >> 32) >> 16;
  for (;; ++at) {
    ExprId& e = table_[at & (table_.size() - 1)];
    if (e < 0) return e;
    if (items_[e] == i) return e;
  }
}

ExprId Exprs::intern(const Item& i) {
  if (const ExprId known = place(i); known >= 0) return known;
  const auto id = static_cast<ExprId>(items_.size());
  items_.push_back(i);
  if (2 * items_.size() > table_.size()) {
    table_.assign(std::bit_ceil(3 * items_.size()), -1);
    for (ExprId e = 0; e < id; ++e) place(items_[e]) = e;
  }
  place(i) = id;
  return id;
}

ExprId Exprs::constant(std::int64_t v) {
  Constant& known = recent_[static_cast<std::size_t>(v) % recent_.size()];
  if (known.number != v || known.e < 0) known = {v, intern({.bits = v})};
  return known.e;
}

ExprId Exprs::source(const Source& s) { return intern(Item::of(s)); }

ExprId Exprs::new_source(const Source& s) {
  items_.push_back(Item::of(s));
  return static_cast<ExprId>(items_.size() - 1);
}

ExprId Exprs::add(ExprId a, ExprId b) {
  if (a == zero()) return b;
  if (b == zero()) return a;
  if (a > b) std::swap(a, b);
  return of_two(Op::Add, a, b);
}

ExprId Exprs::mul(ExprId a, ExprId b) {
  if (a == zero() || b == zero()) return zero();
  if (a == one()) return b;
  if (b == one()) return a;
  if (a > b) std::swap(a, b);
  return of_two(Op::Mul, a, b);
}

ExprId Exprs::blocks(ExprId a, ExprId size) { return of_two(Op::Blocks, a, size); }
ExprId Exprs::fit(ExprId a, ExprId size) { return of_two(Op::Fit, a, size); }
ExprId Exprs::least(ExprId a, ExprId b) { return a == b ? a : of_two(Op::Least, a, b); }

ExprId Exprs::quotient(ExprId a, ExprId b) { return b == one() ? a : of_two(Op::Quotient, a, b); }
ExprId Exprs::remainder(ExprId a, ExprId b) {
  return b == one() ? zero() : of_two(Op::Remainder, a, b);
}
ExprId Exprs::magnitude(ExprId a) { return is_natural(a) ? a : of_two(Op::Magnitude, a, zero()); }

// Whether it is never negative.
bool Exprs::is_natural(ExprId e) const {
  const Item& i = items_[e];
  switch (i.op) {
    case Op::Const:
      return i.bits >= 0;
    case Op::Source:
      return i.field == Field::Shape || i.field == Field::ViewShape || i.field == Field::InputShape;
    case Op::Magnitude:
      return true;
    default:
      return is_natural(i.a()) && is_natural(i.b());
  }
}

ExprId Exprs::of_two(Op op, ExprId a, ExprId b) {
  if (is_constant(a) && is_constant(b)) return constant(value_of(op, value(a), value(b)));
  return intern(Item::of(op, a, b));
}

ExprId Exprs::keep(const Exprs& of, ExprId e, std::vector<ExprId>& kept) {
  if (const ExprId to = kept[static_cast<std::size_t>(e)]; to >= 0) return to;
  Item i = of.items_[static_cast<std::size_t>(e)];
  if (i.op == Op::Const) return kept[static_cast<std::size_t>(e)] = constant(i.bits);
  if (i.op != Op::Source) {
    const ExprId a = keep(of, i.a(), kept);
    i = Item::of(i.op, a, keep(of, i.b(), kept));
  }
  items_.push_back(i);
  return kept[static_cast<std::size_t>(e)] = static_cast<ExprId>(items_.size() - 1);
}

std::int64_t Exprs::value_of(Op op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case Op::Add:
      return a + b;
    case Op::Mul:
      return saturated_product(a, b);
    case Op::Blocks:
      return (a + b - 1) / std::max<std::int64_t>(1, b);
    case Op::Fit:
      return std::max<std::int64_t>(1, a / std::max<std::int64_t>(1, b));
    case Op::Least:
      return std::min(a, b);
    case Op::Quotient:
      return b == 0 ? 0 : a / b;
    case Op::Remainder:
      return b == 0 ? 0 : a % b;
    case Op::Magnitude:
      return a < 0 ? -a : a;
    default:
      return 0;
  }
}

void Exprs::evaluate(const Graph& g, std::vector<std::int64_t>& values) const {
  evaluate_by([&](const Source& s) { return g.field(s); }, values);
}

}  // namespace plait::fusion
