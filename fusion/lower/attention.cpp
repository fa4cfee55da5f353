// An attention as a region: the grid runs over blocks of rows, as a product's does. A block of
// scores after another is multiplied into scratch; the rows of the second product and the folds of
// the scores are carried from block to block, and rescaled where a maximum grows. Deferred factors
// of the rows come last.
#include <algorithm>
#include <limits>

#include "fusion/schedule/product_region.hpp"
#include "lowering.hpp"

namespace plait::fusion {
using namespace ir;
using tracer::Node;
using tracer::NodeKind;

namespace {

Scalar lowest(DType t) {
  return plait::cast(scalar_float(-std::numeric_limits<double>::infinity()), t);
}

// What factors that rescale sums are computed in.
DType factors_in(DType t) { return t == DType::Float16 ? DType::Float32 : t; }

Scalar least_normal(DType t) {
  return plait::cast(scalar_float(t == DType::Float32 ? std::numeric_limits<float>::min()
                                                      : std::numeric_limits<double>::min()),
                     t);
}

}  // namespace

void Lowering::attention() {
  const std::int32_t id = region_.product;
  const Node& p = node(id);
  folds_.emplace();
  BlockFolds& s = *folds_;
  s.of = *find_attention(g_, in_.canon, id, in_.target);
  const Node& scores = node(s.of.scores);
  const int dims = p.shape.size();
  for (int d = 0; d < dims - 1; ++d) {
    const ExprId mine = ex_.source({s.of.scores, Field::Shape, d}),
                 its = ex_.source({id, Field::Shape, d});
    in_.facts.equal(mine, its);
  }
  for (const auto& [n, bits] : s.of.numbers)
    in_.facts.equal(ex_.source({n, Field::Value}), ex_.constant(bits));
  s.lone = in_.facts.equal(ex_.source({id, Field::Shape, dims - 2}), ex_.one());
  const std::int64_t most = in_.target.product_depth;
  s.height = s.lone ? 1 : attention_rows(BlockExtents(in_), s.of, most);
  const RowBlock b = block_of_rows(s.height);
  s.first_row = b.first;
  tile_.batch = s.scores.batch = b.batch;
  tile_.first_row = s.scores.first_row = b.first;
  tile_.whole = true;
  s.scores.width = most;
  const Rows queries = pack_rows(g_[s.of.scores].in[0], b, s.height);

  const DType sums = fragment_sums(p.dtype), score_sums = fragment_sums(scores.dtype);
  const auto rows_local = [&](DType t, ExprId row) {
    return local(t, ex_.mul(ex_.constant(s.height), row), b.ctx);
  };
  const ExprId apart = ex_.constant(kApart / static_cast<std::int64_t>(itemsize(sums)));
  tile_.c_row = ex_.add(ex_.source({id, Field::Shape, dims - 1}), apart);
  tile_.c = rows_local(sums, tile_.c_row);
  s.scores.c_row = ex_.add(ex_.constant(most), apart);
  s.scores.c = rows_local(score_sums, s.scores.c_row);
  s.weights = p.dtype == score_sums ? s.scores.c : rows_local(p.dtype, s.scores.c_row);
  const auto row_local = [&](DType t) { return local(t, ex_.constant(s.height), b.ctx); };
  for (const Attention::Fold& f : s.of.folds) {
    const DType t = node(f.node).dtype;
    s.folds.push_back({row_local(t), f.first ? row_local(t) : -1});
  }
  for (const Attention::Shift& h : s.of.shifts) {
    const int f = s.of.fold(h.row);
    const DType t = node(h.row).dtype;
    s.shifts.push_back(
        {f >= 0 ? s.folds[f].value : row_local(t), row_local(t), row_local(factors_in(t))});
  }
  start_rows(b);

  const ExprId extent = ex_.source({s.of.scores, Field::Shape, dims - 1});
  if (s.of.mask < 0) {
    const std::int32_t block = open_blocks(b.ctx, extent, most);
    add_block(queries, b, range_of_block(k_.loops[block].var, extent, scores.shape.back(), most),
              block);
    close(block);
  } else {
    add_masked_blocks(queries, b, extent);
  }
  finish_rows(b);
  store_rows(b.first, b.last, s.height, b.ctx);
  close_all(b.opened);
  count_fragments(p);
  count_fragments(scores);
}

void Lowering::add_block(const Rows& queries, const RowBlock& b, const Range& keys,
                         std::int32_t ctx) {
  BlockFolds& s = *folds_;
  s.scores.first_column = keys.begin;
  if (s.lone)
    score_keys(queries, b, keys, ctx);
  else
    multiply_columns(s.of.scores, s.scores, queries, keys, b, ctx);
  if (!s.of.shifts.empty()) {
    fold_block(b, keys, true, ctx);
    rescale_rows(b, ctx);
  }
  fold_block(b, keys, false, ctx);
  if (s.lone)
    add_values(b, keys, ctx);
  else
    multiply_weights(b, keys, ctx);
}

// A first pass over blocks that are not left out, a second over the others, if they count.
void Lowering::add_masked_blocks(const Rows& queries, const RowBlock& b, ExprId extent) {
  const std::int64_t most = in_.target.product_depth;
  const Val none = constant(scalar_int(0));
  const std::int32_t pass = open_between(b.ctx, kNone, constant(scalar_int(2)), ex_.constant(2), 1);
  const Val again = apply(OpId::NotEqual, DType::Bool, k_.loops[pass].var, none);
  const auto where = [&](Val condition, Val yes, Val no) {
    return apply(OpId::Where, DType::Int64, condition, yes, no);
  };
  const Val needed = either(apply(OpId::LogicalNot, DType::Bool, again),
                            fill_counts(b, where(again, b.last, b.first), pass));
  const ExprId blocks = ex_.blocks(extent, most);
  const std::int32_t block =
      open_between(pass, kNone, where(needed, number(blocks), none), blocks,
                   static_cast<double>(std::max<std::int64_t>(1, concrete(in_, blocks))));
  const Range keys =
      range_of_block(k_.loops[block].var, extent, node(folds_->of.scores).shape.back(), most);
  const Val now = apply(OpId::LogicalXor, DType::Bool, counts_at_once(b, keys, block), again);
  const std::int32_t once = open_between(block, kNone, cast(now, DType::Int64), ex_.one(), 1);
  add_block(queries, b, keys, once);
  close(once);
  close(block);
  close(pass);
}

std::int32_t Lowering::open_rows(const RowBlock& b, std::int32_t ctx) {
  const Node& p = node(region_.product);
  return open_between(ctx, b.first, b.last, ex_.constant(folds_->height),
                      static_cast<double>(p.shape[p.shape.size() - 2]));
}

Val Lowering::load_row(std::int32_t local, std::int32_t row) {
  Inst i{Op::LoadLocal, k_.locals[local].dtype, OpId::Count_, local};
  i.access = access(
      {{}, {{k_.loops[row].var, {1, ir::kNoParam}}, {folds_->first_row, {-1, ir::kNoParam}}}});
  return push(i, row);
}

void Lowering::store_row(std::int32_t local, std::int32_t row, Val v) {
  push_store_local(
      local,
      {{}, {{k_.loops[row].var, {1, ir::kNoParam}}, {folds_->first_row, {-1, ir::kNoParam}}}}, v,
      row);
}

void Lowering::start_rows(const RowBlock& b) {
  const BlockFolds& s = *folds_;
  const std::int32_t row = open_rows(b, b.ctx);
  for (std::size_t f = 0; f < s.folds.size(); ++f) {
    const Node& n = node(s.of.folds[f].node);
    const bool sum = n.reduce == ReduceKind::Sum;
    store_row(
        s.folds[f].value, row,
        sum ? zero(n.dtype) : constant(plait::cast(fold_identity(n.reduce, n.dtype), n.dtype)));
  }
  for (std::size_t h = 0; h < s.shifts.size(); ++h)
    if (s.of.fold(s.of.shifts[h].row) < 0)
      store_row(s.shifts[h].row, row, constant(lowest(node(s.of.shifts[h].row).dtype)));
  close(row);
  scale_rows(b, b.ctx, true);
}

// The rows of the second product, by their factors; from zero at the start.
void Lowering::scale_rows(const RowBlock& b, std::int32_t ctx, bool start) {
  const Node& p = node(region_.product);
  if (!start && folds_->of.scaling.shifts.empty()) return;
  const std::int32_t row = open_rows(b, ctx);
  const std::int32_t column =
      open(row, ex_.source({region_.product, Field::Shape, p.shape.size() - 1}));
  const Access a{{},
                 {{k_.loops[row].var, coeff(tile_.c_row)},
                  {b.first, coeff(ex_.mul(tile_.c_row, ex_.constant(-1)))},
                  {k_.loops[column].var, {1, ir::kNoParam}}}};
  const DType t = k_.locals[tile_.c].dtype;
  Val v = zero(t);
  if (!start) {
    Inst i{Op::LoadLocal, t, OpId::Count_, tile_.c};
    i.access = access(a);
    v = growth(folds_->of.scaling, push(i, column), row);
  }
  push_store_local(tile_.c, a, v, column);
  close(column);
  close(row);
}

// The value, by the factors of what it is homogeneous in.
Val Lowering::growth(const Attention::Scaling& of, Val v, std::int32_t row) {
  for (const int h : of.shifts) {
    const DType t = k_.insts[v].type;
    v = apply(OpId::Multiply, t, v, cast(load_row(folds_->shifts[h].factor, row), t));
  }
  return v;
}

void Lowering::fold_block(const RowBlock& b, const Range& keys, bool first, std::int32_t ctx) {
  BlockFolds& s = *folds_;
  s.stage = first ? BlockFolds::Compare : BlockFolds::Weigh;
  const DType t = node(region_.product).dtype;
  const bool rare = t != DType::Float16;  // weights below the normal ones
  const Val least =
      !first && rare && s.of.peaks_at_one && !s.lone ? least_weight(b, keys, ctx) : kNone;
  const std::int32_t row = s.scores.rows = open_rows(b, ctx);
  const std::int32_t column = s.scores.columns = open_range(row, keys);
  Index idx = b.batch;
  idx[idx.size() - 2].loop = row;
  idx.back().loop = column;
  std::vector<Reduction> folded;
  std::vector<std::size_t> which;
  for (std::size_t f = 0; f < s.folds.size(); ++f) {
    if (s.of.folds[f].first != first) continue;
    const Node& n = node(s.of.folds[f].node);
    Val v = operand_value(s.of.folds[f].node, idx, column);
    if (def_loop_[v] != column)
      v = push({Op::Cast, n.dtype, OpId::Count_, 0, {v, kNone, kNone}}, column);
    const bool sum = n.reduce == ReduceKind::Sum;
    folded.push_back({n.reduce, v, sum ? ir::Order::Pairwise : ir::Order::Any});
    which.push_back(f);
  }
  const std::int32_t kept = first ? s.of.replacement : s.of.weights;
  if (kept >= 0) {
    const std::int32_t to = first ? s.scores.c : s.weights;
    const DType stored = k_.locals[to].dtype;
    Val v = emit(kept, idx, column);
    if (least != kNone)
      v = apply(OpId::Where, t, apply(OpId::Less, DType::Bool, v, least), zero(t), v);
    v = cast(v, stored);
    if (def_loop_[v] != column)
      v = push({Op::Cast, stored, OpId::Count_, 0, {v, kNone, kNone}}, column);
    push_store_local(to, score_access(row, column), v, column);
  }
  k_.loops[column].reductions = folded;
  const Val reduce = close(column);
  for (std::size_t i = 0; i < which.size(); ++i) {
    const BlockFolds::Fold& f = s.folds[which[i]];
    const DType of = k_.locals[f.value].dtype;
    const Val result = push(
        {Op::Result, of, OpId::Count_, static_cast<std::int32_t>(i), {reduce, kNone, kNone}}, row);
    store_row(first ? f.next : f.value, row,
              apply(reduce_info(folded[i].kind).combine, of, load_row(f.value, row), result));
  }
  close(row);
}

// Where all of a row has been -inf, nothing is subtracted from it, so that what is left out is 0
// and not NaN.
Val Lowering::shift_of(Val maximum) {
  const DType t = k_.insts[maximum].type;
  const Val none = apply(OpId::Equal, DType::Bool, maximum, constant(lowest(t)));
  return apply(OpId::Where, t, none, zero(t), maximum);
}

void Lowering::rescale_rows(const RowBlock& b, std::int32_t ctx) {
  BlockFolds& s = *folds_;
  s.stage = BlockFolds::Rescale;
  const std::int32_t row = s.rows = open_rows(b, ctx);
  for (std::size_t h = 0; h < s.shifts.size(); ++h) {
    const Attention::Shift& of = s.of.shifts[h];
    const DType t = node(of.row).dtype;
    const Val before = load_row(s.shifts[h].row, row),
              now = emit(of.row, row_index(of.row, row), row), shift = shift_of(now);
    Val grown = apply(OpId::Subtract, t, before, shift);
    if (of.scale >= 0)
      grown =
          apply(of.scaled_by, t, grown, emit(of.scale, Index(node(of.scale).shape.size()), row));
    const DType wide = factors_in(t);
    Val factor = apply(of.exponential, wide, cast(grown, wide));
    // The scale may be negative, and the row value larger than the maximum: what a row of -inf has
    // summed so far is final.
    const std::int32_t maximum = s.folds[of.maximum].value;
    if (of.scale >= 0 || maximum != s.shifts[h].row)
      factor = apply(OpId::Where, wide,
                     apply(OpId::Equal, DType::Bool, load_row(maximum, row), constant(lowest(t))),
                     constant(plait::cast(scalar_float(1), wide)), factor);
    store_row(s.shifts[h].subtracted, row, shift);
    store_row(s.shifts[h].factor, row, factor);
    if (maximum != s.shifts[h].row) store_row(s.shifts[h].row, row, now);
  }
  for (std::size_t f = 0; f < s.folds.size(); ++f)
    if (s.of.folds[f].first)
      store_row(s.folds[f].value, row, load_row(s.folds[f].next, row));
    else if (!s.of.folds[f].scaling.shifts.empty())
      store_row(s.folds[f].value, row,
                growth(s.of.folds[f].scaling, load_row(s.folds[f].value, row), row));
  close(row);
  scale_rows(b, ctx, false);
}

// Beside a weight of 1, subnormal ones are nothing, and slow to multiply: they are 0, but where an
// infinity stands against them.
Val Lowering::least_weight(const RowBlock& b, const Range& keys, std::int32_t ctx) {
  const DType t = node(region_.product).dtype;
  return apply(OpId::Where, t, any_infinite(b, keys, ctx), zero(t), constant(least_normal(t)));
}

void Lowering::multiply_weights(const RowBlock& b, const Range& keys, std::int32_t ctx) {
  const BlockFolds& s = *folds_;
  const Node& p = node(region_.product);
  const std::int64_t width = p.shape.back();
  const ExprId columns = ex_.source({region_.product, Field::Shape, p.shape.size() - 1});
  const Range across{constant(scalar_int(0)), number(columns), width, columns,
                     static_cast<double>(width)};
  ir::Fragment m;
  m.b = pack_columns(g_[region_.product].in[1], b.batch, keys, across, ctx);
  m.a = {s.weights, access({}), 1, coeff(s.scores.c_row), {1}};
  m.local = tile_.c;
  m.access = access({});
  m.row = coeff(tile_.c_row);
  m.block = constant(scalar_int(1));  // added to what is there
  push_product(m, integer(OpId::Subtract, b.last, b.first),
               integer(OpId::Subtract, across.end, across.begin), keys, ctx);
}

// The sum of a row whose maximum is subtracted and infinite is NaN: of what was left out, too.
Val Lowering::not_a_number(const Attention::Scaling& of, Val v, std::int32_t row) {
  for (const int h : of.shifts) {
    const std::int32_t largest = folds_->folds[folds_->of.shifts[h].maximum].value;
    const Val r = load_row(folds_->shifts[h].row, row);
    const DType t = k_.insts[r].type;
    Val d = apply(OpId::Subtract, t, r, r);
    if (largest != folds_->shifts[h].row)
      d = apply(OpId::Where, t, apply(OpId::Equal, DType::Bool, load_row(largest, row), r), d,
                zero(t));
    v = apply(OpId::Add, k_.insts[v].type, v, cast(d, k_.insts[v].type));
  }
  return v;
}

Val Lowering::with_deferred(const Attention::Scaling& of, Val v, std::int32_t row) {
  for (const Attention::Factor& f : of.deferred) {
    const DType t = k_.insts[v].type;
    const Val r = emit(f.row, row_index(f.row, row), row);
    const DType of = k_.insts[r].type, u = itemsize(of) < itemsize(t) ? t : of;
    switch (f.fn) {
      case OpId::Multiply:
      case OpId::Divide:
        v = cast(apply(f.fn, u, cast(v, u), cast(r, u)), t);
        break;
      case OpId::Where:
        v = apply(f.fn, t, r, f.inverted ? zero(t) : v, f.inverted ? v : zero(t));
        break;
      case OpId::Isfinite:
        v = apply(OpId::Where, t,
                  apply(OpId::LogicalAnd, DType::Bool, apply(f.fn, DType::Bool, r),
                        apply(OpId::NotEqual, DType::Bool, r, zero(of))),
                  v, zero(t));
        break;
      default:
        v = cast(apply(OpId::Multiply, u, cast(v, u),
                       apply(f.fn, u, apply(OpId::Negative, u, cast(r, u)))),
                 t);
    }
  }
  return v;
}

void Lowering::finish_rows(const RowBlock& b) {
  BlockFolds& s = *folds_;
  s.stage = BlockFolds::Finish;
  const std::int32_t row = s.rows = open_rows(b, b.ctx);
  for (std::size_t f = 0; f < s.folds.size(); ++f)
    if (const Attention::Scaling& of = s.of.folds[f].scaling;
        !of.shifts.empty() || !of.deferred.empty()) {
      const Val v = not_a_number(of, load_row(s.folds[f].value, row), row);
      store_row(s.folds[f].value, row, with_deferred(of, v, row));
    }
  close(row);
}

Access Lowering::score_access(std::int32_t row, std::int32_t column) {
  const Tile& t = folds_->scores;
  return {{},
          {{k_.loops[row].var, coeff(t.c_row)},
           {t.first_row, coeff(ex_.mul(t.c_row, ex_.constant(-1)))},
           {k_.loops[column].var, {1, ir::kNoParam}},
           {t.first_column, {-1, ir::kNoParam}}}};
}

// Whether it shows row values that change here: memory that has them has the last.
bool Lowering::is_row_value(std::int32_t id) const {
  if (!folds_) return false;
  id = in_.canon[id];
  if (folds_->of.rows.count(id)) return true;
  return !g_[id].leaf && node(id).kind == NodeKind::View && g_[id].map &&
         is_row_value(g_[id].in[0]);
}

// Where a row value is that of a loop over rows.
Index Lowering::row_index(std::int32_t id, std::int32_t row) const {
  Index idx = tile_.batch;
  idx[idx.size() - 2].loop = row;
  idx.back() = {};
  return broadcast(id, Index(idx.begin(), idx.begin() + node(id).shape.size()));
}

Val Lowering::block_value(std::int32_t id, const Index& idx, std::int32_t ctx) {
  if (!folds_) return kNone;
  const BlockFolds& s = *folds_;
  const bool weigh = s.stage == BlockFolds::Weigh, finish = s.stage == BlockFolds::Finish;
  if (const auto u = s.of.undivided.find(id); weigh && u != s.of.undivided.end())
    return emit(g_[id].in[u->second], idx, ctx);
  const auto shift = s.of.shifted_by.find(id);
  const int fold = s.of.fold(id);
  const bool shifts = weigh && shift != s.of.shifted_by.end();
  const bool score = id == s.of.scores || (weigh && id == s.of.replacement);
  if (!shifts && fold < 0 && !score)
    return s.of.rows.count(id) ? compute_node(id, g_[id], node(id), idx, ctx) : kNone;
  const bool blocks = weigh || s.stage == BlockFolds::Compare;
  const std::int32_t row = blocks ? s.scores.rows : tile_.rows >= 0 ? tile_.rows : s.rows;
  Index here;
  if (score) {
    here = tile_.batch;
    here[here.size() - 2].loop = row;
    here.back().loop = s.scores.columns;
  } else {
    here = row_index(id, row);
  }
  if (row < 0 || !at_index(id, idx, here) || (score && finish)) {
    if (in_.in_memory[id]) return kNone;
    need(id, "it is read beyond its own rows");
    return zero(node(id).dtype);
  }
  if (shifts) return load_row(s.shifts[shift->second].subtracted, row);
  if (fold >= 0) {
    const bool next = s.stage == BlockFolds::Rescale && s.folds[fold].next >= 0;
    return load_row(next ? s.folds[fold].next : s.folds[fold].value, row);
  }
  Inst i{Op::LoadLocal, k_.locals[s.scores.c].dtype, OpId::Count_, s.scores.c};
  i.access = access(score_access(row, s.scores.columns));
  return cast(push(i, s.scores.columns), node(id).dtype);
}

// A row of the second product, as its readers find it.
Val Lowering::finished(Val v, std::int32_t) {
  if (!folds_) return v;
  const Attention& a = folds_->of;
  v = with_deferred(a.scaling, v, tile_.rows);
  return a.divided ? v : not_a_number(a.scaling, v, tile_.rows);
}

}  // namespace plait::fusion
