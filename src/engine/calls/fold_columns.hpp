// Folds columns that lie side by side row by row, which reads memory in order and in vectors.
#pragma once
#include <cstdint>

#include "codegen/loops/loops.hpp"

namespace plait::engine {

class FoldColumns {
 public:
  static constexpr std::int64_t kBytes = 1024;  // of a row of columns: running sums stay in L1

  // `kind` is a fold whose result has dtype `t`.
  FoldColumns(ReduceKind kind, DType t);
  // False where a join of two elements rounds differently from the fold of a column.
  bool exact() const { return join_ != nullptr; }
  std::int64_t widest() const { return kBytes / item_; }

  // A row: elements at a byte stride.
  struct Row {
    const std::byte* at;
    std::int64_t stride;
  };
  // to[c] = the fold of rows [0, n) of column c, for at most widest() columns, with the bits of
  // loops::reduce() over rows [1, n) that starts from row 0. `step` is from row to row; `to` lies
  // apart from the rows.
  void operator()(Row first, std::int64_t step, std::int64_t n, std::int64_t columns, std::byte* to,
                  std::int64_t to_stride) const;

 private:
  Row tree(Row first, std::int64_t step, std::int64_t n, std::int64_t columns,
           std::byte* scratch) const;
  void join(Row& sum, Row other, std::int64_t columns, std::byte* to, std::int64_t stride) const;

  loops::LoopFn join_;
  std::int64_t item_;
  std::int64_t sums_;  // running sums of a pairwise tree; 0 where elements are folded in order
};

}  // namespace plait::engine
