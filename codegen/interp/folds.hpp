// Reductions at run time.
#pragma once
#include "program.hpp"

namespace plait::interp {

// A loop that steps one iteration at a time, each of `lanes` lanes folding for itself.
void fold_start(const Frame& f, const Fold& r, std::int64_t begin, std::int64_t trips,
                std::int64_t lanes);
// Before an iteration: a value that will start an accumulator is computed in its place.
void fold_prepare(const Frame& f, const Fold& r, bool is_first);
void fold_step(const Frame& f, const Fold& r, std::int64_t i, std::int64_t begin,
               std::int64_t lanes);

// A vector loop: tiles of iterations are folded into one value. For a Tree fold the tiles are
// subtrees; `joins` is how many open left sums end with this one, `more` whether others follow.
void tile_start(const Frame& f, const Fold& r, std::int64_t begin);
void tile_step(const Frame& f, const Fold& r, std::int64_t first, bool is_first, std::int64_t lanes,
               int joins, bool more);

}  // namespace plait::interp
