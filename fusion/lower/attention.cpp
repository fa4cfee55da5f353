#include "attention_nest.hpp"

#include <limits>

#include "fusion/schedule/product_region.hpp"

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

void AttentionNest::build() {
  const std::int32_t id = region_.product;
  const Node& p = node(id);
  const std::int32_t scores = of_.scores;
  const int row = of_.row_axis(g_), column = of_.column_axis(g_), batch = std::min(row, column);
  for (const auto& [n, bits] : of_.numbers)
    in_.facts.equal(ex_.source({n, Field::Value}), ex_.constant(bits));
  single_query_ = in_.facts.equal(ex_.source({id, Field::Shape, row}), ex_.one());
  const std::int64_t most = in_.target.product_depth;
  rows_ = AxisTile::block(nest_, id, row, 1, single_query_ ? 1 : attention_rows(g_, of_, most));
  keys_ = AxisTile(nest_, of_.weighing(g_), column, 1);
  keys_.most = ex_.constant(most);
  tile_.whole = true;
  const std::int32_t ctx = open_block(rows_, nullptr);
  const std::int32_t queries = g_[scores].in[of_.queries];
  const int at = batch + of_.queries, sums_at = batch + 1 - of_.queries;
  queries_ = pack_lines(queries, multiplied(scores, of_.queries), rows_, at,
                        AxisTile(nest_, queries, sums_at, 1), sums_at, ctx, false);

  const DType sums = fragment_sums(product_types(p)),
              score_sums = fragment_sums(product_types(node(scores)));
  const ExprId padding = row_padding(sums);
  const ExprId height = rows_.lines();
  tile_.row = ex_.add(ex_.source({id, Field::Shape, column}), padding);
  for (const std::int32_t of : of_.products)
    tile_.locals[of] =
        nest_.place({of, PlaceLevel::BlockOfRows, "it is summed from block to block of keys"}, sums,
                    ex_.mul(height, tile_.row), ctx);
  score_row_ = ex_.add(ex_.constant(most), padding);
  const ExprId block = ex_.mul(height, score_row_);
  scores_ =
      nest_.place({scores, PlaceLevel::BlockOfRowsAndKeys, "rows of it are folded and multiplied"},
                  score_sums, block, ctx);
  weights_ = scores_;
  if (const DType t = multiplied(id, of_.side); t != score_sums)
    weights_ = nest_.place({of_.weights, PlaceLevel::BlockOfRowsAndKeys, "rows of a product"}, t,
                           block, ctx);
  const auto of_rows = [&](std::int32_t of, DType t) {
    return nest_.place({of, PlaceLevel::BlockOfRows, "it grows from block to block of keys"}, t,
                       height, ctx);
  };
  for (const Attention::Fold& f : of_.folds) {
    const DType t = node(f.node).dtype;
    folds_.push_back({of_rows(f.node, t), f.first ? of_rows(f.node, t) : -1});
  }
  for (const Attention::Shift& h : of_.shifts) {
    const int f = of_.fold(h.row);
    const DType t = node(h.row).dtype;
    shifts_.push_back({f >= 0 ? folds_[f].value : of_rows(h.row, t), of_rows(h.row, t),
                       of_rows(h.row, factors_in(t))});
  }
  for (const Attention::Factor& f : of_.masks) shown_.push_back(of_rows(f.row, DType::Bool));
  start_rows(ctx);
  if (of_.mask < 0) {
    std::vector<std::int32_t> opened;
    add_block(keys_.open_blocks(ctx, opened));
    close_all(opened);
  } else {
    add_masked_blocks(ctx);
  }
  finish_rows(ctx);
  store_block(rows_, AxisTile(nest_, id, column, 1), ctx);
  close_grid(ctx);
  for (const std::int32_t of : of_.products) count_fragments(node(of));
  count_fragments(node(scores));
}

void AttentionNest::add_block(std::int32_t ctx) {
  single_query_ ? score_keys(ctx) : multiply_queries(ctx);
  if (!of_.shifts.empty()) {
    fold_block(true, ctx);
    rescale_rows(ctx);
  }
  fold_block(false, ctx);
  for (const std::int32_t of : of_.products)
    single_query_ ? add_values(of, ctx) : multiply_weights(of, ctx);
}

Val AttentionNest::load_row(std::int32_t local) {
  Access at;
  rows_.add_terms(at, tile_.own, ex_.one());
  return load_local(local, std::move(at), tile_.rows);
}

void AttentionNest::store_row(std::int32_t local, Val v) {
  Access at;
  rows_.add_terms(at, tile_.own, ex_.one());
  push_store_local(local, std::move(at), v, tile_.rows);
}

void AttentionNest::start_rows(std::int32_t ctx) {
  const std::vector<std::int32_t> rows = open_rows_of(rows_, keys_, ctx);
  for (std::size_t f = 0; f < folds_.size(); ++f) {
    const Node& n = node(of_.folds[f].node);
    store_row(folds_[f].value,
              n.reduce == ReduceKind::Sum
                  ? zero(n.dtype)
                  : constant(plait::cast(fold_identity(n.reduce, n.dtype), n.dtype)));
  }
  for (std::size_t h = 0; h < shifts_.size(); ++h) {
    const DType t = node(of_.shifts[h].row).dtype;
    if (of_.fold(of_.shifts[h].row) < 0) store_row(shifts_[h].row, constant(lowest(t)));
    if (of_.mask >= 0) store_row(shifts_[h].subtracted, zero(t));
  }
  for (const std::int32_t shown : shown_) store_row(shown, zero(DType::Bool));
  close_all(rows);
  scale_rows(ctx, true);
}

void AttentionNest::scale_rows(std::int32_t ctx, bool start) {
  if (!start && of_.scaling.shifts.empty()) return;
  const std::vector<std::int32_t> rows =
      open_rows_of(rows_, AxisTile(nest_, of_.product, of_.column_axis(g_), 1), ctx);
  const std::vector<std::int32_t> columns = open_columns_of_block();
  for (const std::int32_t of : of_.products) {
    const std::int32_t sums = tile_.locals.at(of);
    const Val v = start ? zero(k_.locals[sums].dtype)
                        : growth(of_.scaling, load_local(sums, place_in_block(), tile_.columns));
    push_store_local(sums, place_in_block(), v, tile_.columns);
  }
  close_all(columns);
  close_all(rows);
}

// The value, by the factors of what it is homogeneous in.
Val AttentionNest::growth(const Attention::Scaling& of, Val v) {
  for (const int h : of.shifts) {
    const DType t = k_.insts[v].type;
    v = apply(OpId::Multiply, t, v, cast(load_row(shifts_[h].factor), t));
  }
  return v;
}

void AttentionNest::fold_block(bool first, std::int32_t ctx) {
  stage_ = first ? Compare : Weigh;
  const DType weight = node(of_.weights).dtype, t = factors_in(weight);
  // Beside a weight of 1, subnormal ones are nothing, and slow to multiply: they are 0, but where
  // an infinity stands against them.
  Val least = kNone;
  if (!first && of_.peaks_at_one && !single_query_ && weight != DType::Float16)
    least = apply(OpId::Where, t, any_infinite(keys_, ctx), zero(t), constant(least_normal(t)));
  const std::vector<std::int32_t> rows = open_rows_of(rows_, keys_, ctx);
  open_columns_of_block();
  const std::int32_t column = tile_.columns;
  const auto in_column = [&](Val v, DType of) {
    if (nest_.def_loop_[v] == column) return v;
    return push({Op::Cast, of, OpId::Count_, 0, {v, kNone, kNone}}, column);
  };
  std::vector<Reduction> folded;
  std::vector<std::pair<std::int32_t, std::int32_t>> into;  // the rows that each is added to
  for (std::size_t f = 0; f < folds_.size(); ++f) {
    if (of_.folds[f].first != first) continue;
    const Node& n = node(of_.folds[f].node);
    const Val v = in_column(values_.operand_value(of_.folds[f].node, between(), column), n.dtype);
    const bool sum = n.reduce == ReduceKind::Sum;
    folded.push_back({n.reduce, v, sum ? ir::Order::Pairwise : ir::Order::Any});
    into.emplace_back(folds_[f].value, first ? folds_[f].next : folds_[f].value);
  }
  for (std::size_t m = 0; !first && m < shown_.size(); ++m) {
    const Attention::Factor& f = of_.masks[m];
    Val v = values_.emit(f.row, broadcast(f.row, between()), column);
    if (f.inverted) v = apply(OpId::LogicalNot, DType::Bool, v);
    folded.push_back({ReduceKind::Any, in_column(v, DType::Bool)});
    into.emplace_back(shown_[m], shown_[m]);
  }
  if (const std::int32_t kept = first ? of_.replacement : of_.weights; kept >= 0) {
    Val v = values_.emit(kept, between(), column);
    if (least != kNone)
      v = apply(OpId::Where, weight, apply(OpId::Less, DType::Bool, cast(v, t), least),
                zero(weight), v);
    const std::int32_t to = first ? scores_ : weights_;
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
Val AttentionNest::shift_of(Val maximum) {
  const DType t = k_.insts[maximum].type;
  const Val none = apply(OpId::Equal, DType::Bool, maximum, constant(lowest(t)));
  return apply(OpId::Where, t, none, zero(t), maximum);
}

void AttentionNest::rescale_rows(std::int32_t ctx) {
  stage_ = Rescale;
  const std::vector<std::int32_t> rows = open_rows_of(rows_, keys_, ctx);
  for (std::size_t h = 0; h < shifts_.size(); ++h) {
    const Attention::Shift& of = of_.shifts[h];
    const DType t = node(of.row).dtype;
    const Val before = load_row(shifts_[h].row),
              now = values_.emit(of.row, row_index(of.row), tile_.rows), shift = shift_of(now);
    Val grown = apply(OpId::Subtract, t, before, shift);
    if (of.scale >= 0)
      grown = apply(of.scaled_by, t, grown,
                    values_.emit(of.scale, Index(node(of.scale).extents.size()), tile_.rows));
    const DType wide = factors_in(t);
    Val factor = apply(of.exponential, wide, cast(grown, wide));
    // The scale may be negative, and the row value larger than the maximum: what a row of -inf has
    // summed so far is final.
    const std::int32_t maximum = folds_[of.maximum].value;
    if (of.scale >= 0 || maximum != shifts_[h].row)
      factor = apply(OpId::Where, wide,
                     apply(OpId::Equal, DType::Bool, load_row(maximum), constant(lowest(t))),
                     constant(plait::cast(scalar_float(1), wide)), factor);
    store_row(shifts_[h].subtracted, shift);
    store_row(shifts_[h].factor, factor);
    if (maximum != shifts_[h].row) store_row(shifts_[h].row, now);
  }
  for (std::size_t f = 0; f < folds_.size(); ++f)
    if (of_.folds[f].first)
      store_row(folds_[f].value, load_row(folds_[f].next));
    else if (!of_.folds[f].scaling.shifts.empty())
      store_row(folds_[f].value, growth(of_.folds[f].scaling, load_row(folds_[f].value)));
  close_all(rows);
  scale_rows(ctx, false);
}

void AttentionNest::multiply_queries(std::int32_t ctx) {
  const std::int32_t keys = of_.keys(g_);
  const int batch = node(keys).extents.size() - 2, columns_at = batch + 1 - of_.queries,
            sums_at = batch + of_.queries;
  AxisTile sums = AxisTile::block(nest_, keys, sums_at, 1, in_.target.product_depth);
  std::vector<std::int32_t> opened;
  ctx = sums.open_blocks(ctx, opened);
  multiply_rows(panels(queries_, {{}, {{sums.begin, coeff(queries_.sum)}}}), keys,
                multiplied(of_.scores, 1 - of_.queries), keys_, columns_at, sums, sums_at, scores_,
                score_row_, sums.begin, ctx);
  close_all(opened);
}

// Added to what is there.
void AttentionNest::multiply_weights(std::int32_t product, std::int32_t ctx) {
  const std::int32_t values = of_.values(g_, product);
  const int column = of_.column_axis(g_);
  multiply_rows(panels({weights_, score_row_, ex_.one()}), values,
                multiplied(product, 1 - of_.side), AxisTile(nest_, values, column, 1), column,
                keys_, of_.row_axis(g_), tile_.locals.at(product), tile_.row,
                constant(scalar_int(1)), ctx);
}

void AttentionNest::multiply_rows(const Panels& rows, std::int32_t operand, DType as,
                                  const AxisTile& columns, int columns_at, const AxisTile& sums,
                                  int sums_at, std::int32_t to, ExprId row, Val first,
                                  std::int32_t ctx) {
  const Packed b = pack_lines(operand, as, columns, columns_at, sums, sums_at, ctx, true);
  ir::Fragment m;
  m.a = rows;
  m.b = panels(b, {}, true);
  m.local = to;
  m.access = access({});
  m.row = coeff(row);
  m.block = first;
  push_product(m, rows_.lines_now(), columns.lines_now(), sums.lines_now(), ctx);
}

// The sum of a row whose maximum is subtracted and infinite is NaN: of what was left out, too.
Val AttentionNest::not_a_number(const Attention::Scaling& of, Val v) {
  for (const int h : of.shifts) {
    const std::int32_t largest = folds_[of_.shifts[h].maximum].value;
    const Val r = load_row(shifts_[h].row);
    const DType t = k_.insts[r].type;
    Val d = apply(OpId::Subtract, t, r, r);
    if (largest != shifts_[h].row)
      d = apply(OpId::Where, t, apply(OpId::Equal, DType::Bool, load_row(largest), r), d, zero(t));
    v = apply(OpId::Add, k_.insts[v].type, v, cast(d, k_.insts[v].type));
  }
  return v;
}

// What a row of zeros is multiplied to: NaN where a value is not finite. Only those are read.
Val AttentionNest::hidden_sum(Val shown, std::int32_t product, const Index& at, DType t) {
  if (product < 0) return zero(t);
  const std::int32_t values = of_.values(g_, product);
  AxisTile keys = AxisTile(nest_, of_.weighing(g_), of_.column_axis(g_), 1);
  keys.end = number(keys.most);
  keys.begin = apply(OpId::Where, DType::Int64, shown, keys.end, constant(scalar_int(0)));
  std::vector<std::int32_t> opened;
  const std::int32_t key = keys.open(std::max(tile_.rows, innermost(at)), opened);
  Index idx = at;
  idx[static_cast<std::size_t>(of_.row_axis(g_))] = {key};
  const Val v = cast(values_.emit(values, broadcast(values, idx), key), t);
  k_.loops[key].reductions.push_back(
      {ReduceKind::Sum, apply(OpId::Multiply, t, v, zero(t)), ir::Order::Pairwise});
  const std::int32_t ctx = nest_.parent_[key];
  return push({Op::Result, t, OpId::Count_, 0, {close(key), kNone, kNone}}, ctx);
}

Val AttentionNest::with_deferred(const Attention::Scaling& of, Val v, std::int32_t product,
                                 const Index& at) {
  for (const Attention::Factor& f : of.deferred) {
    const DType t = k_.insts[v].type;
    const auto mask = std::find(of_.masks.begin(), of_.masks.end(), f);
    const Val r = mask == of_.masks.end()
                      ? values_.emit(f.row, row_index(f.row), tile_.rows)
                      : load_row(shown_[static_cast<std::size_t>(mask - of_.masks.begin())]);
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

void AttentionNest::finish_rows(std::int32_t ctx) {
  stage_ = Finish;
  const std::vector<std::int32_t> rows = open_rows_of(rows_, keys_, ctx);
  for (std::size_t f = 0; f < folds_.size(); ++f)
    if (const Attention::Scaling& of = of_.folds[f].scaling;
        !of.shifts.empty() || !of.deferred.empty())
      store_row(folds_[f].value, with_deferred(of, not_a_number(of, load_row(folds_[f].value))));
  close_all(rows);
}

Access AttentionNest::place_of_score() {
  Access at;
  rows_.add_terms(at, tile_.own, score_row_);
  keys_.add_terms(at, tile_.own, ex_.one());
  return at;
}

bool AttentionNest::changes(std::int32_t id) const {
  id = in_.canon[id];
  if (of_.rows.count(id)) return true;
  return !g_[id].leaf && node(id).kind == NodeKind::View && g_[id].map && changes(g_[id].in[0]);
}

const Index& AttentionNest::between() {
  const std::int32_t weights = of_.weighing(g_);
  if (own_rows_ != tile_.rows)
    own_ = broadcast(of_.weights, in_.canon[weights] == of_.weights
                                      ? tile_.own
                                      : nest_.view_index(weights, tile_.own));
  own_rows_ = tile_.rows;
  own_[static_cast<std::size_t>(of_.axis)] =
      tile_.own[static_cast<std::size_t>(of_.column_axis(g_))];
  return own_;
}

Index AttentionNest::row_index(std::int32_t id) {
  Index idx = between();
  const auto axis = idx.begin() + of_.axis;
  *axis = {};
  if (static_cast<std::size_t>(node(id).extents.size()) < idx.size()) idx.erase(axis);
  return broadcast(id, idx);
}

Val AttentionNest::value(std::int32_t id, const Index& idx, std::int32_t ctx) {
  const Val v = block_value(id, idx, ctx);
  return v != kNone ? v : ProductBlock::value(id, idx, ctx);
}

Val AttentionNest::block_value(std::int32_t id, const Index& idx, std::int32_t ctx) {
  const bool hidden = stage_ == Hidden, weigh = stage_ == Weigh || hidden;
  if (hidden && node(id).kind == NodeKind::Elementwise && node(id).fn == OpId::Where &&
      in_.canon[g_[id].in[0]] == of_.mask) {
    const std::int32_t fill = g_[id].in[of_.inverted ? 1 : 2];
    return values_.emit(fill, broadcast(fill, idx), ctx);
  }
  if (const auto u = of_.undivided.find(id); weigh && u != of_.undivided.end())
    return values_.emit(g_[id].in[u->second], idx, ctx);
  const auto shift = of_.shifted_by.find(id);
  const int fold = of_.fold(id);
  const bool shifts = weigh && shift != of_.shifted_by.end();
  const bool score = id == of_.scored || (weigh && !hidden && id == of_.replacement);
  if (!shifts && fold < 0 && !score)
    return of_.rows.count(id) ? values_.compute(id, idx, ctx) : kNone;
  if (tile_.rows < 0 || (score && stage_ == Finish) ||
      !at_index(id, idx, score ? between() : row_index(id))) {
    if (in_.in_memory[id]) return kNone;
    values_.need(id, "it is read beyond its own rows");
    return zero(node(id).dtype);
  }
  if (score) return cast(load_local(scores_, place_of_score(), tile_.columns), node(id).dtype);
  if (shifts && hidden) {
    const Attention::Shift& of = of_.shifts[shift->second];
    const std::int32_t compared = g_[of_.folds[of.maximum].node].in[0];
    return apply(OpId::Maximum, node(of.row).dtype, load_row(shifts_[shift->second].subtracted),
                 values_.emit(compared, between(), tile_.rows));
  }
  if (shifts) return load_row(shifts_[shift->second].subtracted);
  const bool next = stage_ == Rescale && folds_[fold].next >= 0;
  return load_row(next ? folds_[fold].next : folds_[fold].value);
}

// A row of the second product, as its readers find it.
Val AttentionNest::finished(Val v, std::int32_t product, const Index& at) {
  v = with_deferred(of_.scaling, v, product, at);
  return of_.divided ? v : not_a_number(of_.scaling, v);
}

// Whether the index is that one, or a broadcast of it along axes of one element.
bool AttentionNest::at_index(std::int32_t id, const Index& idx, const Index& whole) const {
  const Numbers& shape = node(id).extents;
  if (idx.size() != whole.size()) return false;
  for (std::size_t d = 0; d < idx.size(); ++d)
    if (idx[d] != whole[d] && !(shape[static_cast<int>(d)] == 1 && idx[d] == AxisIndex{}))
      return false;
  return true;
}

}  // namespace plait::fusion
