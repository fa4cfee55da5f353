#include "mapping.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "ir/analysis.hpp"
#include "packs.hpp"
#include "rows.hpp"
#include "tiles.hpp"
#include "turns.hpp"

namespace plait::cuda {

namespace {

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
    if (i.op != Op::Store && i.op != Op::StoreLocal && i.op != Op::Scatter) return;
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
  const bool is = k.insts[v].op == Op::Const || (k.insts[v].op == Op::Param && params);
  if (is) *value = value_of(k, v, params);
  return is;
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
    } else if (i.op == Op::Store || i.op == Op::StoreLocal || i.op == Op::Product ||
               i.op == Op::Scatter || (i.op == Op::Load && k.buffers[i.index].written) ||
               (i.op == Op::Apply && op_info(i.fn).cost == Cost::Expensive)) {
      return -1;
    }
  }
  if (child < 0 || ir::multiplies(k, child)) return -1;
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
DType kept_type(const ir::Reduction& r, DType t) {
  const bool keeps_bits = r.kind == ReduceKind::Any || r.kind == ReduceKind::All;
  return t == DType::Float16 && !keeps_bits ? DType::Float32 : t;
}
bool is_tree(const ir::Kernel& k, const ir::Reduction& r) {
  return r.kind == ReduceKind::Sum && r.order == ir::Order::Pairwise &&
         inexact(k.insts[r.value].type);
}

// IEEE division and roots have calls for rare values.
int body_size(const ir::Kernel& k, std::int32_t l) {
  int size = 0;
  for (Val v : k.loops[l].body) {
    const Inst& i = k.insts[v];
    if (opens_loop(i)) size += 100;
    if (i.op != Op::Apply) continue;
    const bool calls = i.fn == OpId::Divide || i.fn == OpId::Sqrt;
    size += op_info(i.fn).cost == Cost::Cheap && !calls ? 1 : 8;
  }
  return size;
}
bool is_light_sum(const ir::Kernel& k, std::int32_t loop) {
  bool real = false, complex = false;
  for (const ir::Reduction& r : k.loops[loop].reductions)
    if (is_tree(k, r)) (is_complex(k.insts[r.value].type) ? complex : real) = true;
  return real != complex && body_size(k, loop) <= 24;
}

std::int64_t trips(const ir::Kernel& k, std::int32_t loop, const Extents& e) {
  if (loop == 0) return e.grid;
  const ir::Loop& l = k.loops[loop];
  std::int64_t begin = 0, end = 0;
  if ((l.begin != kNone && !known(k, l.begin, e.params, &begin)) ||
      !known(k, l.end, e.params, &end))
    return -1;
  return std::max<std::int64_t>(0, end - begin);
}

namespace {

// The margin below 2^31 is the stride of a grid.
constexpr std::int64_t kIndexLimit = (std::int64_t{1} << 31) - (std::int64_t{1} << 21);

bool same_access(const ir::Access& a, const ir::Access& b) {
  return same(a.offset, b.offset) &&
         std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(), b.terms.end(),
                    [](const ir::Term& s, const ir::Term& t) {
                      return s.var == t.var && same(s.stride, t.stride);
                    });
}
// Whether an iteration may read what another one of the same loop writes to a local.
bool carries(const ir::Kernel& k, std::int32_t loop) {
  bool any = false;
  each_inst(k, loop, [&](const Inst& store, std::int32_t) {
    if (store.op != Op::StoreLocal) return;
    each_inst(k, loop, [&](const Inst& load, std::int32_t) {
      any |= load.op == Op::LoadLocal && load.index == store.index &&
             !same_access(k.accesses[load.access], k.accesses[store.access]);
    });
  });
  return any;
}
// Whether threads may take the iterations of this loop side by side: no order shows and nothing is
// stored twice to one place.
bool can_share(const ir::Kernel& k, std::int32_t loop) {
  if (ir::scans_inside(k, loop)) return false;
  bool complex = false, real = false;
  for (const ir::Reduction& r : k.loops[loop].reductions) {
    const DType t = k.insts[r.value].type;
    const bool ordered = r.kind == ReduceKind::Sum || r.kind == ReduceKind::Prod;
    if (ordered && inexact(t) && !is_tree(k, r)) return false;
    if (is_tree(k, r)) (is_complex(t) ? complex : real) = true;
  }
  // Sums of both kinds have trees of two shapes.
  return !(complex && real) && stores_apart(k, loop) && !carries(k, loop);
}

// Loops right under `loop`.
template <class F>
void each_loop(const ir::Kernel& k, std::int32_t loop, F&& f) {
  for (Val v : k.loops[loop].body)
    if (opens_loop(k.insts[v])) f(k.insts[v].index);
}

void mark_in_thread(const ir::Kernel& k, Nest& n, std::int32_t loop) {
  n.in_thread[loop] = 1;
  each_loop(k, loop, [&](std::int32_t l) { mark_in_thread(k, n, l); });
}

// Marks the loops under `loop` that a team shares: a loop that no loop stands in or only short
// ones, and else one that leaves nothing to share below it. Returns whether there are any.
bool mark_shared(const ir::Kernel& k, Nest& n, std::int32_t loop) {
  constexpr std::int64_t kShort = 16;
  bool any = false;
  each_loop(k, loop, [&](std::int32_t l) {
    bool brief = true;
    each_inst(k, l, [&](const Inst& i, std::int32_t) {
      std::int64_t end = 0;
      if (opens_loop(i)) brief &= known(k, k.loops[i.index].end, nullptr, &end) && end <= kShort;
    });
    if (!(brief && can_share(k, l)) && mark_shared(k, n, l)) {
      any = true;
    } else if (can_share(k, l)) {
      any = true;
      n.shared[l] = 1;
      mark_in_thread(k, n, l);
    }
  });
  return any;
}

}  // namespace

Nest analyse_nest(const ir::Kernel& k) {
  Nest n;
  for (std::int32_t l = 0; l >= 0; l = next_in_chain(k, l)) n.chain.push_back(l);
  const std::int32_t last = n.chain.back();
  n.shared.resize(k.loops.size());
  n.in_thread.resize(k.loops.size());
  n.shareable = mark_shared(k, n, last);
  each_inst(k, last, [&](const Inst& i, std::int32_t at) {
    n.nested_below |= opens_loop(i) && at != last;
    // All threads of a team would write the local, some after others have read it.
    if (i.op == Op::StoreLocal && !n.in_thread[at]) n.shareable = false;
    // No extent bounds an index.
    n.computed_index |= i.op == Op::Gather || i.op == Op::Scatter;
    // One thread scans, and scatters, in order.
    n.shareable &= i.op != Op::Running && i.op != Op::Scatter;
    // A thread multiplies fragments by itself, at addresses that no extent is asked about.
    if (i.op != Op::Product) return;
    n.shareable = false;
    n.computed_index = true;
  });
  const auto in_chain = [&](std::int32_t l) {
    return std::find(n.chain.begin(), n.chain.end(), l) != n.chain.end();
  };
  each_inst(k, 0, [&](const Inst& i, std::int32_t at) {
    if (i.access < 0) return;
    bool moves_above = i.op == Op::LoadLocal || i.op == Op::StoreLocal, moves_below = false;
    for (const ir::Term& t : k.accesses[i.access].terms) {
      const Inst& var = k.insts[t.var];
      if (var.op == Op::Var) {
        (in_chain(var.index) ? moves_above : moves_below) = true;
        moves_above |= k.loops[var.index].begin != kNone;  // a chunk of a long row
      }
      n.computed_index |= var.op != Op::Var && var.op != Op::Const && var.op != Op::Param;
      if ((i.op != Op::Load && i.op != Op::Store) || in_chain(at)) continue;
      if (var.op != Op::Var || t.stride.param != kNoParam ||
          std::abs(t.stride.value) != static_cast<std::int64_t>(itemsize(i.type)))
        continue;
      ++(in_chain(var.index) ? n.along_chain : n.along_inner);
    }
    n.own_rows |= moves_above && moves_below;
  });
  find_packs(k, n);
  n.tiles = find_tiles(k, n);
  n.streams = find_streams(k, n);
  find_turns(k, n);
  n.kept = find_rows(k, n);
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

Home home_of(const ir::Local& l, const Nest& n, const Mapping& m) {
  constexpr std::int64_t kMostRegisters = 32;
  if (m.team > 1 && !n.in_thread[l.home]) return Home::Team;
  return l.count.param == kNoParam && l.count.value <= kMostRegisters ? Home::Registers
                                                                      : Home::Thread;
}

std::int64_t row_bytes(const ir::Local& l, const std::int64_t* params) {
  const auto item = static_cast<std::int64_t>(itemsize(l.dtype));
  return (std::max<std::int64_t>(1, ir::local_count(l, params)) * item + 15) / 16 * 16;
}
std::int64_t team_bytes(const ir::Kernel& k, const Nest& n, const Mapping& m,
                        const std::int64_t* params) {
  std::int64_t total = 0;
  for (const ir::Local& l : k.locals)
    if (home_of(l, n, m) == Home::Team) total += row_bytes(l, params);
  if (m.keeps_rows)
    for (const KeptRow& r : n.kept)
      if (r.local < 0) total += row_bytes({r.dtype, r.count, 0}, params);
  return total;
}

int exchange_bytes(const ir::Kernel& k, const Mapping& m) {
  if (m.team == 1) return 0;
  // Slots for the leaves of a sum: 1024 elements at least for 8 lanes, 32768 for a block.
  const int slots = m.team <= 8 ? 16 : m.team <= 32 ? 32 : 512;
  int most = 16;
  for (const ir::Loop& l : k.loops) {
    int trees = 0, widest = 0;
    for (const ir::Reduction& r : l.reductions) {
      const int bytes =
          std::max(4, static_cast<int>(itemsize(kept_type(r, k.insts[r.value].type))));
      // In a structure each part takes as much as the widest.
      if (is_tree(k, r)) ++trees, widest = std::max(widest, bytes);
      if (m.team > 32)
        most = std::max(most, m.team / 32 * (is_arg(r) ? 8 + std::max(8, bytes) : bytes));
    }
    most = std::max(most, slots * trees * widest);
  }
  return (most + 15) / 16 * 16;
}

namespace {

// Iterations of the longest loop that a team shares.
std::int64_t shared_length(const ir::Kernel& k, const Nest& n, const Extents& e) {
  std::int64_t length = 1;
  for (std::size_t l = 1; l < k.loops.size(); ++l) {
    if (!n.shared[l]) continue;
    std::int64_t count = trips(k, static_cast<std::int32_t>(l), e);
    // Only a chunk's bounds are known on the device alone.
    if (count < 0) count = e.split > 0 ? e.split / std::max<std::int64_t>(1, e.grid) : 64;
    length = std::max(length, count);
  }
  return length;
}

// Short rows in plenty go to lanes of a warp; a block has about 32 elements a thread, or 8 where
// rows are too few to fill the device.
int team_size(const Target& t, std::int64_t rows, std::int64_t length) {
  const bool many = rows >= 64 * std::int64_t{t.multiprocessors};
  if (many && length <= 128) return 8;
  if (length <= 256 || (many && length <= 1024)) return 32;
  const bool crowded = rows >= 4 * std::int64_t{t.multiprocessors};
  return length > 1024 * (crowded ? 32 : 8) ? 1024 : 256;
}

}  // namespace

Mapping choose(const ir::Kernel& k, const Nest& n, const Target& t, const Extents& e) {
  Mapping m;
  m.wide = needs_wide(k, n, e);
  const std::int64_t rows = iterations(k, n, e);
  const bool fills = rows >= 512 * std::int64_t{t.multiprocessors};
  // Packs leave fewer threads, and short rows have more ends than middle.
  if (n.pack > 1 && trips(k, n.chain.back(), e) >= 16 * n.pack &&
      rows / n.pack >= 512 * std::int64_t{t.multiprocessors})
    m.pack = n.pack;
  if (n.turned_loop >= 0 && fills)
    m.turned = trips(k, n.chain.back(), e) >= kTurn && trips(k, n.turned_loop, e) >= kTurn;
  const std::int64_t length = n.shareable ? shared_length(k, n, e) : 0;
  // Threads of a warp read side by side across the rows, where enough rows are there.
  const bool across =
      n.along_inner <= n.along_chain && rows >= 64 * std::int64_t{t.multiprocessors};
  // What all iterations read alike is one access for the threads of a warp, whichever way it lies.
  if (length <= 8 || across || (fills && (n.nested_below || !n.own_rows))) {
    choose_tiles(m, k, n, t, e, rows);
    return m;
  }
  m.team = team_size(t, rows, length);
  const auto fits = [&](int blocks) {
    const std::int64_t teams = m.threads() / m.team;
    return teams * (team_bytes(k, n, m, e.params) + exchange_bytes(k, m)) <=
           shared_bytes(t, blocks);
  };
  // Long rows take a whole multiprocessor, which a larger block keeps busy.
  m.keeps_rows = !n.kept.empty();
  if (m.team == 256 && !fits(3)) m.team = 1024;
  m.keeps_rows &= fits(m.team == 1024 ? 1 : 2);
  m.rows_shared = fits(1);
  return m;
}

}  // namespace plait::cuda
