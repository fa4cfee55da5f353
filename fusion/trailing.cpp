#include "trailing.hpp"

namespace plait::fusion {
using namespace ir;

namespace {

ExprId expr(Exprs& exprs, const LoweredKernel& k, const Coeff& c) {
  return c.param == kNoParam ? exprs.constant(c.value) : k.params[c.param];
}

// A loop that starts at zero and has an end that is known when the plan is bound.
std::optional<ExprId> extent(Exprs& exprs, const LoweredKernel& k, Val var) {
  for (std::size_t l = 1; l < k.kernel.loops.size(); ++l) {
    const Loop& loop = k.kernel.loops[l];
    if (loop.var != var || loop.begin != kNone) continue;
    const Inst& end = k.kernel.insts[loop.end];
    if (end.op == Op::Const) return exprs.constant(end.imm.as<std::int64_t>());
    if (end.op == Op::Param) return k.params[end.index];
  }
  return std::nullopt;
}

std::optional<Footprint> footprint(Exprs& exprs, const LoweredKernel& k, const Inst& i) {
  const Access& a = k.kernel.accesses[i.access];
  Footprint f{expr(exprs, k, a.offset),
              exprs.zero(),
              {},
              static_cast<std::int64_t>(itemsize(k.kernel.buffers[i.index].dtype))};
  for (const Term& t : a.terms) {
    const ExprId stride = expr(exprs, k, t.stride);
    if (t.var == k.kernel.loops[0].var) {
      f.stride = exprs.add(f.stride, stride);
    } else if (const auto e = extent(exprs, k, t.var)) {
      f.inner.push_back({*e, stride});
    } else {
      return std::nullopt;
    }
  }
  return f;
}

}  // namespace

std::optional<Trailing> trailing(Exprs& exprs, const LoweredKernel& k, std::int32_t update,
                                 const std::function<bool(std::int32_t)>& old) {
  std::optional<Trailing> t;
  std::vector<Footprint> loads;
  for (const Inst& i : k.kernel.insts) {
    if (i.op != Op::Load && i.op != Op::Gather && i.op != Op::Store) continue;
    const BufferSource& b = k.buffers[i.index];
    if (i.op == Op::Gather) {
      // Anywhere in what it reads.
      if (b.kind != BufferSource::NodeMemory || old(b.index)) return std::nullopt;
      continue;
    }
    if (b.kind != BufferSource::NodeMemory) return std::nullopt;
    const bool store = i.op == Op::Store;
    // A masked store reads what it may leave.
    if (store ? t.has_value() : b.index == update) return std::nullopt;
    if (!store && !old(b.index)) continue;
    const auto f = footprint(exprs, k, i);
    if (!f) return std::nullopt;
    if (store)
      t = Trailing{i.index, *f, {}};
    else
      loads.push_back(*f);
  }
  if (t) t->loads = std::move(loads);
  return t;
}

}  // namespace plait::fusion
