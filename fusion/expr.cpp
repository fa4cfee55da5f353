#include "expr.hpp"

#include <utility>

#include "graph.hpp"

namespace plait::fusion {

Exprs::Exprs() {
  constant(0);
  constant(1);
}

ExprId Exprs::intern(const Item& i) {
  std::uint64_t h = static_cast<std::uint64_t>(i.op);
  for (std::uint64_t v :
       {static_cast<std::uint64_t>(i.c), static_cast<std::uint64_t>(i.s.node),
        static_cast<std::uint64_t>(i.s.field), static_cast<std::uint64_t>(i.s.dim),
        static_cast<std::uint64_t>(i.a), static_cast<std::uint64_t>(i.b)})
    h = (h ^ v) * 0x9e3779b97f4a7c15ull;
  auto [b, e] = index_.equal_range(h);
  for (; b != e; ++b) {
    const Item& o = items_[b->second];
    if (o.op == i.op && o.c == i.c && o.s == i.s && o.a == i.a && o.b == i.b) return b->second;
  }
  items_.push_back(i);
  ExprId id = static_cast<ExprId>(items_.size() - 1);
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
  if (is_constant(a) && is_constant(b)) return constant(value(a) + value(b));
  if (a > b) std::swap(a, b);
  Item i;
  i.op = Op::Add;
  i.a = a;
  i.b = b;
  return intern(i);
}

ExprId Exprs::mul(ExprId a, ExprId b) {
  if (a == zero() || b == zero()) return zero();
  if (a == one()) return b;
  if (b == one()) return a;
  if (is_constant(a) && is_constant(b)) return constant(value(a) * value(b));
  if (a > b) std::swap(a, b);
  Item i;
  i.op = Op::Mul;
  i.a = a;
  i.b = b;
  return intern(i);
}

ExprId Exprs::blocks(ExprId a, std::int64_t size) {
  if (is_constant(a)) return constant((value(a) + size - 1) / size);
  Item i;
  i.op = Op::Blocks;
  i.a = a;
  i.c = size;
  return intern(i);
}

std::int64_t Exprs::now(const Graph& g, ExprId e) const {
  const Item& i = items_[e];
  switch (i.op) {
    case Op::Const:
      return i.c;
    case Op::Source:
      return g.field(i.s);
    case Op::Add:
      return now(g, i.a) + now(g, i.b);
    case Op::Mul:
      return now(g, i.a) * now(g, i.b);
    case Op::Blocks:
      return (now(g, i.a) + i.c - 1) / i.c;
  }
  return 0;
}

void Exprs::evaluate(const Graph& g, std::vector<std::int64_t>& values) const {
  values.resize(items_.size());
  for (std::size_t e = 0; e < items_.size(); ++e) {
    const Item& i = items_[e];
    switch (i.op) {
      case Op::Const:
        values[e] = i.c;
        break;
      case Op::Source:
        values[e] = g.field(i.s);
        break;
      case Op::Add:
        values[e] = values[i.a] + values[i.b];
        break;
      case Op::Mul:
        values[e] = values[i.a] * values[i.b];
        break;
      case Op::Blocks:
        values[e] = (values[i.a] + i.c - 1) / i.c;
        break;
    }
  }
}

}  // namespace plait::fusion
