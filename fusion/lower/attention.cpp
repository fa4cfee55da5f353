// An attention as a region: the grid runs over blocks of rows, as a product's does. A block of
// scores after another is multiplied into scratch; the rows of the second product, their sums and
// maxima are carried from block to block, and rescaled where a maximum grows. What the rows are
// divided by comes last.
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

Scalar least_normal(DType t) {
  return plait::cast(scalar_float(t == DType::Float32 ? std::numeric_limits<float>::min()
                                                      : std::numeric_limits<double>::min()),
                     t);
}

}  // namespace

void Lowering::attention() {
  const std::int32_t id = region_.product;
  const Node& p = node(id);
  softmax_.emplace();
  Softmax& s = *softmax_;
  s.of = *find_attention(g_, in_.canon, id, in_.target);
  const Node& scores = node(s.of.scores);
  const int dims = p.shape.size();
  for (int d = 0; d < dims - 1; ++d) {
    const ExprId mine = ex_.source({s.of.scores, Field::Shape, d}),
                 its = ex_.source({id, Field::Shape, d});
    in_.facts.equal(mine, its);
  }
  for (const std::int32_t z : s.of.zeros)
    in_.facts.equal(ex_.source({z, Field::Value}), ex_.zero());
  s.lone = in_.facts.equal(ex_.source({id, Field::Shape, dims - 2}), ex_.one());
  const std::int64_t most = in_.target.product_depth;
  s.height = s.lone ? 1 : attention_rows(g_, s.of, most);
  const RowBlock b = block_of_rows(s.height);
  s.first_row = b.first;
  tile_.batch = s.scores.batch = b.batch;
  tile_.first_row = s.scores.first_row = b.first;
  tile_.whole = true;
  s.scores.width = most;
  const Rows queries = pack_rows(g_[s.of.scores].in[0], b, s.height);

  const auto rows_local = [&](ExprId row) {
    return local(ex_.mul(ex_.constant(s.height), row), b.ctx);
  };
  const ExprId apart = ex_.constant(kApart / static_cast<std::int64_t>(itemsize(p.dtype)));
  tile_.c_row = ex_.add(ex_.source({id, Field::Shape, dims - 1}), apart);
  tile_.c = rows_local(tile_.c_row);
  s.scores.c_row = ex_.add(ex_.constant(most), apart);
  s.scores.c = rows_local(s.scores.c_row);
  for (std::int32_t* l : {&s.maximum, &s.shift, &s.factor, &s.sum}) *l = rows_local(ex_.one());
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

// Whether it is what blocks of queries, keys or values are read from.
bool Lowering::is_attended(std::int32_t operand) const {
  const std::int32_t scores = softmax_->of.scores;
  for (const std::int32_t in : {g_[scores].in[0], g_[scores].in[1], g_[region_.product].in[1]})
    if (in_.canon[in] == operand) return true;
  return false;
}

void Lowering::add_block(const Rows& queries, const RowBlock& b, const Range& keys,
                         std::int32_t ctx) {
  Softmax& s = *softmax_;
  s.stage = Softmax::Compare;
  s.scores.first_column = keys.begin;
  if (s.lone)
    score_keys(queries, b, keys, ctx);
  else
    multiply_columns(s.of.scores, s.scores, queries, keys, b, ctx);
  if (s.of.maximum >= 0) {
    compare_scores(b, keys, ctx);
    rescale_rows(b, ctx);
  }
  weigh_scores(b, keys, ctx);
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
      range_of_block(k_.loops[block].var, extent, node(softmax_->of.scores).shape.back(), most);
  const Val now = apply(OpId::LogicalXor, DType::Bool, counts_at_once(b, keys, block), again);
  const std::int32_t once = open_between(block, kNone, cast(now, DType::Int64), ex_.one(), 1);
  add_block(queries, b, keys, once);
  close(once);
  close(block);
  close(pass);
}

std::int32_t Lowering::open_rows(const RowBlock& b, std::int32_t ctx) {
  const Node& p = node(region_.product);
  return open_between(ctx, b.first, b.last, ex_.constant(softmax_->height),
                      static_cast<double>(p.shape[p.shape.size() - 2]));
}

Val Lowering::load_row(std::int32_t local, const RowBlock& b, std::int32_t row) {
  Inst i{Op::LoadLocal, k_.locals[local].dtype, OpId::Count_, local};
  i.access = access({{}, {{k_.loops[row].var, {1, ir::kNoParam}}, {b.first, {-1, ir::kNoParam}}}});
  return push(i, row);
}

void Lowering::store_row(std::int32_t local, const RowBlock& b, std::int32_t row, Val v) {
  push_store_local(
      local, {{}, {{k_.loops[row].var, {1, ir::kNoParam}}, {b.first, {-1, ir::kNoParam}}}}, v, row);
}

void Lowering::start_rows(const RowBlock& b) {
  const Node& p = node(region_.product);
  const std::int32_t row = open_rows(b, b.ctx);
  store_row(softmax_->maximum, b, row, constant(lowest(p.dtype)));
  store_row(softmax_->sum, b, row, zero(p.dtype));
  close(row);
  scale_rows(b, b.ctx, -1);
}

// The rows of the second product, by a factor each; from zero where there is none.
void Lowering::scale_rows(const RowBlock& b, std::int32_t ctx, std::int32_t factor) {
  const Node& p = node(region_.product);
  const std::int32_t row = open_rows(b, ctx);
  const Val f = factor >= 0 ? load_row(factor, b, row) : kNone;
  const std::int32_t column =
      open(row, ex_.source({region_.product, Field::Shape, p.shape.size() - 1}));
  const Access a{{},
                 {{k_.loops[row].var, coeff(tile_.c_row)},
                  {b.first, coeff(ex_.mul(tile_.c_row, ex_.constant(-1)))},
                  {k_.loops[column].var, {1, ir::kNoParam}}}};
  Val v = zero(p.dtype);
  if (factor >= 0) {
    Inst i{Op::LoadLocal, p.dtype, OpId::Count_, tile_.c};
    i.access = access(a);
    v = apply(OpId::Multiply, p.dtype, push(i, column), f);
  }
  push_store_local(tile_.c, a, v, column);
  close(column);
  close(row);
}

// The maxima of the rows so far. What is compared takes the place of the scores.
void Lowering::compare_scores(const RowBlock& b, const Range& keys, std::int32_t ctx) {
  Softmax& s = *softmax_;
  const DType t = node(region_.product).dtype;
  const std::int32_t row = s.scores.rows = open_rows(b, ctx);
  const std::int32_t column = s.scores.columns = open_range(row, keys);
  Index idx = b.batch;
  idx[idx.size() - 2].loop = row;
  idx.back().loop = column;
  Val v = emit(s.of.compared, idx, column);
  if (def_loop_[v] != column) v = push({Op::Cast, t, OpId::Count_, 0, {v, kNone, kNone}}, column);
  if (s.of.replaced) push_store_local(s.scores.c, score_access(row, column), v, column);
  k_.loops[column].reductions.push_back({ReduceKind::Max, v});
  const Val reduce = close(column);
  const Val most = push({Op::Result, t, OpId::Count_, 0, {reduce, kNone, kNone}}, row);
  store_row(s.shift, b, row, apply(OpId::Maximum, t, load_row(s.maximum, b, row), most));
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
  const Softmax& s = *softmax_;
  const DType t = node(region_.product).dtype;
  const std::int32_t row = open_rows(b, ctx);
  const Val before = load_row(s.maximum, b, row), now = load_row(s.shift, b, row);
  const Val shift = shift_of(now);
  Val grown = apply(OpId::Subtract, t, before, shift);
  if (s.of.scale >= 0)
    grown = apply(s.of.scaled_by, t, grown,
                  emit(s.of.scale, Index(node(s.of.scale).shape.size()), row));
  Val factor = apply(s.of.exponential, t, grown);
  // The scale may be negative: what a row of -inf has summed so far is final.
  if (s.of.scale >= 0)
    factor = apply(OpId::Where, t, apply(OpId::Equal, DType::Bool, before, constant(lowest(t))),
                   constant(plait::cast(scalar_float(1), t)), factor);
  const Val sum = apply(OpId::Multiply, t, load_row(s.sum, b, row), factor);
  store_row(s.maximum, b, row, now);
  store_row(s.shift, b, row, shift);
  store_row(s.factor, b, row, factor);
  store_row(s.sum, b, row, sum);
  close(row);
  scale_rows(b, ctx, s.factor);
}

// Beside a weight of 1, subnormal ones are nothing, and slow to multiply: they are 0, but where an
// infinity stands against them.
Val Lowering::least_weight(const RowBlock& b, const Range& keys, std::int32_t ctx) {
  const DType t = node(region_.product).dtype;
  return apply(OpId::Where, t, any_infinite(b, keys, ctx), zero(t), constant(least_normal(t)));
}

void Lowering::weigh_scores(const RowBlock& b, const Range& keys, std::int32_t ctx) {
  Softmax& s = *softmax_;
  s.stage = Softmax::Weigh;
  const DType t = node(region_.product).dtype;
  const Val least = s.of.peaks_at_one && !s.lone ? least_weight(b, keys, ctx) : kNone;
  const std::int32_t row = s.scores.rows = open_rows(b, ctx);
  const std::int32_t column = s.scores.columns = open_range(row, keys);
  Index idx = b.batch;
  idx[idx.size() - 2].loop = row;
  idx.back().loop = column;
  Val summed = emit(s.of.summed, idx, column);
  Val weight = emit(s.of.weights, idx, column);
  if (least != kNone)
    weight = apply(OpId::Where, t, apply(OpId::Less, DType::Bool, weight, least), zero(t), weight);
  if (def_loop_[summed] != column)
    summed = push({Op::Cast, t, OpId::Count_, 0, {summed, kNone, kNone}}, column);
  push_store_local(s.scores.c, score_access(row, column), weight, column);
  k_.loops[column].reductions.push_back({ReduceKind::Sum, summed, ir::Order::Pairwise});
  const Val reduce = close(column);
  const Val sum = push({Op::Result, t, OpId::Count_, 0, {reduce, kNone, kNone}}, row);
  store_row(s.sum, b, row, apply(OpId::Add, t, load_row(s.sum, b, row), sum));
  close(row);
}

void Lowering::multiply_weights(const RowBlock& b, const Range& keys, std::int32_t ctx) {
  const Softmax& s = *softmax_;
  const Node& p = node(region_.product);
  const std::int64_t width = p.shape.back();
  const ExprId columns = ex_.source({region_.product, Field::Shape, p.shape.size() - 1});
  const Range across{constant(scalar_int(0)), number(columns), width, columns,
                     static_cast<double>(width)};
  ir::Product m;
  m.b = pack_columns(g_[region_.product].in[1], b.batch, keys, across, ctx);
  m.a = {s.scores.c, access({}), 1, coeff(s.scores.c_row), {1}};
  m.local = tile_.c;
  m.access = access({});
  m.row = coeff(tile_.c_row);
  m.block = constant(scalar_int(1));  // added to what is there
  push_product(m, integer(OpId::Subtract, b.last, b.first),
               integer(OpId::Subtract, across.end, across.begin), keys, ctx);
}

// The sum of a row whose maximum is infinite is NaN: of what was left out, too.
void Lowering::finish_rows(const RowBlock& b) {
  Softmax& s = *softmax_;
  s.stage = Softmax::Finish;
  if (s.of.maximum < 0) return;
  const DType t = node(region_.product).dtype;
  const std::int32_t row = open_rows(b, b.ctx);
  const Val maximum = load_row(s.maximum, b, row), sum = load_row(s.sum, b, row);
  store_row(s.sum, b, row, apply(OpId::Add, t, sum, apply(OpId::Subtract, t, maximum, maximum)));
  close(row);
}

Access Lowering::score_access(std::int32_t row, std::int32_t column) {
  const Tile& t = softmax_->scores;
  return {{},
          {{k_.loops[row].var, coeff(t.c_row)},
           {t.first_row, coeff(ex_.mul(t.c_row, ex_.constant(-1)))},
           {k_.loops[column].var, {1, ir::kNoParam}},
           {t.first_column, {-1, ir::kNoParam}}}};
}

// Whether it shows maxima or sums of rows that grow here: memory that has them has the last.
bool Lowering::is_row_value(std::int32_t id) const {
  if (!softmax_) return false;
  id = in_.canon[id];
  if (!g_[id].leaf && node(id).kind == NodeKind::View)
    return g_[id].map && is_row_value(g_[id].in[0]);
  return id == softmax_->of.maximum || id == softmax_->of.sum;
}

Val Lowering::softmax_value(std::int32_t id, const Index& idx, std::int32_t ctx) {
  if (!softmax_) return kNone;
  const Softmax& s = *softmax_;
  const bool weigh = s.stage == Softmax::Weigh;
  if (weigh && id == s.of.quotient) return emit(g_[id].in[s.of.divided], idx, ctx);
  const bool row_value = id == s.of.maximum || id == s.of.sum;
  const bool score = id == s.of.scores || (weigh && s.of.replaced && id == s.of.compared);
  if (!row_value && !score) return kNone;
  const std::int32_t row = s.stage == Softmax::Finish ? tile_.rows : s.scores.rows;
  Index here = tile_.batch;
  here[here.size() - 2].loop = row;
  here.back().loop = s.scores.columns;
  if (row_value) here.pop_back();
  if (row < 0 || !at_index(id, idx, here) || (score && s.stage == Softmax::Finish)) {
    if (in_.in_memory[id]) return kNone;
    need(id, "it is read beyond its own rows");
    return zero(node(id).dtype);
  }
  Access a =
      row_value
          ? Access{{}, {{k_.loops[row].var, {1, ir::kNoParam}}, {s.first_row, {-1, ir::kNoParam}}}}
          : score_access(row, s.scores.columns);
  const std::int32_t from = score            ? s.scores.c
                            : id == s.of.sum ? s.sum
                            : weigh          ? s.shift
                                             : s.maximum;
  Inst i{Op::LoadLocal, node(id).dtype, OpId::Count_, from};
  i.access = access(std::move(a));
  return push(i, row_value ? row : s.scores.columns);
}

// A row of the second product, as its readers find it.
Val Lowering::finished(Val v, std::int32_t ctx) {
  if (!softmax_) return v;
  const Softmax& s = *softmax_;
  Index row = tile_.batch;
  row[row.size() - 2].loop = tile_.rows;
  const DType t = k_.insts[v].type;
  if (s.of.reciprocal >= 0) {
    row.back() = {};
    return apply(OpId::Multiply, t, v, emit(s.of.reciprocal, broadcast(s.of.reciprocal, row), ctx));
  }
  row.pop_back();
  if (s.of.quotient >= 0) return apply(OpId::Divide, t, v, emit(s.of.sum, row, ctx));
  if (s.of.maximum < 0) return v;
  const Val maximum = emit(s.of.maximum, row, ctx);
  return apply(OpId::Add, t, v, apply(OpId::Subtract, t, maximum, maximum));
}

}  // namespace plait::fusion
