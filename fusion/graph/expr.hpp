// Numbers that a plan knows only when it runs: extents, strides, offsets. A plan holds expressions
// over fields of its graph; binding a graph evaluates them all, and kernels get the values as
// parameters. So a plan made for one shape serves others.
#pragma once
#include <cstdint>
#include <vector>

namespace plait::fusion {

class Graph;

enum class Field : std::uint8_t {
  Shape,
  Stride,
  Offset,  // of the node; a View's read the memory of its base
  Layout,  // strides of the node's own memory
  ViewShape,
  ViewStride,  // of an Update's target, a Gather's source
  MapStart,
  MapStep,     // of a View decomposed over its base, of an Update's target in its storage; `dim`
               // counts the base's dimensions
  IndexStart,  // of a View with an IndexMap; `dim` counts the base's dimensions
  IndexStep,   // `dim` counts its own
  InputShape,  // Reduce: of its operand
  Step,        // Gather: from one index to the next
  Axis,        // Reduce, MatMul: its axes; Call: its numbers
  Origin,      // Of what is in memory: bytes into its buffer
  Value,       // Scalar: its bits, 0 for a zero that is not negative
};
struct Source {
  std::int32_t node = 0;
  Field field = Field::Shape;
  std::int32_t dim = 0;
  bool operator==(const Source&) const = default;
};

using ExprId = std::int32_t;

// Of numbers of arrays that are too large to be, the largest there is: whoever compares them is
// told what is so.
inline std::int64_t saturated_product(std::int64_t a, std::int64_t b) {
  std::int64_t p;
  if (!__builtin_mul_overflow(a, b, &p)) return p;
  return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}

class Exprs {
 public:
  Exprs();
  ExprId constant(std::int64_t v);
  ExprId source(const Source& s);
  // Of one that there is no expression of, nor will be by source().
  ExprId new_source(const Source& s);
  ExprId add(ExprId a, ExprId b);
  ExprId mul(ExprId a, ExprId b);
  ExprId blocks(ExprId a, std::int64_t size) { return blocks(a, constant(size)); }
  ExprId blocks(ExprId a, ExprId size);  // how many of that size cover a
  ExprId fit(ExprId a, ExprId size);     // how many of that size fit into a: at least one
  ExprId least(ExprId a, ExprId b);
  ExprId quotient(ExprId a, ExprId b);  // as C++ divides; of a division by 0, 0
  ExprId remainder(ExprId a, ExprId b);
  ExprId magnitude(ExprId a);
  ExprId zero() const { return 0; }
  ExprId one() const { return 1; }
  bool is_constant(ExprId e) const { return items_[e].op == Op::Const; }
  std::int64_t value(ExprId e) const { return items_[e].c; }  // of a constant
  bool is_source(ExprId e) const { return items_[e].op == Op::Source; }
  const Source& source_of(ExprId e) const { return items_[e].s; }
  // What a sum, a product and the like is made of.
  template <class Visit>
  void for_each_part(ExprId e, Visit&& visit) const {
    const Item i = items_[e];
    if (i.op == Op::Const || i.op == Op::Source) return;
    visit(i.a);
    visit(i.b);
  }
  // The same of other nodes: `node` and `of` put another in the place of each that it is made of.
  template <class Node, class Of>
  ExprId rebuilt(ExprId e, Node&& node, Of&& of) {
    Item i = items_[e];
    if (i.op == Op::Const) return e;
    if (i.op == Op::Source) {
      node(i.s.node);
      return source(i.s);
    }
    of(i.a);
    of(i.b);
    // The operands of sums and products are in order.
    return i.op == Op::Add   ? add(i.a, i.b)
           : i.op == Op::Mul ? mul(i.a, i.b)
                             : of_two(i.op, i.a, i.b);
  }
  // The same over other numbers, in another collection: `number` and `of` give what stands there
  // for each that it is made of.
  template <class Number, class Of>
  ExprId rebuilt_in(Exprs& to, ExprId e, Number&& number, Of&& of) const {
    const Item& i = items_[e];
    switch (i.op) {
      case Op::Const:
        return to.constant(i.c);
      case Op::Source:
        return number(i.s);
      case Op::Add:
        return to.add(of(i.a), of(i.b));
      case Op::Mul:
        return to.mul(of(i.a), of(i.b));
      default:
        return to.of_two(i.op, of(i.a), of(i.b));
    }
  }
  // values[e] for every expression; those that are there already stay.
  void evaluate(const Graph& g, std::vector<std::int64_t>& values) const;
  // The same, where field(source) is the number that a graph has there.
  template <class Field>
  void evaluate_by(Field&& field, std::vector<std::int64_t>& values) const {
    evaluate_by(field, values, items_.size());
  }
  // The same of the first so many.
  template <class Field>
  void evaluate_by(Field&& field, std::vector<std::int64_t>& values, std::size_t end) const {
    std::size_t e = values.size();
    if (e >= end) return;
    values.resize(end);
    for (; e < end; ++e) {
      const Item& i = items_[e];
      values[e] = i.op == Op::Const    ? i.c
                  : i.op == Op::Source ? field(i.s)
                                       : value_of(i.op, values[i.a], values[i.b]);
    }
  }
  // Each number of the graph that is asked for, once.
  std::vector<Source> sources() const {
    std::vector<Source> all;
    for (const Item& i : items_)
      if (i.op == Op::Source) all.push_back(i.s);
    return all;
  }
  std::size_t size() const { return items_.size(); }
  // What is kept in files (engine/programs): only to be evaluated afterwards.
  template <class A>
  friend void fields(A& a, Exprs& e) {
    archive(a, e.items_);
  }

 private:
  enum class Op : std::uint8_t {
    Const,
    Source,
    Add,
    Mul,
    Blocks,
    Fit,
    Least,
    Quotient,
    Remainder,
    Magnitude
  };
  struct Item {
    Op op = Op::Const;
    std::int64_t c = 0;
    Source s;
    ExprId a = 0, b = 0;
    template <class A>
    friend void fields(A& a, Item& i) {
      all(a, i.op, i.c, i.s.node, i.s.field, i.s.dim, i.a, i.b);
    }
  };
  ExprId& place(const Item& i);
  ExprId intern(const Item& i);
  ExprId of_two(Op op, ExprId a, ExprId b);
  bool is_natural(ExprId e) const;
  static std::int64_t value_of(Op op, std::int64_t a, std::int64_t b);

  std::vector<Item> items_;
  std::vector<ExprId> table_;  // by hash, a power of two of places; -1: nothing there
};

}  // namespace plait::fusion
