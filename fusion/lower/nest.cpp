#include "nest.hpp"

#include <algorithm>
#include <map>

namespace plait::fusion {
using namespace ir;

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

ExprId Nest::small(ExprId e) {
  if (ex_.is_constant(e)) return e;
  constexpr std::int64_t kSmall = kShort * 16;
  const std::int64_t now = in_.facts.now(e);
  if (-kSmall <= now && now <= kSmall) return in_.facts.known(e);
  if (in_.facts.at_most(e, kSmall)) in_.facts.at_most(e, -kSmall - 1);
  return e;
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

std::int32_t Nest::innermost(const Index& idx) const {
  std::int32_t at = 0;
  for (const AxisIndex& x : idx) {
    if (x.loop > 0 && encloses(at, x.loop)) at = x.loop;
    if (x.at != kNone && encloses(at, def_loop_[x.at])) at = def_loop_[x.at];
  }
  return at;
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

}  // namespace plait::fusion
