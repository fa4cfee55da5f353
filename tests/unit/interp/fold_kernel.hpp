// Folds of several values as a user of the loop IR adds them: a row each. Rows of a matrix are
// folded in one loop and in blocks, and all of the state is stored.
#pragma once
#include "ir/fold.hpp"
#include "random_kernel.hpp"

namespace plait::test {

// How many, their mean, and the sum of the squares of their distances from it (Welford; Chan
// joins).
inline const ir::FoldRow kMoments = {
    "moments",
    [](const ir::FoldCode& code, DType t, ir::Val) -> ir::Values {
      return {code.number(0, t), code.number(0, t), code.number(0, t)};
    },
    [](const ir::FoldCode& code, const ir::Values& s, const ir::Values& x) -> ir::Values {
      const ir::Val count = code(OpId::Add, s[0], code.number(1, code.type(s[0])));
      const ir::Val away = code(OpId::Subtract, x[0], s[1]);
      const ir::Val mean = code(OpId::Add, s[1], code(OpId::Divide, away, count));
      const ir::Val still = code(OpId::Subtract, x[0], mean);
      return {count, mean, code(OpId::Add, s[2], code(OpId::Multiply, away, still))};
    },
    [](const ir::FoldCode& code, const ir::Values& a, const ir::Values& b) -> ir::Values {
      const ir::Val count = code(OpId::Add, a[0], b[0]);
      const ir::Val apart = code(OpId::Subtract, b[1], a[1]);
      const ir::Val part = code(OpId::Divide, b[0], count);
      const ir::Val between =
          code(OpId::Multiply, code(OpId::Square, apart), code(OpId::Multiply, a[0], part));
      return {count, code(OpId::Add, a[1], code(OpId::Multiply, apart, part)),
              code(OpId::Add, code(OpId::Add, a[2], b[2]), between)};
    }};

// Online softmax: the maximum, and the sum of the exponentials of what lies below it.
inline ir::Values rescaled(const ir::FoldCode& code, const ir::Values& s, ir::Val most,
                           ir::Val sum) {
  const ir::Val now = code(OpId::Maximum, s[0], most);
  const auto weigh = [&](ir::Val of, ir::Val weight) {
    return code(OpId::Multiply, weight, code(OpId::Exp, code(OpId::Subtract, of, now)));
  };
  return {now, code(OpId::Add, weigh(s[0], s[1]), weigh(most, sum))};
}
inline const ir::FoldRow kSoftmax = {
    "softmax",
    [](const ir::FoldCode& code, DType t, ir::Val) -> ir::Values {
      return {code.constant(fold_identity(ReduceKind::Max, t)), code.number(0, t)};
    },
    [](const ir::FoldCode& code, const ir::Values& s, const ir::Values& x) {
      return rescaled(code, s, x[0], code.number(1, code.type(x[0])));
    },
    [](const ir::FoldCode& code, const ir::Values& a, const ir::Values& b) {
      return rescaled(code, a, b[0], b[1]);
    }};

struct FoldShape {
  const ir::FoldRow* row;
  int states;
  std::int64_t rows, columns, block;  // block 0: one loop
  bool lanes;                         // along the rows
  DType dtype;
};

inline RandomKernel fold_kernel(const FoldShape& s) {
  using namespace ir;
  const DType t = s.dtype;
  const auto item = static_cast<std::int64_t>(itemsize(t));
  Builder b(std::string(s.row->name));
  if (s.lanes) b.loop(0).scope = Scope::Lanes;
  const std::int32_t x = b.buffer(t, false);
  const Val columns = b.param(0);
  const Element element = [&](Val i) -> Values {
    return {b.load(x, {{}, {{b.grid_var(), {s.columns * item}}, {i, {item}}}}), i};
  };
  const Values state = s.block > 0 ? fold_in_blocks(b, *s.row, t, columns, s.block, element)
                                   : fold(b, *s.row, t, b.constant_index(0), columns, element);
  RandomKernel r;
  std::mt19937 rng(7);
  const auto memory = [&](DType of, std::int64_t count, bool random) {
    std::vector<unsigned char> bytes;
    for (std::int64_t i = 0; i < count; ++i) {
      const Scalar v =
          cast(scalar_float(random ? std::uniform_real_distribution<>(-3, 5)(rng) : 0), of);
      bytes.insert(bytes.end(), v.bytes, v.bytes + itemsize(of));
    }
    r.buffers.push_back(std::move(bytes));
  };
  memory(t, s.rows * s.columns, true);
  for (int n = 0; n < s.states; ++n) {
    const DType of = b.type(state[n]);
    b.store(b.buffer(of, true), {{}, {{b.grid_var(), {static_cast<std::int64_t>(itemsize(of))}}}},
            state[n]);
    memory(of, s.rows, false);
  }
  r.kernel = b.finish();
  r.params = {s.columns};
  r.grid = s.rows;
  return r;
}

// Rows that are empty, of one element, of one block and a bit, of many.
inline std::vector<FoldShape> fold_shapes() {
  std::vector<FoldShape> all;
  const ir::FoldRow *first = &ir::place_of_extreme(ReduceKind::ArgMin),
                    *last = &ir::place_of_extreme(ReduceKind::ArgMax);
  for (const DType t : {DType::Float64, DType::Float32})
    for (const bool lanes : {false, true}) {
      for (const ir::FoldRow* row : {&kMoments, &kSoftmax, first, last}) {
        const int states = row == &kMoments ? 3 : 2;
        all.push_back({row, states, 37, 260, 0, lanes, t});
        all.push_back({row, states, 19, 260, 64, lanes, t});
      }
      all.push_back({&kMoments, 3, 5, 0, 16, lanes, t});
      all.push_back({&kMoments, 3, 9, 1, 16, lanes, t});
      all.push_back({&kSoftmax, 2, 9, 17, 16, lanes, t});
    }
  return all;
}

}  // namespace plait::test
