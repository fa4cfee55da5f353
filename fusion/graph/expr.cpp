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
  std::uint64_t h = static_cast<std::uint64_t>(i.op);
  for (std::uint64_t v :
       {static_cast<std::uint64_t>(i.c), static_cast<std::uint64_t>(i.s.node),
        static_cast<std::uint64_t>(i.s.field), static_cast<std::uint64_t>(i.s.dim),
        static_cast<std::uint64_t>(i.a), static_cast<std::uint64_t>(i.b)})
    h = (h ^ v) * 0x9e3779b97f4a7c15ull;
  std::size_t at = h >> 32;
  for (;; ++at) {
    ExprId& e = table_[at & (table_.size() - 1)];
    if (e < 0) return e;
    const Item& o = items_[e];
    if (o.op == i.op && o.c == i.c && o.s == i.s && o.a == i.a && o.b == i.b) return e;
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
  Item i;
  i.c = v;
  return intern(i);
}

ExprId Exprs::source(const Source& s) {
  Item i;
  i.op = Op::Source;
  i.s = s;
  return intern(i);
}

ExprId Exprs::new_source(const Source& s) {
  Item i;
  i.op = Op::Source;
  i.s = s;
  items_.push_back(i);
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
      return i.c >= 0;
    case Op::Source:
      return i.s.field == Field::Shape || i.s.field == Field::ViewShape ||
             i.s.field == Field::InputShape;
    case Op::Magnitude:
      return true;
    default:
      return is_natural(i.a) && is_natural(i.b);
  }
}

ExprId Exprs::of_two(Op op, ExprId a, ExprId b) {
  if (is_constant(a) && is_constant(b)) return constant(value_of(op, value(a), value(b)));
  Item i;
  i.op = op;
  i.a = a;
  i.b = b;
  return intern(i);
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
