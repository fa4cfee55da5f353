// Numbers that a plan knows only when it runs: extents, strides, offsets. A plan holds expressions
// over fields of its graph; binding a graph evaluates them all, and kernels get the values as
// parameters. So a plan made for one shape serves others.
#pragma once
#include <array>
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
  Dense,       // 1 where the node's strides are those of C's layout; else 0
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
  std::int64_t value(ExprId e) const { return items_[e].bits; }  // of a constant
  bool is_source(ExprId e) const { return items_[e].op == Op::Source; }
  Source source_of(ExprId e) const { return items_[e].source(); }
  // What a sum, a product and the like is made of.
  template <class Visit>
  void for_each_part(ExprId e, Visit&& visit) const {
    const Item i = items_[e];
    if (i.op == Op::Const || i.op == Op::Source) return;
    visit(i.a());
    visit(i.b());
  }
  // The same over other numbers, in another collection: `number` and `of` give what stands there
  // for each that it is made of.
  template <class Number, class Of>
  ExprId rebuilt_in(Exprs& to, ExprId e, Number&& number, Of&& of) const {
    const Item i = items_[e];
    if (i.op == Op::Const) return to.constant(i.bits);
    if (i.op == Op::Source) return number(i.source());
    const ExprId l = of(i.a());
    return to.rebuilt_of(i.op, l, of(i.b()));
  }
  // The same of all of them: `there` gets what each is in that collection. What is made of the
  // same as `before`, which is as long or empty, is the same.
  template <class Number>
  void rebuild_in(Exprs& to, Number&& number, const std::vector<ExprId>& before,
                  std::vector<ExprId>& there) const {
    there.resize(items_.size());
    const auto changed = [&](ExprId e) { return there[e] != before[e]; };
    for (std::size_t e = 0; e < items_.size(); ++e) {
      const Item& i = items_[e];
      if (i.op == Op::Source)
        there[e] = number(i.source());
      else if (!before.empty() && (i.op == Op::Const || !(changed(i.a()) || changed(i.b()))))
        there[e] = before[e];
      else
        there[e] = i.op == Op::Const ? to.constant(i.bits)
                                     : to.rebuilt_of(i.op, there[i.a()], there[i.b()]);
    }
  }
  // Adds what `of` has there and what it is made of, once: `kept` says where. As it stands, to be
  // evaluated: what is added so is not found by who makes the same afterwards.
  ExprId keep(const Exprs& of, ExprId e, std::vector<ExprId>& kept);
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
      values[e] = i.op == Op::Const    ? i.bits
                  : i.op == Op::Source ? field(i.source())
                                       : value_of(i.op, values[i.a()], values[i.b()]);
    }
  }
  // Each number of the graph that is asked for, once.
  std::vector<Source> sources() const {
    std::vector<Source> all;
    for (const Item& i : items_)
      if (i.op == Op::Source) all.push_back(i.source());
    return all;
  }
  std::size_t size() const { return items_.size(); }
  std::size_t bytes() const {
    return items_.capacity() * sizeof(Item) + table_.capacity() * sizeof(ExprId);
  }
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
    Field field = Field::Shape;  // Source
    std::int32_t dim = 0;        // Source
    std::int64_t bits = 0;       // Const: the number; Source: the node; else the two it is made of

    static Item of(const Source& s) { return {Op::Source, s.field, s.dim, s.node}; }
    static Item of(Op op, ExprId a, ExprId b) {
      return {op, {}, 0, static_cast<std::int64_t>(a) << 32 | b};
    }
    Source source() const { return {static_cast<std::int32_t>(bits), field, dim}; }
    ExprId a() const { return static_cast<ExprId>(bits >> 32); }
    ExprId b() const { return static_cast<ExprId>(bits); }
    bool operator==(const Item&) const = default;
    template <class A>
    friend void fields(A& a, Item& i) {
      all(a, i.op, i.field, i.dim, i.bits);
    }
  };
  ExprId& place(const Item& i);
  ExprId intern(const Item& i);
  ExprId of_two(Op op, ExprId a, ExprId b);
  // The operands of sums and products are in order.
  ExprId rebuilt_of(Op op, ExprId a, ExprId b) {
    return op == Op::Add ? add(a, b) : op == Op::Mul ? mul(a, b) : of_two(op, a, b);
  }
  bool is_natural(ExprId e) const;
  static std::int64_t value_of(Op op, std::int64_t a, std::int64_t b);

  std::vector<Item> items_;
  std::vector<ExprId> table_;  // by hash, a power of two of places; -1: nothing there
  // The last constant of each of some residues: a few are asked for all the time.
  struct Constant {
    std::int64_t number = 0;
    ExprId e = -1;
  };
  std::array<Constant, 16> recent_{};
};

}  // namespace plait::fusion
