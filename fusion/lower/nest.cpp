#include "nest.hpp"

#include <algorithm>
#include <map>

namespace plait::fusion {
using namespace ir;

Nest::Nest(const LoweringInput& in, LoweredKernel& out, bool builds)
    : in_(in), g_(in.graph), ex_(in.exprs), out_(out), k_(out.kernel), builds_(builds) {
  k_.loops.emplace_back();
  k_.loops[0].scope = Scope::Grid;
  k_.loops[0].var = add_var(0);
  parent_ = {-1};
  closed_ = {false};
  trips_ = {1};
  out_.extents = {ex_.one()};
}

Val Nest::load(std::int32_t id, DType t, const Index& idx, const Numbers& strides, Source s,
               ExprId offset) {
  return in_full(old_memory_ >= 0 && in_.memory_of[id] == old_memory_, [&] {
    const std::int32_t b = buffer({BufferSource::NodeMemory, id}, t, false);
    const std::int32_t loop = innermost(idx);
    std::vector<std::pair<AxisIndex, ExprId>> dims = joined(idx, strides, s);
    // What is divided in the innermost loop is no step of it.
    Val index = kNone;
    const auto looked_up = [&](const std::pair<AxisIndex, ExprId>& dim) {
      if (!dim.first.divided()) return false;
      const Val v = position(dim.first);
      if (def_loop_[v] != loop) return false;
      const Val bytes = integer(OpId::Multiply, v, number(dim.second));
      index = index == kNone ? bytes : integer(OpId::Add, index, bytes);
      return true;
    };
    std::erase_if(dims, looked_up);
    const ir::Access a = address(dims, offset);
    return index == kNone ? push_load(b, a, t, loop) : push_gather(b, a, index, {1}, t);
  });
}

std::vector<std::pair<AxisIndex, ExprId>> Nest::joined(const Index& idx, const Numbers& strides,
                                                       Source s) {
  std::vector<std::pair<AxisIndex, ExprId>> dims;
  bool divided = false;
  for (int d = 0; d < strides.size(); ++d) {
    const AxisIndex& x = idx[static_cast<std::size_t>(d)];
    if (x == AxisIndex{}) continue;
    s.dim = d;
    dims.emplace_back(x, small(stride_of(s)));
    divided |= x.divided();
  }
  const auto sum_of = [](AxisIndex x) {
    x.inner = 1;
    x.extent = 0;
    return x;
  };
  // Whether `wider` is the digit beyond; both are one then.
  const auto join = [&](std::pair<AxisIndex, ExprId>& dim,
                        const std::pair<AxisIndex, ExprId>& wider) {
    auto& [x, stride] = dim;
    if (x.extent == ex_.zero() || wider.first.inner != ex_.mul(x.inner, x.extent) ||
        sum_of(wider.first) != sum_of(x) ||
        !in_.facts.equal(wider.second, ex_.mul(stride, x.extent)))
      return false;
    x.extent = ex_.mul(x.extent, wider.first.extent);
    return true;
  };
  for (std::size_t i = 0; divided && i < dims.size();) {
    const std::size_t before = dims.size();
    for (std::size_t o = 0; o < dims.size() && dims.size() == before; ++o)
      if (join(dims[i], dims[o])) dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(o));
    i = dims.size() < before ? 0 : i + 1;
  }
  return dims;
}

Access Nest::address(const Index& idx, const Numbers& strides, Source s, ExprId offset) {
  return builds_ ? address(joined(idx, strides, s), offset) : Access{};
}

Access Nest::address(const std::vector<std::pair<AxisIndex, ExprId>>& dims, ExprId offset) {
  if (!builds_) return {};
  std::map<std::int32_t, ExprId> by_loop;
  Access a;
  for (const auto& [dim, stride] : dims) {
    const AxisIndex x = undivided(dim);
    const auto step = [&, by = stride](const AxisIndex& one) {
      offset = ex_.add(offset, ex_.mul(by, one.start));
      if (one.loop < 0) return;
      auto [it, fresh] = by_loop.try_emplace(one.loop, ex_.zero());
      it->second = ex_.add(it->second, ex_.mul(by, one.step));
    };
    step(x);
    if (const auto steps = steps_.find(x.at); steps != steps_.end())
      std::for_each(steps->second.begin(), steps->second.end(), step);
    else if (x.at != kNone && stride != ex_.zero())
      a.terms.push_back({x.at, coeff(stride)});
  }
  a.offset = coeff(offset);
  for (auto [loop, stride] : by_loop)
    if (stride != ex_.zero()) a.terms.push_back({k_.loops[loop].var, coeff(stride)});
  return a;
}

bool Nest::laid_out(std::int32_t id) const {
  const auto at = static_cast<std::size_t>(id);
  return at < in_.layouts.size() && !in_.layouts[at].empty();
}

ExprId Nest::stride_of(Source s) {
  if (s.field != Field::Layout || !laid_out(s.node)) return ex_.source(s);
  const Dims& axes = in_.layouts[static_cast<std::size_t>(s.node)];
  ExprId stride = ex_.constant(static_cast<std::int64_t>(itemsize(node(s.node).dtype)));
  for (int d = axes.size(); d-- > 0 && axes[d] != s.dim;)
    stride =
        ex_.mul(stride, ex_.source({s.node, Field::Shape, static_cast<std::int32_t>(axes[d])}));
  return stride;
}

Numbers Nest::strides_now(std::int32_t id) {
  Numbers strides = own_strides(node(id));
  if (laid_out(id))
    for (int d = 0; d < strides.size(); ++d)
      strides[d] = in_.facts.number(stride_of({id, Field::Layout, d}));
  return strides;
}

Coeff Nest::coeff(ExprId e) {
  if (!builds_) return {};
  if (ex_.is_constant(e)) return {ex_.value(e), ir::kNoParam};
  return {0, param(e)};
}

std::int32_t Nest::param(ExprId e) {
  auto it = std::find(out_.params.begin(), out_.params.end(), e);
  if (it == out_.params.end()) it = out_.params.insert(it, e);
  return static_cast<std::int32_t>(it - out_.params.begin());
}

ExprId Nest::small(ExprId e) {
  if (ex_.is_constant(e)) return e;
  constexpr std::int64_t kSmall = kShort * 16;
  const std::int64_t now = in_.facts.now(e);
  if (-kSmall <= now && now <= kSmall) return in_.facts.known(e);
  if (in_.facts.at_most(e, kSmall)) in_.facts.at_most(e, -kSmall - 1);
  return e;
}

std::int32_t Nest::buffer(BufferSource s, DType t, bool written) {
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

Val Nest::push(Inst i, std::int32_t loop) {
  k_.insts.push_back(i);
  Val v = static_cast<Val>(k_.insts.size() - 1);
  def_loop_.resize(k_.insts.size());
  def_loop_[v] = loop;
  if (loop >= 0) k_.loops[loop].body.push_back(v);
  return v;
}

Val Nest::constant(const Scalar& s) {
  Inst i{Op::Const, s.dtype};
  i.imm = s;
  return push(i, 0);
}

Val Nest::scalar(std::int32_t id) {
  auto it = std::find(out_.scalars.begin(), out_.scalars.end(), id);
  const std::int32_t index = static_cast<std::int32_t>(it - out_.scalars.begin());
  if (it == out_.scalars.end()) {
    out_.scalars.push_back(id);
    k_.scalars.push_back(node(id).dtype);
  }
  return push({Op::Arg, node(id).dtype, OpId::Count_, index}, 0);
}

Val Nest::number(ExprId e) {
  if (ex_.is_constant(e)) return constant(scalar_int(ex_.value(e)));
  return push({Op::Param, DType::Int64, OpId::Count_, builds_ ? param(e) : 0}, 0);
}

Val Nest::position(const AxisIndex& x) {
  Val v = x.at;
  if (x.loop >= 0) {
    Val l = k_.loops[x.loop].var;
    if (x.step != ex_.one()) l = apply(OpId::Multiply, DType::Int64, l, number(x.step), kNone);
    v = v == kNone ? l : apply(OpId::Add, DType::Int64, l, v);
  }
  if (v == kNone)
    v = number(x.start);
  else if (x.start != ex_.zero())
    v = integer(OpId::Add, v, number(x.start));
  if (x.inner != ex_.one()) v = integer(OpId::FloorDivide, v, number(x.inner));
  if (x.extent != ex_.zero()) v = integer(OpId::Remainder, v, number(x.extent));
  return v;
}

AxisIndex Nest::scaled(const AxisIndex& x, ExprId by) {
  if (x.divided()) return by == ex_.one() ? x : scaled(undivided(x), by);
  const Val at = x.at == kNone || by == ex_.one()
                     ? x.at
                     : apply(OpId::Multiply, DType::Int64, x.at, number(by));
  if (const auto steps = steps_.find(x.at); at != x.at && steps != steps_.end()) {
    std::vector<AxisIndex> all = steps->second;
    for (AxisIndex& one : all) one = {one.loop, ex_.mul(by, one.step), ex_.mul(by, one.start)};
    steps_.try_emplace(at, std::move(all));
  }
  return {x.loop, x.loop < 0 ? ex_.one() : ex_.mul(by, x.step), ex_.mul(by, x.start), at};
}

AxisIndex Nest::sum(const AxisIndex& a, const AxisIndex& b) {
  if (a == AxisIndex{}) return b;
  if (b == AxisIndex{}) return a;
  if (a.divided() || b.divided()) return sum(undivided(a), undivided(b));
  if (a.loop >= 0 && b.loop >= 0 && a.loop != b.loop) {
    const bool first = encloses(b.loop, a.loop);
    AxisIndex inner = first ? a : b, outer = first ? b : a;
    const Val at = position(outer);
    if (const auto known = steps_.find(outer.at); outer.at == kNone || known != steps_.end()) {
      std::vector<AxisIndex> all = outer.at == kNone ? std::vector<AxisIndex>{} : known->second;
      all.push_back({outer.loop, outer.step, outer.start});
      steps_.try_emplace(at, std::move(all));
    }
    return sum(inner, {-1, ex_.one(), ex_.zero(), at});
  }
  AxisIndex s{std::max(a.loop, b.loop), ex_.one(), ex_.add(a.start, b.start), a.at};
  if (s.loop >= 0) s.step = a.loop < 0 ? b.step : b.loop < 0 ? a.step : ex_.add(a.step, b.step);
  if (b.at != kNone) s.at = a.at == kNone ? b.at : integer(OpId::Add, a.at, b.at);
  if (steps_.count(a.at) > 0 && steps_.count(b.at) > 0) {
    std::vector<AxisIndex> all = steps_[a.at];
    all.insert(all.end(), steps_[b.at].begin(), steps_[b.at].end());
    steps_.try_emplace(s.at, std::move(all));
  }
  return s;
}

AffineIndex Nest::scaled(AffineIndex w, ExprId by) {
  w.start = ex_.mul(by, w.start);
  for (auto& [axis, step] : w.steps) step = ex_.mul(by, step);
  return w;
}

AffineIndex Nest::sum(AffineIndex a, const AffineIndex& b) {
  a.start = ex_.add(a.start, b.start);
  for (const auto& s : b.steps) {
    const auto same = std::find_if(a.steps.begin(), a.steps.end(),
                                   [&](const auto& of) { return of.first == s.first; });
    if (same == a.steps.end())
      a.steps.push_back(s);
    else
      same->second = ex_.add(same->second, s.second);
  }
  return a;
}

Val Nest::cast(Val v, DType t) {
  if (k_.insts[v].type == t) return v;
  return push({Op::Cast, t, OpId::Count_, 0, {v, kNone, kNone}}, def_loop_[v]);
}

Val Nest::apply(OpId fn, DType t, Val a, Val b, Val c) {
  const Val v[] = {a, b, c};
  std::int32_t at = 0;
  for (Val o : v)
    if (o != kNone && encloses(at, def_loop_[o])) at = def_loop_[o];
  out_.work += ops_weight(fn) * times(at);
  return push({Op::Apply, t, fn, 0, {v[0], v[1], v[2]}}, at);
}

Val Nest::push_load(std::int32_t b, Access a, DType t, std::int32_t loop) {
  if (!builds_) return push({Op::Const, t}, loop);
  Inst i{Op::Load, t, OpId::Count_, b};
  i.access = access(std::move(a));
  return push(i, loop);
}

Val Nest::either(Val first, Val a, Val b) {
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
void Nest::count_elements(std::int32_t loop) {
  const Machine& m = *in_.target.machine;
  out_.work += m.near_element / m.cycle * times(loop);
}

Val Nest::push_gather(std::int32_t b, Access a, Val index, Coeff stride, DType t) {
  std::int32_t loop = def_loop_[index];
  for (const Term& term : a.terms)
    if (encloses(loop, def_loop_[term.var])) loop = def_loop_[term.var];
  count_elements(loop);
  Inst i{Op::Gather, t, OpId::Count_, b, {index, kNone, kNone}};
  i.access = access(std::move(a));
  i.stride = stride;
  return push(i, loop);
}

void Nest::push_scatter(OpId fn, std::int32_t b, Access a, Val index, Coeff stride, Val v,
                        std::int32_t loop) {
  count_elements(loop);
  if (!builds_) return;
  Inst i{Op::Scatter, k_.insts[v].type, fn, b, {index, v, kNone}};
  i.access = access(std::move(a));
  i.stride = stride;
  push(i, loop);
}

void Nest::push_store(std::int32_t b, Access a, Val v, std::int32_t loop, bool nontemporal) {
  if (!builds_) return;
  Inst i{Op::Store, k_.insts[v].type, OpId::Count_, b, {v, kNone, kNone}};
  i.access = access(std::move(a));
  i.nontemporal = nontemporal;
  push(i, loop);
}

std::int32_t Nest::place(Place p, DType t, ExprId count, std::int32_t home) {
  p.local = static_cast<std::int32_t>(k_.locals.size());
  k_.locals.push_back({t, coeff(count), home});
  out_.places.push_back(p);
  return p.local;
}

void Nest::push_store_local(std::int32_t local, Access a, Val v, std::int32_t loop) {
  Inst i{Op::StoreLocal, k_.insts[v].type, OpId::Count_, local, {v, kNone, kNone}};
  i.access = access(std::move(a));
  push(i, loop);
}

std::int32_t Nest::access(Access a) {
  k_.accesses.push_back(std::move(a));
  return static_cast<std::int32_t>(k_.accesses.size() - 1);
}

Val Nest::load_local(std::int32_t local, Access a, std::int32_t loop) {
  Inst i{Op::LoadLocal, k_.locals[local].dtype, OpId::Count_, local};
  i.access = access(std::move(a));
  return push(i, loop);
}

Val Nest::push_local(Op op, std::int32_t local, std::int32_t loop, DType t, Val v) {
  Access a;
  a.terms.push_back({k_.loops[loop].var, {1, ir::kNoParam}});
  Inst i{op, t, OpId::Count_, local, {v, kNone, kNone}};
  i.access = access(std::move(a));
  return push(i, loop);
}

std::int32_t Nest::open(std::int32_t parent, ExprId extent) {
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

std::int32_t Nest::open_between(std::int32_t parent, Val begin, Val end, ExprId extent,
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

Val Nest::close(std::int32_t l) {
  const bool reduce = !k_.loops[l].reductions.empty();
  closed_[l] = true;
  return push({reduce ? Op::Reduce : Op::For, DType::Int64, OpId::Count_, l}, parent_[l]);
}

void Nest::close_all(const std::vector<std::int32_t>& loops) {
  for (auto l = loops.rbegin(); l != loops.rend(); ++l) close(*l);
}

std::pair<Val, Val> Nest::range_of_block(Val block, ExprId most, ExprId extent) {
  const Val each = number(most), from = integer(OpId::Multiply, block, each);
  return {from, integer(OpId::Minimum, integer(OpId::Add, from, each), number(extent))};
}

bool Nest::encloses(std::int32_t outer, std::int32_t inner) const {
  for (; inner >= 0; inner = parent_[inner])
    if (inner == outer) return true;
  return false;
}

std::int32_t Nest::innermost(const Index& idx) const {
  std::int32_t at = 0;
  for (const AxisIndex& x : idx) {
    if (x.loop > 0 && encloses(at, x.loop)) at = x.loop;
    if (x.at != kNone && encloses(at, def_loop_[x.at])) at = def_loop_[x.at];
  }
  return at;
}

double Nest::times(std::int32_t loop) const {
  double t = 1;
  bool shared = false;  // the chunks have the iterations of a loop between them
  for (; loop >= 0; loop = parent_[loop]) {
    shared |= chunked_ && k_.loops[loop].begin != kNone;
    if (loop > 0 || !shared) t *= std::max(1.0, trips_[loop]);
  }
  return t;
}

void Nest::divide(std::int32_t view, Index& at) {
  const std::int32_t base = g_[view].in[0];
  const Dims& wider = g_[view].index->wider;
  const auto extent = [&](std::int64_t d) {
    return small(ex_.source({base, Field::Shape, static_cast<std::int32_t>(d)}));
  };
  for (int first = 0; first < wider.size(); ++first) {
    if (wider[first] < 0 || std::find(wider.begin(), wider.end(), first) != wider.end()) continue;
    AxisIndex whole = at[static_cast<std::size_t>(first)];
    if (whole == AxisIndex{}) continue;
    ExprId all = ex_.one();
    for (std::int64_t d = first; d >= 0; d = wider[d]) all = ex_.mul(all, extent(d));
    // Digits of a digit.
    if (whole.extent != ex_.zero() && !in_.facts.equal(whole.extent, all)) whole = undivided(whole);
    ExprId inner = whole.inner;
    for (std::int64_t d = first; d >= 0; d = wider[d]) {
      AxisIndex& digit = at[static_cast<std::size_t>(d)] = whole;
      digit.inner = inner;
      digit.extent = wider[d] < 0 && whole.extent == ex_.zero() ? ex_.zero() : extent(d);
      inner = ex_.mul(inner, extent(d));
    }
  }
}

Val Nest::add_var(std::int32_t loop) {
  k_.insts.push_back({Op::Var, DType::Int64, OpId::Count_, loop});
  def_loop_.push_back(loop);
  return static_cast<Val>(k_.insts.size() - 1);
}

}  // namespace plait::fusion
