#include "number.hpp"

#include "plan_graph.hpp"

namespace plait::fusion {

ExprId Number::in(const PlanGraph& g) const {
  return graph_ ? expr_ : g.answers().exprs.constant(value_);
}

template <class Make>
Number Number::of_two(const Number& a, const Number& b, std::int64_t value, Make&& make) {
  const PlanGraph* const g = graph_of(a, b);
  if (!g) return value;
  Exprs& exprs = g->answers().exprs;
  const ExprId e = make(exprs, a.in(*g), b.in(*g));
  return exprs.is_constant(e) ? Number(exprs.value(e)) : Number(*g, e, value);
}

bool Number::ask(Relation r, const Number& a, const Number& b) {
  const PlanGraph& g = *graph_of(a, b);
  if (!g.records()) return r == Relation::Equal ? a.value_ == b.value_ : a.value_ <= b.value_;
  return g.answers().ask(r, a.in(g), b.in(g), a.value_, b.value_);
}

Number operator+(const Number& a, const Number& b) {
  return Number::of_two(a, b, a.value_ + b.value_,
                        [](Exprs& e, ExprId x, ExprId y) { return e.add(x, y); });
}
Number operator-(const Number& a, const Number& b) {
  return Number::of_two(a, b, a.value_ - b.value_, [](Exprs& e, ExprId x, ExprId y) {
    return e.add(x, e.mul(e.constant(-1), y));
  });
}
Number operator*(const Number& a, const Number& b) {
  return Number::of_two(a, b, saturated_product(a.value_, b.value_),
                        [](Exprs& e, ExprId x, ExprId y) { return e.mul(x, y); });
}
Number operator/(const Number& a, const Number& b) {
  return Number::of_two(a, b, b.value_ == 0 ? 0 : a.value_ / b.value_,
                        [](Exprs& e, ExprId x, ExprId y) { return e.quotient(x, y); });
}
Number operator%(const Number& a, const Number& b) {
  return Number::of_two(a, b, b.value_ == 0 ? 0 : a.value_ % b.value_,
                        [](Exprs& e, ExprId x, ExprId y) { return e.remainder(x, y); });
}
Number abs(const Number& a) {
  return Number::of_two(a, 0, a.value_ < 0 ? -a.value_ : a.value_,
                        [](Exprs& e, ExprId x, ExprId) { return e.magnitude(x); });
}

std::int64_t Number::estimate() const {
  if (graph_) graph_->note_estimate(expr_);
  return value_;
}

std::int64_t Number::identity(Kind kind) const {
  if (graph_) graph_->note_equal(*this, kind);
  return value_;
}

std::int64_t Number::known() const {
  const bool equal = *this == Number(value_);
  return equal ? value_ : 0;
}

bool Numbers::operator==(const Numbers& o) const {
  if (size() != o.size()) return false;
  for (int d = 0; d < size(); ++d)
    if (!((*this)[d] == o[d])) return false;
  return true;
}

double elements_of(const Numbers& shape) {
  double n = 1;
  for (const Number& e : shape) n *= e.cost();
  return n;
}

}  // namespace plait::fusion
