#include "loop_writer.hpp"

#include <algorithm>

namespace plait::fusion {
using namespace ir;

LoopWriter::LoopWriter(const LoweringInput& in, LoweredKernel& out, bool builds)
    : in_(in), ex_(in.exprs), out_(out), k_(out.kernel), builds_(builds) {
  k_.loops.emplace_back();
  k_.loops[0].scope = Scope::Grid;
  k_.loops[0].var = add_var(0);
  parent_ = {-1};
  closed_ = {false};
  trips_ = {1};
  out_.extents = {ex_.one()};
}

Coeff LoopWriter::coeff(ExprId e) {
  if (!builds_) return {};
  if (ex_.is_constant(e)) return {ex_.value(e), ir::kNoParam};
  return {0, param(e)};
}

std::int32_t LoopWriter::param(ExprId e) {
  auto it = std::find(out_.params.begin(), out_.params.end(), e);
  if (it == out_.params.end()) it = out_.params.insert(it, e);
  return static_cast<std::int32_t>(it - out_.params.begin());
}

std::int32_t LoopWriter::buffer(BufferSource s, DType t, bool written) {
  if (!builds_) return 0;
  for (std::size_t i = 0; i < out_.buffers.size(); ++i)
    if (!(out_.buffers[i] < s) && !(s < out_.buffers[i]) && k_.buffers[i].dtype == t) {
      k_.buffers[i].written |= written;
      return static_cast<std::int32_t>(i);
    }
  out_.buffers.push_back(s);
  k_.buffers.push_back({t, written});
  return static_cast<std::int32_t>(k_.buffers.size() - 1);
}

Val LoopWriter::push(Inst i, std::int32_t loop) {
  k_.insts.push_back(i);
  Val v = static_cast<Val>(k_.insts.size() - 1);
  def_loop_.resize(k_.insts.size());
  def_loop_[v] = loop;
  if (loop >= 0) k_.loops[loop].body.push_back(v);
  return v;
}

Val LoopWriter::constant(const Scalar& s) {
  Inst i{Op::Const, s.dtype};
  i.imm = s;
  return push(i, 0);
}

Val LoopWriter::number(ExprId e) {
  if (ex_.is_constant(e)) return constant(scalar_int(ex_.value(e)));
  return push({Op::Param, DType::Int64, OpId::Count_, builds_ ? param(e) : 0}, 0);
}

Val LoopWriter::cast(Val v, DType t) {
  if (k_.insts[v].type == t) return v;
  return push({Op::Cast, t, OpId::Count_, 0, {v, kNone, kNone}}, def_loop_[v]);
}

Val LoopWriter::apply(OpId fn, DType t, Val a, Val b, Val c) {
  const Val v[] = {a, b, c};
  std::int32_t at = 0;
  for (Val o : v)
    if (o != kNone && encloses(at, def_loop_[o])) at = def_loop_[o];
  out_.work += ops_weight(fn) * times(at);
  return push({Op::Apply, t, fn, 0, {v[0], v[1], v[2]}}, at);
}

Val LoopWriter::push_load(std::int32_t b, Access a, DType t, std::int32_t loop) {
  if (!builds_) return push({Op::Const, t}, loop);
  Inst i{Op::Load, t, OpId::Count_, b};
  i.access = access(std::move(a));
  return push(i, loop);
}

Val LoopWriter::either(Val first, Val a, Val b) {
  const DType t = k_.insts[a].type;
  const std::int32_t loop = def_loop_[a], around = def_loop_[first];
  const auto choice = [&] { return apply(OpId::Where, t, first, a, b); };
  if (k_.insts[a].op != Op::Load || k_.insts[b].op != Op::Load || loop != def_loop_[b] ||
      k_.insts[a].index != k_.insts[b].index || around == loop || !encloses(around, loop))
    return choice();
  std::vector<Term> one = k_.accesses[k_.insts[a].access].terms,
                    other = k_.accesses[k_.insts[b].access].terms;
  Access at;
  for (auto term = one.begin(); term != one.end();) {
    const auto same = std::find_if(other.begin(), other.end(), [&](const Term& o) {
      return o.var == term->var && o.stride.value == term->stride.value &&
             o.stride.param == term->stride.param;
    });
    if (same == other.end()) {
      ++term;
      continue;
    }
    at.terms.push_back(*term);
    other.erase(same);
    term = one.erase(term);
  }
  const auto varies = [&](const Term& o) { return def_loop_[o.var] == loop; };
  if (std::any_of(one.begin(), one.end(), varies) ||
      std::any_of(other.begin(), other.end(), varies))
    return choice();
  const auto sum = [&](Val from, const std::vector<Term>& terms) {
    Val bytes = number(k_.accesses[k_.insts[from].access].offset);
    for (const Term& o : terms)
      bytes = integer(OpId::Add, bytes, integer(OpId::Multiply, o.var, number(o.stride)));
    return bytes;
  };
  const Val bytes = apply(OpId::Where, DType::Int64, first, sum(a, one), sum(b, other));
  at.terms.push_back({bytes, {1, ir::kNoParam}});
  return push_load(k_.insts[a].index, std::move(at), t, loop);
}

// Of a loop, each iteration of which looks up an element that an index names.
void LoopWriter::count_elements(std::int32_t loop) {
  const Machine& m = *in_.target.machine;
  out_.work += m.near_element / m.cycle * times(loop);
}

Val LoopWriter::push_gather(std::int32_t b, Access a, Val index, Coeff stride, DType t) {
  std::int32_t loop = def_loop_[index];
  for (const Term& term : a.terms)
    if (encloses(loop, def_loop_[term.var])) loop = def_loop_[term.var];
  count_elements(loop);
  Inst i{Op::Gather, t, OpId::Count_, b, {index, kNone, kNone}};
  i.access = access(std::move(a));
  i.stride = stride;
  return push(i, loop);
}

void LoopWriter::push_scatter(OpId fn, std::int32_t b, Access a, Val index, Coeff stride, Val v,
                              std::int32_t loop) {
  count_elements(loop);
  if (!builds_) return;
  Inst i{Op::Scatter, k_.insts[v].type, fn, b, {index, v, kNone}};
  i.access = access(std::move(a));
  i.stride = stride;
  push(i, loop);
}

void LoopWriter::push_store(std::int32_t b, Access a, Val v, std::int32_t loop, bool nontemporal) {
  if (!builds_) return;
  Inst i{Op::Store, k_.insts[v].type, OpId::Count_, b, {v, kNone, kNone}};
  i.access = access(std::move(a));
  i.nontemporal = nontemporal;
  push(i, loop);
}

std::int32_t LoopWriter::place(Place p, DType t, ExprId count, std::int32_t home) {
  p.local = static_cast<std::int32_t>(k_.locals.size());
  k_.locals.push_back({t, coeff(count), home});
  out_.places.push_back(p);
  return p.local;
}

void LoopWriter::push_store_local(std::int32_t local, Access a, Val v, std::int32_t loop) {
  Inst i{Op::StoreLocal, k_.insts[v].type, OpId::Count_, local, {v, kNone, kNone}};
  i.access = access(std::move(a));
  push(i, loop);
}

std::int32_t LoopWriter::access(Access a) {
  k_.accesses.push_back(std::move(a));
  return static_cast<std::int32_t>(k_.accesses.size() - 1);
}

Val LoopWriter::load_local(std::int32_t local, Access a, std::int32_t loop) {
  Inst i{Op::LoadLocal, k_.locals[local].dtype, OpId::Count_, local};
  i.access = access(std::move(a));
  return push(i, loop);
}

Val LoopWriter::push_local(Op op, std::int32_t local, std::int32_t loop, DType t, Val v) {
  Access a;
  a.terms.push_back({k_.loops[loop].var, {1, ir::kNoParam}});
  Inst i{op, t, OpId::Count_, local, {v, kNone, kNone}};
  i.access = access(std::move(a));
  return push(i, loop);
}

std::int32_t LoopWriter::open(std::int32_t parent, ExprId extent) {
  ExprId e = in_.facts.at_most(extent, kShort) ? in_.facts.known(extent) : extent;
  std::int32_t l = static_cast<std::int32_t>(k_.loops.size());
  // Loops side by side over ranges that are equal by broadcasting have one extent.
  for (std::int32_t s = 1; s < l; ++s)
    if (parent_[s] == parent && out_.extents[s] != e && !ex_.is_constant(e) &&
        !ex_.is_constant(out_.extents[s]) && in_.facts.equal(e, out_.extents[s]))
      e = out_.extents[s];
  k_.loops.emplace_back();
  k_.loops[l].var = add_var(l);
  parent_.push_back(parent);
  closed_.push_back(false);
  trips_.push_back(static_cast<double>(concrete(in_, extent)));
  out_.extents.push_back(e);
  k_.loops[l].end = number(e);
  return l;
}

std::int32_t LoopWriter::open_between(std::int32_t parent, Val begin, Val end, ExprId extent,
                                      double trips) {
  const auto l = static_cast<std::int32_t>(k_.loops.size());
  k_.loops.emplace_back();
  k_.loops[l].var = add_var(l);
  k_.loops[l].begin = begin;
  k_.loops[l].end = end;
  parent_.push_back(parent);
  closed_.push_back(false);
  trips_.push_back(trips);
  out_.extents.push_back(extent);
  return l;
}

Val LoopWriter::close(std::int32_t l) {
  const bool reduce = !k_.loops[l].reductions.empty();
  closed_[l] = true;
  return push({reduce ? Op::Reduce : Op::For, DType::Int64, OpId::Count_, l}, parent_[l]);
}

void LoopWriter::close_all(const std::vector<std::int32_t>& loops) {
  for (auto l = loops.rbegin(); l != loops.rend(); ++l) close(*l);
}

std::pair<Val, Val> LoopWriter::range_of_block(Val block, ExprId most, ExprId extent) {
  const Val each = number(most), from = integer(OpId::Multiply, block, each);
  return {from, integer(OpId::Minimum, integer(OpId::Add, from, each), number(extent))};
}

bool LoopWriter::encloses(std::int32_t outer, std::int32_t inner) const {
  for (; inner >= 0; inner = parent_[inner])
    if (inner == outer) return true;
  return false;
}

double LoopWriter::times(std::int32_t loop) const {
  double t = 1;
  bool shared = false;  // the chunks have the iterations of a loop between them
  for (; loop >= 0; loop = parent_[loop]) {
    shared |= chunked_ && k_.loops[loop].begin != kNone;
    if (loop > 0 || !shared) t *= std::max(1.0, trips_[loop]);
  }
  return t;
}

Val LoopWriter::add_var(std::int32_t loop) {
  k_.insts.push_back({Op::Var, DType::Int64, OpId::Count_, loop});
  def_loop_.push_back(loop);
  return static_cast<Val>(k_.insts.size() - 1);
}

}  // namespace plait::fusion
