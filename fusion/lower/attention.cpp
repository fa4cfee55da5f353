// An attention as a region: the grid runs over blocks of rows, as a product's does. A block of
// scores after another is multiplied into scratch; the rows of the second product and the folds of
// the scores are carried from block to block, and rescaled where a maximum grows. Deferred factors
// of the rows come last.
#include <limits>

#include "fusion/schedule/product_region.hpp"
#include "lowering.hpp"

namespace plait::fusion {
using namespace ir;
using tracer::NodeKind;

namespace {

Scalar lowest(DType t) {
  return plait::cast(scalar_float(-std::numeric_limits<double>::infinity()), t);
}

// What factors that rescale sums, and comparisons of weights, are computed in.
DType factors_in(DType t) { return itemsize(t) < 4 ? DType::Float32 : t; }

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
  const std::int32_t scores = s.of.scores;
  const int row = s.of.row_axis(g_), column = s.of.column_axis(g_), batch = std::min(row, column);
  for (const auto& [n, bits] : s.of.numbers)
    in_.facts.equal(ex_.source({n, Field::Value}), ex_.constant(bits));
  s.lone = in_.facts.equal(ex_.source({id, Field::Shape, row}), ex_.one());
  const std::int64_t most = in_.target.product_depth;
  s.rows = block_of_lines(id, row, 1, s.lone ? 1 : attention_rows(g_, s.of, most));
  s.keys = lines(s.of.weighing(g_), column, 1);
  s.keys.most = ex_.constant(most);
  tile_.whole = true;
  const std::int32_t ctx = open_block(s.rows, nullptr);
  const std::int32_t queries = g_[scores].in[s.of.queries];
  const int at = batch + s.of.queries, sums_at = batch + 1 - s.of.queries;
  s.queries = pack_lines(queries, multiplied(scores, s.of.queries), s.rows, at,
                         lines(queries, sums_at, 1), sums_at, ctx, false);

  const DType sums = fragment_sums(product_types(p)),
              score_sums = fragment_sums(product_types(node(scores)));
  const ExprId apart =
      ex_.constant(in_.target.blocks.apart / static_cast<std::int64_t>(itemsize(sums)));
  const ExprId height = lines_in_block(s.rows);
  tile_.row = ex_.add(ex_.source({id, Field::Shape, column}), apart);
  for (const std::int32_t of : s.of.products)
    tile_.locals[of] = scratch({of, "a block of rows", "it is summed from block to block of keys"},
                               sums, ex_.mul(height, tile_.row), ctx);
  s.score_row = ex_.add(ex_.constant(most), apart);
  const ExprId block = ex_.mul(height, s.score_row);
  s.scores = scratch({scores, "a block of rows and keys", "rows of it are folded and multiplied"},
                     score_sums, block, ctx);
  s.weights = s.scores;
  if (const DType t = multiplied(id, s.of.side); t != score_sums)
    s.weights =
        scratch({s.of.weights, "a block of rows and keys", "rows of a product"}, t, block, ctx);
  const auto of_rows = [&](std::int32_t of, DType t) {
    return scratch({of, "a block of rows", "it grows from block to block of keys"}, t, height, ctx);
  };
  for (const Attention::Fold& f : s.of.folds) {
    const DType t = node(f.node).dtype;
    s.folds.push_back({of_rows(f.node, t), f.first ? of_rows(f.node, t) : -1});
  }
  for (const Attention::Shift& h : s.of.shifts) {
    const int f = s.of.fold(h.row);
    const DType t = node(h.row).dtype;
    s.shifts.push_back({f >= 0 ? s.folds[f].value : of_rows(h.row, t), of_rows(h.row, t),
                        of_rows(h.row, factors_in(t))});
  }
  for (const Attention::Factor& f : s.of.masks) s.shown.push_back(of_rows(f.row, DType::Bool));
  start_rows(ctx);
  if (s.of.mask < 0) {
    std::vector<std::int32_t> opened;
    add_block(open_blocks(s.keys, ctx, opened));
    close_all(opened);
  } else {
    add_masked_blocks(ctx);
  }
  finish_rows(ctx);
  store_block(s.rows, lines(id, column, 1), ctx);
  close_grid(ctx);
  for (const std::int32_t of : s.of.products) count_fragments(node(of));
  count_fragments(node(scores));
}

void Lowering::add_block(std::int32_t ctx) {
  const BlockFolds& s = *folds_;
  s.lone ? score_keys(ctx) : multiply_queries(ctx);
  if (!s.of.shifts.empty()) {
    fold_block(true, ctx);
    rescale_rows(ctx);
  }
  fold_block(false, ctx);
  for (const std::int32_t of : s.of.products)
    s.lone ? add_values(of, ctx) : multiply_weights(of, ctx);
}

Val Lowering::load_local(std::int32_t local, Access at, std::int32_t ctx) {
  Inst i{Op::LoadLocal, k_.locals[local].dtype, OpId::Count_, local};
  i.access = access(std::move(at));
  return push(i, ctx);
}

Val Lowering::load_row(std::int32_t local) {
  Access at;
  add_terms(at, folds_->rows, tile_.own, ex_.one());
  return load_local(local, std::move(at), tile_.rows);
}

void Lowering::store_row(std::int32_t local, Val v) {
  Access at;
  add_terms(at, folds_->rows, tile_.own, ex_.one());
  push_store_local(local, std::move(at), v, tile_.rows);
}

void Lowering::start_rows(std::int32_t ctx) {
  const BlockFolds& s = *folds_;
  const std::vector<std::int32_t> rows = open_rows_of(s.rows, s.keys, ctx);
  for (std::size_t f = 0; f < s.folds.size(); ++f) {
    const Node& n = node(s.of.folds[f].node);
    store_row(s.folds[f].value,
              n.reduce == ReduceKind::Sum
                  ? zero(n.dtype)
                  : constant(plait::cast(fold_identity(n.reduce, n.dtype), n.dtype)));
  }
  for (std::size_t h = 0; h < s.shifts.size(); ++h) {
    const DType t = node(s.of.shifts[h].row).dtype;
    if (s.of.fold(s.of.shifts[h].row) < 0) store_row(s.shifts[h].row, constant(lowest(t)));
    if (s.of.mask >= 0) store_row(s.shifts[h].subtracted, zero(t));
  }
  for (const std::int32_t shown : s.shown) store_row(shown, zero(DType::Bool));
  close_all(rows);
  scale_rows(ctx, true);
}

// The rows of the second product, by their factors; from zero at the start.
void Lowering::scale_rows(std::int32_t ctx, bool start) {
  const Attention& a = folds_->of;
  if (!start && a.scaling.shifts.empty()) return;
  const std::vector<std::int32_t> rows =
      open_rows_of(folds_->rows, lines(a.product, a.column_axis(g_), 1), ctx);
  const std::vector<std::int32_t> columns = open_columns_of_block();
  for (const std::int32_t of : a.products) {
    const std::int32_t sums = tile_.locals.at(of);
    const Val v = start ? zero(k_.locals[sums].dtype)
                        : growth(a.scaling, load_local(sums, place_in_block(), tile_.columns));
    push_store_local(sums, place_in_block(), v, tile_.columns);
  }
  close_all(columns);
  close_all(rows);
}

// The value, by the factors of what it is homogeneous in.
Val Lowering::growth(const Attention::Scaling& of, Val v) {
  for (const int h : of.shifts) {
    const DType t = k_.insts[v].type;
    v = apply(OpId::Multiply, t, v, cast(load_row(folds_->shifts[h].factor), t));
  }
  return v;
}

void Lowering::fold_block(bool first, std::int32_t ctx) {
  BlockFolds& s = *folds_;
  s.stage = first ? BlockFolds::Compare : BlockFolds::Weigh;
  const DType weight = node(s.of.weights).dtype, t = factors_in(weight);
  // Beside a weight of 1, subnormal ones are nothing, and slow to multiply: they are 0, but where
  // an infinity stands against them.
  Val least = kNone;
  if (!first && s.of.peaks_at_one && !s.lone && weight != DType::Float16)
    least = apply(OpId::Where, t, any_infinite(s.keys, ctx), zero(t), constant(least_normal(t)));
  const std::vector<std::int32_t> rows = open_rows_of(s.rows, s.keys, ctx);
  open_columns_of_block();
  const std::int32_t column = tile_.columns;
  const auto in_column = [&](Val v, DType of) {
    if (def_loop_[v] == column) return v;
    return push({Op::Cast, of, OpId::Count_, 0, {v, kNone, kNone}}, column);
  };
  std::vector<Reduction> folded;
  std::vector<std::pair<std::int32_t, std::int32_t>> into;  // the rows that each is added to
  for (std::size_t f = 0; f < s.folds.size(); ++f) {
    if (s.of.folds[f].first != first) continue;
    const Node& n = node(s.of.folds[f].node);
    const Val v = in_column(operand_value(s.of.folds[f].node, between(), column), n.dtype);
    const bool sum = n.reduce == ReduceKind::Sum;
    folded.push_back({n.reduce, v, sum ? ir::Order::Pairwise : ir::Order::Any});
    into.emplace_back(s.folds[f].value, first ? s.folds[f].next : s.folds[f].value);
  }
  for (std::size_t m = 0; !first && m < s.shown.size(); ++m) {
    const Attention::Factor& f = s.of.masks[m];
    Val v = emit(f.row, broadcast(f.row, between()), column);
    if (f.inverted) v = apply(OpId::LogicalNot, DType::Bool, v);
    folded.push_back({ReduceKind::Any, in_column(v, DType::Bool)});
    into.emplace_back(s.shown[m], s.shown[m]);
  }
  if (const std::int32_t kept = first ? s.of.replacement : s.of.weights; kept >= 0) {
    Val v = emit(kept, between(), column);
    if (least != kNone)
      v = apply(OpId::Where, weight, apply(OpId::Less, DType::Bool, cast(v, t), least),
                zero(weight), v);
    const std::int32_t to = first ? s.scores : s.weights;
    const DType stored = k_.locals[to].dtype;
    push_store_local(to, place_of_score(), in_column(cast(v, stored), stored), column);
  }
  k_.loops[column].reductions = folded;
  const Val reduce = close(column);
  for (std::size_t i = 0; i < into.size(); ++i) {
    const auto& [before, now] = into[i];
    const DType of = k_.locals[before].dtype;
    const Val result =
        push({Op::Result, of, OpId::Count_, static_cast<std::int32_t>(i), {reduce, kNone, kNone}},
             tile_.rows);
    store_row(now, apply(reduce_info(folded[i].kind).combine, of, load_row(before), result));
  }
  close_all(rows);
}

// Where all of a row has been -inf, nothing is subtracted from it, so that what is left out is 0
// and not NaN.
Val Lowering::shift_of(Val maximum) {
  const DType t = k_.insts[maximum].type;
  const Val none = apply(OpId::Equal, DType::Bool, maximum, constant(lowest(t)));
  return apply(OpId::Where, t, none, zero(t), maximum);
}

void Lowering::rescale_rows(std::int32_t ctx) {
  BlockFolds& s = *folds_;
  s.stage = BlockFolds::Rescale;
  const std::vector<std::int32_t> rows = open_rows_of(s.rows, s.keys, ctx);
  for (std::size_t h = 0; h < s.shifts.size(); ++h) {
    const Attention::Shift& of = s.of.shifts[h];
    const DType t = node(of.row).dtype;
    const Val before = load_row(s.shifts[h].row), now = emit(of.row, row_index(of.row), tile_.rows),
              shift = shift_of(now);
    Val grown = apply(OpId::Subtract, t, before, shift);
    if (of.scale >= 0)
      grown = apply(of.scaled_by, t, grown,
                    emit(of.scale, Index(node(of.scale).extents.size()), tile_.rows));
    const DType wide = factors_in(t);
    Val factor = apply(of.exponential, wide, cast(grown, wide));
    // The scale may be negative, and the row value larger than the maximum: what a row of -inf has
    // summed so far is final.
    const std::int32_t maximum = s.folds[of.maximum].value;
    if (of.scale >= 0 || maximum != s.shifts[h].row)
      factor = apply(OpId::Where, wide,
                     apply(OpId::Equal, DType::Bool, load_row(maximum), constant(lowest(t))),
                     constant(plait::cast(scalar_float(1), wide)), factor);
    store_row(s.shifts[h].subtracted, shift);
    store_row(s.shifts[h].factor, factor);
    if (maximum != s.shifts[h].row) store_row(s.shifts[h].row, now);
  }
  for (std::size_t f = 0; f < s.folds.size(); ++f)
    if (s.of.folds[f].first)
      store_row(s.folds[f].value, load_row(s.folds[f].next));
    else if (!s.of.folds[f].scaling.shifts.empty())
      store_row(s.folds[f].value, growth(s.of.folds[f].scaling, load_row(s.folds[f].value)));
  close_all(rows);
  scale_rows(ctx, false);
}

void Lowering::multiply_queries(std::int32_t ctx) {
  const BlockFolds& s = *folds_;
  const std::int32_t keys = s.of.keys(g_);
  const int batch = node(keys).extents.size() - 2, columns_at = batch + 1 - s.of.queries,
            sums_at = batch + s.of.queries;
  Lines sums = block_of_lines(keys, sums_at, 1, in_.target.product_depth);
  std::vector<std::int32_t> opened;
  ctx = open_blocks(sums, ctx, opened);
  multiply_rows(panels(s.queries, {{}, {{sums.begin, coeff(s.queries.sum)}}}), keys,
                multiplied(s.of.scores, 1 - s.of.queries), s.keys, columns_at, sums, sums_at,
                s.scores, s.score_row, sums.begin, ctx);
  close_all(opened);
}

// Added to what is there.
void Lowering::multiply_weights(std::int32_t product, std::int32_t ctx) {
  const BlockFolds& s = *folds_;
  const std::int32_t values = s.of.values(g_, product);
  const int column = s.of.column_axis(g_);
  multiply_rows(panels({s.weights, s.score_row, ex_.one()}), values,
                multiplied(product, 1 - s.of.side), lines(values, column, 1), column, s.keys,
                s.of.row_axis(g_), tile_.locals.at(product), tile_.row, constant(scalar_int(1)),
                ctx);
}

// Rows that are in scratch, by the lines of an operand, at these sums; from zero where they are the
// first.
void Lowering::multiply_rows(const Panels& rows, std::int32_t operand, DType as,
                             const Lines& columns, int columns_at, const Lines& sums, int sums_at,
                             std::int32_t to, ExprId row, Val first, std::int32_t ctx) {
  const Packed b = pack_lines(operand, as, columns, columns_at, sums, sums_at, ctx, true);
  ir::Fragment m;
  m.a = rows;
  m.b = panels(b, {}, true);
  m.local = to;
  m.access = access({});
  m.row = coeff(row);
  m.block = first;
  push_product(m, lines_now(folds_->rows), lines_now(columns), lines_now(sums), ctx);
}

// The sum of a row whose maximum is subtracted and infinite is NaN: of what was left out, too.
Val Lowering::not_a_number(const Attention::Scaling& of, Val v) {
  for (const int h : of.shifts) {
    const std::int32_t largest = folds_->folds[folds_->of.shifts[h].maximum].value;
    const Val r = load_row(folds_->shifts[h].row);
    const DType t = k_.insts[r].type;
    Val d = apply(OpId::Subtract, t, r, r);
    if (largest != folds_->shifts[h].row)
      d = apply(OpId::Where, t, apply(OpId::Equal, DType::Bool, load_row(largest), r), d, zero(t));
    v = apply(OpId::Add, k_.insts[v].type, v, cast(d, k_.insts[v].type));
  }
  return v;
}

// What a row of zeros is multiplied to: NaN where a value is not finite. Only those are read.
Val Lowering::hidden_sum(Val shown, std::int32_t product, const Index& at, DType t) {
  if (product < 0) return zero(t);
  const Attention& a = folds_->of;
  const std::int32_t values = a.values(g_, product);
  Lines keys = lines(a.weighing(g_), a.column_axis(g_), 1);
  keys.end = number(keys.most);
  keys.begin = apply(OpId::Where, DType::Int64, shown, keys.end, constant(scalar_int(0)));
  std::vector<std::int32_t> opened;
  const std::int32_t key = open_lines(keys, std::max(tile_.rows, innermost(at)), opened);
  Index idx = at;
  idx[static_cast<std::size_t>(a.row_axis(g_))] = {key};
  const Val v = cast(emit(values, broadcast(values, idx), key), t);
  k_.loops[key].reductions.push_back(
      {ReduceKind::Sum, apply(OpId::Multiply, t, v, zero(t)), ir::Order::Pairwise});
  const std::int32_t ctx = parent_[key];
  return push({Op::Result, t, OpId::Count_, 0, {close(key), kNone, kNone}}, ctx);
}

Val Lowering::with_deferred(const Attention::Scaling& of, Val v, std::int32_t product,
                            const Index& at) {
  const BlockFolds& s = *folds_;
  for (const Attention::Factor& f : of.deferred) {
    const DType t = k_.insts[v].type;
    const auto mask = std::find(s.of.masks.begin(), s.of.masks.end(), f);
    const Val r = mask == s.of.masks.end()
                      ? emit(f.row, row_index(f.row), tile_.rows)
                      : load_row(s.shown[static_cast<std::size_t>(mask - s.of.masks.begin())]);
    const DType of_row = k_.insts[r].type, u = itemsize(of_row) < itemsize(t) ? t : of_row;
    switch (f.fn) {
      case OpId::Multiply:
      case OpId::Divide:
        v = cast(apply(f.fn, u, cast(v, u), cast(r, u)), t);
        break;
      case OpId::LogicalOr:
      case OpId::Where:
      case OpId::Isfinite: {
        Val shown = r;
        if (f.fn == OpId::Isfinite)
          shown = apply(OpId::LogicalAnd, DType::Bool, apply(f.fn, DType::Bool, r),
                        apply(OpId::NotEqual, DType::Bool, r, zero(of_row)));
        else if (f.fn == OpId::Where && f.inverted)
          shown = apply(OpId::LogicalNot, DType::Bool, r);
        v = apply(OpId::Where, t, shown, v, hidden_sum(shown, product, at, t));
        break;
      }
      default:
        v = cast(apply(OpId::Multiply, u, cast(v, u),
                       apply(f.fn, u, apply(OpId::Negative, u, cast(r, u)))),
                 t);
    }
  }
  return v;
}

void Lowering::finish_rows(std::int32_t ctx) {
  BlockFolds& s = *folds_;
  s.stage = BlockFolds::Finish;
  const std::vector<std::int32_t> rows = open_rows_of(s.rows, s.keys, ctx);
  for (std::size_t f = 0; f < s.folds.size(); ++f)
    if (const Attention::Scaling& of = s.of.folds[f].scaling;
        !of.shifts.empty() || !of.deferred.empty())
      store_row(s.folds[f].value, with_deferred(of, not_a_number(of, load_row(s.folds[f].value))));
  close_all(rows);
}

Access Lowering::place_of_score() {
  Access at;
  add_terms(at, folds_->rows, tile_.own, folds_->score_row);
  add_terms(at, folds_->keys, tile_.own, ex_.one());
  return at;
}

// Whether it shows row values that change here: memory that has them has the last.
bool Lowering::is_row_value(std::int32_t id) const {
  if (!folds_) return false;
  id = in_.canon[id];
  if (folds_->of.rows.count(id)) return true;
  return !g_[id].leaf && node(id).kind == NodeKind::View && g_[id].map &&
         is_row_value(g_[id].in[0]);
}

// The index of the values between the products, at the row, and the key, whose loops are open.
const Index& Lowering::between() {
  BlockFolds& s = *folds_;
  const std::int32_t weights = s.of.weighing(g_);
  if (s.own_rows != tile_.rows)
    s.own =
        broadcast(s.of.weights,
                  in_.canon[weights] == s.of.weights ? tile_.own : view_index(weights, tile_.own));
  s.own_rows = tile_.rows;
  s.own[static_cast<std::size_t>(s.of.axis)] =
      tile_.own[static_cast<std::size_t>(s.of.column_axis(g_))];
  return s.own;
}

// Where a row value is that of the row whose loops are open.
Index Lowering::row_index(std::int32_t id) {
  Index idx = between();
  const auto axis = idx.begin() + folds_->of.axis;
  *axis = {};
  if (static_cast<std::size_t>(node(id).extents.size()) < idx.size()) idx.erase(axis);
  return broadcast(id, idx);
}

Val Lowering::block_value(std::int32_t id, const Index& idx, std::int32_t ctx) {
  if (!folds_) return kNone;
  const BlockFolds& s = *folds_;
  const bool hidden = s.stage == BlockFolds::Hidden, weigh = s.stage == BlockFolds::Weigh || hidden;
  if (hidden && node(id).kind == NodeKind::Elementwise && node(id).fn == OpId::Where &&
      in_.canon[g_[id].in[0]] == s.of.mask) {
    const std::int32_t fill = g_[id].in[s.of.inverted ? 1 : 2];
    return emit(fill, broadcast(fill, idx), ctx);
  }
  if (const auto u = s.of.undivided.find(id); weigh && u != s.of.undivided.end())
    return emit(g_[id].in[u->second], idx, ctx);
  const auto shift = s.of.shifted_by.find(id);
  const int fold = s.of.fold(id);
  const bool shifts = weigh && shift != s.of.shifted_by.end();
  const bool score = id == s.of.scored || (weigh && !hidden && id == s.of.replacement);
  if (!shifts && fold < 0 && !score)
    return s.of.rows.count(id) ? compute_node(id, g_[id], node(id), idx, ctx) : kNone;
  if (tile_.rows < 0 || (score && s.stage == BlockFolds::Finish) ||
      !at_index(id, idx, score ? between() : row_index(id))) {
    if (in_.in_memory[id]) return kNone;
    need(id, "it is read beyond its own rows");
    return zero(node(id).dtype);
  }
  if (score) return cast(load_local(s.scores, place_of_score(), tile_.columns), node(id).dtype);
  if (shifts && hidden) {
    const Attention::Shift& of = s.of.shifts[shift->second];
    const std::int32_t compared = g_[s.of.folds[of.maximum].node].in[0];
    return apply(OpId::Maximum, node(of.row).dtype, load_row(s.shifts[shift->second].subtracted),
                 emit(compared, between(), tile_.rows));
  }
  if (shifts) return load_row(s.shifts[shift->second].subtracted);
  const bool next = s.stage == BlockFolds::Rescale && s.folds[fold].next >= 0;
  return load_row(next ? s.folds[fold].next : s.folds[fold].value);
}

// A row of the second product, as its readers find it.
Val Lowering::finished(Val v, std::int32_t product, const Index& at) {
  if (!folds_) return v;
  const Attention& a = folds_->of;
  v = with_deferred(a.scaling, v, product, at);
  return a.divided ? v : not_a_number(a.scaling, v);
}

}  // namespace plait::fusion
