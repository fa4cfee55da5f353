#include "mapping.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace plait::cuda {
using ir::Inst;
using ir::kNone;
using ir::kNoParam;
using ir::Op;
using ir::Val;

namespace {

bool opens_loop(const Inst& i) { return i.op == Op::For || i.op == Op::Reduce; }

bool inexact(DType t) { return is_float(t) || is_complex(t); }

template <class F>
void each_inst(const ir::Kernel& k, std::int32_t loop, F&& f) {
  for (Val v : k.loops[loop].body) {
    f(k.insts[v], loop);
    if (opens_loop(k.insts[v])) each_inst(k, k.insts[v].index, f);
  }
}

// Whether every store under `loop` goes to a place of its own for each iteration of it.
bool stores_apart(const ir::Kernel& k, std::int32_t loop) {
  bool apart = true;
  each_inst(k, loop, [&](const Inst& i, std::int32_t) {
    if (i.op != Op::Store && i.op != Op::StoreLocal) return;
    if (i.op == Op::StoreLocal) {
      // A local that lives inside the loop is each iteration's own.
      std::int32_t home = k.locals[i.index].home;
      bool inside = home == loop;
      each_inst(k, loop,
                [&](const Inst& l, std::int32_t) { inside |= opens_loop(l) && l.index == home; });
      if (inside) return;
    }
    const auto& terms = k.accesses[i.access].terms;
    apart &= std::any_of(terms.begin(), terms.end(), [&](const ir::Term& t) {
      return t.var == k.loops[loop].var && (t.stride.param != kNoParam || t.stride.value != 0);
    });
  });
  return apart;
}

// The value of a Const or Param, if it is one.
bool known(const ir::Kernel& k, Val v, const std::int64_t* params, std::int64_t* value) {
  const Inst& i = k.insts[v];
  if (i.op == Op::Const) *value = i.imm.as<std::int64_t>();
  if (i.op == Op::Param && params) *value = params[i.index];
  return i.op == Op::Const || (i.op == Op::Param && params);
}

// The loop that a flattened chain goes on with below `loop`; -1 when it ends here. What stands
// beside that loop is computed again for each of its iterations, so it has to be cheap.
std::int32_t next_in_chain(const ir::Kernel& k, std::int32_t loop) {
  std::int32_t child = -1;
  for (const ir::Local& l : k.locals)
    if (l.home == loop) return -1;
  for (Val v : k.loops[loop].body) {
    const Inst& i = k.insts[v];
    if (opens_loop(i)) {
      if (child >= 0 || i.op == Op::Reduce) return -1;
      child = i.index;
    } else if (i.op == Op::Store || i.op == Op::StoreLocal ||
               (i.op == Op::Load && k.buffers[i.index].written) ||
               (i.op == Op::Apply && op_info(i.fn).cost == Cost::Expensive)) {
      return -1;
    }
  }
  if (child < 0) return -1;
  const ir::Loop& c = k.loops[child];
  std::int64_t unused;
  auto bound = [&](Val v) {
    return v == kNone || k.insts[v].op == Op::Param || known(k, v, nullptr, &unused);
  };
  return c.begin == kNone && bound(c.end) && stores_apart(k, child) ? child : -1;
}

}  // namespace

bool is_arg(const ir::Reduction& r) {
  return r.kind == ReduceKind::ArgMin || r.kind == ReduceKind::ArgMax;
}
bool is_tree(const ir::Kernel& k, const ir::Reduction& r) {
  return r.kind == ReduceKind::Sum && r.order == ir::Order::Pairwise &&
         inexact(k.insts[r.value].type);
}

namespace {

// Iterations of a loop, for the extents of a call; -1 when they are known on the device only.
std::int64_t trips(const ir::Kernel& k, std::int32_t loop, const Extents& e) {
  if (loop == 0) return e.grid;
  const ir::Loop& l = k.loops[loop];
  std::int64_t begin = 0, end = 0;
  if ((l.begin != kNone && !known(k, l.begin, e.params, &begin)) ||
      !known(k, l.end, e.params, &end))
    return -1;
  return std::max<std::int64_t>(0, end - begin);
}

// The margin below 2^31 is the stride of a grid.
constexpr std::int64_t kIndexLimit = (std::int64_t{1} << 31) - (std::int64_t{1} << 21);

}  // namespace

Nest analyse_nest(const ir::Kernel& k) {
  Nest n;
  for (std::int32_t l = 0; l >= 0; l = next_in_chain(k, l)) n.chain.push_back(l);
  for (const Inst& i : k.insts) {
    if (i.access < 0) continue;
    for (const ir::Term& t : k.accesses[i.access].terms) {
      const Op op = k.insts[t.var].op;
      n.computed_index |= op != Op::Var && op != Op::Const && op != Op::Param;
    }
  }
  return n;
}

std::int64_t iterations(const ir::Kernel& k, const Nest& n, const Extents& e) {
  std::int64_t total = 1;
  for (std::int32_t l : n.chain) total *= std::max<std::int64_t>(0, trips(k, l, e));
  return total;
}

bool needs_wide(const ir::Kernel& k, const Nest& n, const Extents& e) {
  if (n.computed_index || e.split >= kIndexLimit) return true;
  double total = 1;
  for (std::int32_t l : n.chain)
    total *= static_cast<double>(std::max<std::int64_t>(1, trips(k, l, e)));
  if (total >= static_cast<double>(kIndexLimit)) return true;
  // What a loop's variable stays below; -1 when nothing bounds it. The bounds of a Blocked region's
  // chunks are read from memory, and lie within the axis that is cut.
  auto reach = [&](std::int32_t l) -> std::int64_t {
    std::int64_t begin = 0, end = 0;
    if (l == 0) return e.grid;
    if (!known(k, k.loops[l].end, e.params, &end)) return e.split > 0 ? e.split : -1;
    if (k.loops[l].begin != kNone && known(k, k.loops[l].begin, e.params, &begin))
      return std::max(std::abs(begin), std::abs(end));
    return std::abs(end);
  };
  for (std::size_t l = 0; l < k.loops.size(); ++l) {
    const std::int64_t r = reach(static_cast<std::int32_t>(l));
    if (r < 0 || r >= kIndexLimit) return true;
  }
  for (const Inst& i : k.insts) {
    if (i.access < 0) continue;
    const ir::Access& a = k.accesses[i.access];
    auto coeff = [&](const ir::Coeff& c) {
      return std::abs(static_cast<double>(c.param == kNoParam ? c.value : e.params[c.param]));
    };
    double most = coeff(a.offset);
    for (const ir::Term& t : a.terms) {
      std::int64_t v = 0;
      if (k.insts[t.var].op == Op::Var)
        v = reach(k.insts[t.var].index);
      else
        known(k, t.var, e.params, &v);
      most += std::abs(static_cast<double>(v)) * coeff(t.stride);
    }
    if (most >= static_cast<double>(kIndexLimit)) return true;
  }
  return false;
}

}  // namespace plait::cuda
