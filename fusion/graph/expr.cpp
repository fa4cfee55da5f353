#include "expr.hpp"

#include <algorithm>
#include <utility>

#include "graph.hpp"

namespace plait::fusion {

Exprs::Exprs() {
  constant(0);
  constant(1);
}

std::uint64_t Exprs::hash(const Item& i) {
  std::uint64_t h = static_cast<std::uint64_t>(i.op);
  for (std::uint64_t v :
       {static_cast<std::uint64_t>(i.c), static_cast<std::uint64_t>(i.s.node),
        static_cast<std::uint64_t>(i.s.field), static_cast<std::uint64_t>(i.s.dim),
        static_cast<std::uint64_t>(i.a), static_cast<std::uint64_t>(i.b)})
    h = (h ^ v) * 0x9e3779b97f4a7c15ull;
  return h;
}

std::optional<ExprId> Exprs::find(const Item& i, std::uint64_t h) const {
  for (auto [b, e] = index_.equal_range(h); b != e; ++b) {
    const Item& o = items_[b->second];
    if (o.op == i.op && o.c == i.c && o.s == i.s && o.a == i.a && o.b == i.b) return b->second;
  }
  return std::nullopt;
}

ExprId Exprs::intern(const Item& i) {
  const std::uint64_t h = hash(i);
  if (const auto known = find(i, h)) return *known;
  items_.push_back(i);
  const auto id = static_cast<ExprId>(items_.size() - 1);
  index_.emplace(h, id);
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
      return a * b;
    case Op::Blocks:
      return (a + b - 1) / std::max<std::int64_t>(1, b);
    case Op::Fit:
      return std::max<std::int64_t>(1, a / std::max<std::int64_t>(1, b));
    case Op::Least:
      return std::min(a, b);
    default:
      return 0;
  }
}

void Exprs::evaluate(const Graph& g, std::vector<std::int64_t>& values) const {
  std::size_t e = values.size();
  values.resize(items_.size());
  for (; e < items_.size(); ++e) {
    const Item& i = items_[e];
    switch (i.op) {
      case Op::Const:
        values[e] = i.c;
        break;
      case Op::Source:
        values[e] = g.field(i.s);
        break;
      default:
        values[e] = value_of(i.op, values[i.a], values[i.b]);
        break;
    }
  }
}

}  // namespace plait::fusion
