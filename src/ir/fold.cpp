#include "fold.hpp"

#include <algorithm>

#include "edit.hpp"
#include "plait/error.hpp"

namespace plait::ir {

Val FoldCode::operator()(OpId fn, Val a, Val b, Val c) const {
  return push_({.op = Op::Apply,
                .type = result_type(fn, type_(fn == OpId::Where ? b : a)),
                .fn = fn,
                .operands = {a, b, c}});
}

Val FoldCode::constant(const Scalar& s) const {
  return push_({.op = Op::Const, .type = s.dtype, .imm = s});
}

Val FoldCode::number(double v, DType t) const { return constant(cast(scalar_float(v), t)); }

namespace {

FoldCode code_of(Builder& b) {
  return {[&b](const Inst& i) { return b.push(i); }, [&b](Val v) { return b.type(v); }};
}

// A loop that carries `start`, of which `step` makes the next state.
Values carry(Builder& b, const Values& start, Val begin, Val end,
             const std::function<Values(Val iteration, const Values& state)>& step) {
  const std::int32_t loop = b.open_reduce(begin, end);
  Values state;
  for (const Val v : start)
    state.push_back(b.carried(b.type(v), static_cast<std::int32_t>(state.size())));
  const Values next = step(b.var(loop), state);
  std::vector<Reduction> folds;
  for (std::size_t n = 0; n < start.size(); ++n)
    folds.push_back(
        {.kind = ReduceKind::Last, .value = next[n], .order = Order::Sequential, .init = start[n]});
  return b.close(std::move(folds));
}

}  // namespace

Values fold(Builder& b, const FoldRow& row, DType t, Val begin, Val end, const Element& element) {
  const FoldCode code = code_of(b);
  return carry(b, row.start(code, t, begin), begin, end,
               [&](Val i, const Values& state) { return row.step(code, state, element(i)); });
}

Values fold_in_blocks(Builder& b, const FoldRow& row, DType t, Val end, std::int64_t block,
                      const Element& element) {
  const FoldCode code = code_of(b);
  const Val zero = b.constant_index(0), size = b.constant_index(block);
  const Val blocks =
      code(OpId::FloorDivide, code(OpId::Add, end, b.constant_index(block - 1)), size);
  return carry(b, row.start(code, t, zero), zero, blocks, [&](Val i, const Values& state) {
    const Val from = code(OpId::Multiply, i, size);
    const Val to = code(OpId::Minimum, code(OpId::Add, from, size), end);
    return row.join(code, state, fold(b, row, t, from, to, element));
  });
}

namespace {

// NaN is better than any number, and the first of equals.
template <bool max>
Val better(const FoldCode& code, Val x, Val best) {
  const DType t = code.type(x);
  const Val wins = code(max ? OpId::Greater : OpId::Less, x, best);
  if (!is_float(t) && !is_complex(t)) return wins;
  return code(OpId::LogicalAnd, code(OpId::LogicalOr, wins, code(OpId::Isnan, x)),
              code(OpId::LogicalNot, code(OpId::Isnan, best)));
}

Values chosen(const FoldCode& code, Val second, const Values& a, const Values& b) {
  return {code(OpId::Where, second, b[0], a[0]), code(OpId::Where, second, b[1], a[1])};
}

template <bool max>
constexpr FoldRow kPlaceOf = {
    max ? "argmax" : "argmin",
    [](const FoldCode& code, DType t, Val begin) -> Values {
      return {code.constant(fold_identity(max ? ReduceKind::ArgMax : ReduceKind::ArgMin, t)),
              begin};
    },
    [](const FoldCode& code, const Values& state, const Values& element) {
      return chosen(code, better<max>(code, element[0], state[0]), state, element);
    },
    [](const FoldCode& code, const Values& state, const Values& after) {
      return chosen(code, better<max>(code, after[0], state[0]), state, after);
    }};

// The reduction that the loop of instruction `reduce` has at place `n`.
void carry_place(Kernel& k, std::int32_t around, Val reduce, std::size_t n) {
  const std::int32_t l = k.insts[reduce].index;
  const Reduction r = k.loops[l].reductions[n];
  const FoldRow& row = place_of_extreme(r.kind);
  const auto type = [&](Val v) { return k.insts[v].type; };
  const auto before = [&](const Inst& i) {
    const Val v = append(k, i);
    insert_before(k.loops[around], reduce, v);
    return v;
  };
  const auto last = [&](const Inst& i) {
    const Val v = append(k, i);
    k.loops[l].body.push_back(v);
    return v;
  };
  const FoldCode outside(before, type), inside(last, type);
  Val begin = k.loops[l].begin;
  if (begin == kNone) begin = outside.constant(scalar_int(0));
  const Values start = row.start(outside, type(r.value), begin);
  const std::size_t other = k.loops[l].reductions.size();
  const auto carried = [&](Val from, std::size_t at) {
    return inside.push(
        {.op = Op::Carried, .type = type(from), .index = static_cast<std::int32_t>(at)});
  };
  const Values state = {carried(start[0], other), carried(start[1], n)};
  const Val x = r.guarded_sqrt ? inside(OpId::Sqrt, r.value) : r.value;
  const Values next = row.step(inside, state, {x, k.loops[l].var});
  auto& folds = k.loops[l].reductions;
  folds[n] = {
      .kind = ReduceKind::Last, .value = next[1], .order = Order::Sequential, .init = start[1]};
  folds.push_back(
      {.kind = ReduceKind::Last, .value = next[0], .order = Order::Sequential, .init = start[0]});
  set_lanes(k, l, false);
}

}  // namespace

const FoldRow& place_of_extreme(ReduceKind kind) {
  if (!is_arg(kind)) throw InternalError("loop IR: not the place of an extreme");
  return kind == ReduceKind::ArgMax ? kPlaceOf<true> : kPlaceOf<false>;
}

void carry_places(Kernel& k, const std::function<bool(const Reduction&)>& which) {
  for (std::size_t around = 0; around < k.loops.size(); ++around)
    for (const Val v : Values(k.loops[around].body)) {
      if (k.insts[v].op != Op::Reduce) continue;
      const std::int32_t l = k.insts[v].index;
      for (std::size_t n = 0; n < k.loops[l].reductions.size(); ++n)
        if (is_arg(k.loops[l].reductions[n].kind) && which(k.loops[l].reductions[n]))
          carry_place(k, static_cast<std::int32_t>(around), v, n);
    }
}

}  // namespace plait::ir
