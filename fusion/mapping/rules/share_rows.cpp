// A team an iteration. What several of its loops load of the same row (a standardise reads it three
// times) stays in shared memory from the first of them on, like a row buffer of the region's own.
#include <algorithm>

#include "../rule.hpp"

namespace plait::mapping {

namespace {

bool same_number(const ir::Kernel& k, Val a, Val b) {
  const Inst &x = k.insts[a], &y = k.insts[b];
  return known(k, a) && x.op == y.op &&
         (x.op == Op::Param ? x.index == y.index
                            : x.imm.as<std::int64_t>() == y.imm.as<std::int64_t>());
}

// How many iterations a loop has that starts at 0.
ir::Coeff count_of(const ir::Kernel& k, const ir::Loop& l) {
  const Inst& end = k.insts[l.end];
  return end.op == Op::Param ? ir::Coeff{0, end.index} : ir::Coeff{end.imm.as<std::int64_t>()};
}

bool same_place(const ir::Kernel& k, Val a, std::int32_t loop_a, Val b, std::int32_t loop_b) {
  const Inst &x = k.insts[a], &y = k.insts[b];
  const ir::Access &p = k.accesses[x.access], &q = k.accesses[y.access];
  return x.index == y.index && x.type == y.type && same(p.offset, q.offset) &&
         std::equal(p.terms.begin(), p.terms.end(), q.terms.begin(), q.terms.end(),
                    [&](const ir::Term& s, const ir::Term& t) {
                      const bool moves = s.var == k.loops[loop_a].var;
                      return same(s.stride, t.stride) &&
                             (moves ? t.var == k.loops[loop_b].var : s.var == t.var);
                    });
}

// A load that moves with its loop, and with the flattened ones: a row of the team's own.
bool of_row(const ir::Kernel& k, const NestFacts& n, const Inst& load, std::int32_t loop) {
  bool moves = false, own = false;
  for (const ir::Term& t : k.accesses[load.access].terms) {
    moves |= t.var == k.loops[loop].var;
    for (std::int32_t c : n.chain) own |= t.var == k.loops[c].var;
  }
  return moves && own;
}

// A row buffer that the region fills, element by element, in the loop of the row's last load and
// after that load: the row can wait in its memory. -1 when there is none.
std::int32_t free_local(const ir::Kernel& k, const NestFacts& n, const ir::Row& row) {
  const auto& [loop, load] = row.readers.back();
  const ir::Loop& last = k.loops[loop];
  for (std::size_t l = 0; l < k.locals.size(); ++l) {
    const ir::Local& local = k.locals[l];
    if (local.home != n.chain.back() || local.dtype != k.insts[load].type ||
        !same(local.count, row.count))
      continue;
    const auto uses = [&](const Inst& i) {
      return (i.op == Op::StoreLocal || i.op == Op::LoadLocal) &&
             i.index == static_cast<std::int32_t>(l);
    };
    bool loaded = false, fills = false, earlier = false;
    for (Val v : last.body) {
      const Inst& i = k.insts[v];
      loaded |= v == load;
      earlier |= opens_loop(i);
      if (!uses(i)) continue;
      const ir::Access& a = k.accesses[i.access];
      const bool element = a.terms.size() == 1 && a.terms[0].var == last.var &&
                           same(a.terms[0].stride, {1}) && same(a.offset, {0});
      fills |= loaded && element && i.op == Op::StoreLocal;
      earlier |= !fills;
    }
    for (Val v : k.loops[n.chain.back()].body) {
      if (!opens_loop(k.insts[v])) continue;
      if (k.insts[v].index == loop) break;
      for (Val inner : k.loops[k.insts[v].index].body)
        earlier |= uses(k.insts[inner]) || opens_loop(k.insts[inner]);
    }
    if (fills && !earlier) return static_cast<std::int32_t>(l);
  }
  return -1;
}

// Rows that loops under the chain load at the same addresses, iteration by iteration.
void find_rows(const ir::Kernel& k, NestFacts& n) {
  std::vector<ir::Row>& rows = n.kept;
  for (Val v : k.loops[n.chain.back()].body) {
    if (!opens_loop(k.insts[v])) continue;
    const std::int32_t loop = k.insts[v].index;
    const ir::Loop& l = k.loops[loop];
    if (!n.shared[loop] || l.begin != kNone || !known(k, l.end)) continue;
    for (Val load : l.body) {
      const Inst& i = k.insts[load];
      if (i.op != Op::Load || !of_row(k, n, i, loop)) continue;
      const auto row = std::find_if(rows.begin(), rows.end(), [&](const ir::Row& r) {
        const auto& [first, at] = r.readers.front();
        return same_number(k, k.loops[first].end, l.end) && same_place(k, at, first, load, loop);
      });
      if (row == rows.end())
        rows.push_back({{{loop, load}}, n.chain.back(), count_of(k, l)});
      else if (row->readers.front().loop != loop)
        row->readers.push_back({loop, load});
    }
  }
  std::erase_if(rows, [](const ir::Row& r) { return r.readers.size() == 1; });
  for (ir::Row& r : rows) {
    r.local = free_local(k, n, r);
    // One row waits in a buffer.
    for (const ir::Row& other : rows)
      if (&other < &r && other.local == r.local) r.local = -1;
  }
}

void offer_teams(const MappingQuery& l, std::vector<CostedMapping>& offers) {
  // Shorter rows leave the smallest team without work.
  if (!l.nest.shareable || l.length <= l.gpu.teams[0].threads) return;
  const auto length = static_cast<double>(l.length);
  for (const GpuTeam& team : l.gpu.teams) {
    if (l.nest.scans && team.threads < 32) continue;
    Mapping m = l.plain.mapping;
    m.team = team.threads;
    m.rows_shared = true;
    const auto fits = [&](int blocks) {
      const std::int64_t teams = m.threads() / m.team;
      return teams * (team_bytes(l.kernel, l.nest, m, l.extents.params) +
                      exchange_bytes(l.kernel, m)) <=
             shared_bytes(l.gpu, blocks);
    };
    const bool largest = &team == std::end(l.gpu.teams) - 1, block = m.team == m.threads();
    const bool keeps = !l.nest.kept.empty();
    m.keeps_rows = keeps;
    // Long rows take a whole multiprocessor, which a larger block keeps busy.
    if (block && !largest && !fits(3)) continue;
    m.keeps_rows = keeps && fits(largest ? 1 : 2);
    m.rows_shared = fits(1);
    double element = team.element;
    if (keeps != m.keeps_rows || !m.rows_shared) element += l.gpu.unshared_row;
    const double wait = element * length / m.team + team.wait;
    if (l.across) element += l.gpu.apart - l.gpu.element;
    offers.push_back({m, std::max(wait, l.waves * (length * element + team.join))});
  }
}

}  // namespace

const MappingRule share_rows{find_rows, offer_teams};

}  // namespace plait::mapping
