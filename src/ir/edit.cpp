#include "edit.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analysis.hpp"

namespace plait::ir {

namespace {

// The same in every iteration of every loop: it may stand anywhere.
bool number_of_call(const Inst& i) {
  return i.op == Op::Const || i.op == Op::Param || i.op == Op::Arg;
}

// What loop `row` has of `value` in an iteration goes to the local's element of that number.
void store_element(Kernel& k, std::int32_t row, Val value, std::int32_t local) {
  const Inst store{.op = Op::StoreLocal,
                   .type = k.insts[value].type,
                   .index = local,
                   .operands = {value, kNone, kNone},
                   .access = append(k, element(k, row))};
  insert_after(k.loops[row], value, append(k, store));
}

void rehome(Kernel& k, std::int32_t from, std::int32_t to) {
  for (Local& local : k.locals)
    if (local.home == from) local.home = to;
}

}  // namespace

Val append(Kernel& k, const Inst& i) {
  k.insts.push_back(i);
  return static_cast<Val>(k.insts.size() - 1);
}

std::int32_t append(Kernel& k, Access a) {
  k.accesses.push_back(std::move(a));
  return static_cast<std::int32_t>(k.accesses.size() - 1);
}

std::int32_t append_loop(Kernel& k, Val end) {
  const auto l = static_cast<std::int32_t>(k.loops.size());
  Loop loop;
  loop.var = append(k, Inst{.op = Op::Var, .index = l});
  loop.end = end;
  k.loops.push_back(std::move(loop));
  return l;
}

Access element(const Kernel& k, std::int32_t loop) { return {{}, {{k.loops[loop].var, {1}}}}; }

void set_lanes(Kernel& k, std::int32_t l, bool lanes) {
  Scope& scope = k.loops[l].scope;
  if (lanes)
    scope = Scope::Lanes;
  else if (scope == Scope::Lanes)
    scope = l == 0 ? Scope::Grid : Scope::Serial;
}

void insert_before(Loop& l, Val at, Val v) {
  l.body.insert(std::find(l.body.begin(), l.body.end(), at), v);
}

void insert_after(Loop& l, Val at, Val v) {
  l.body.insert(std::find(l.body.begin(), l.body.end(), at) + 1, v);
}

void replace_uses(Kernel& k, std::int32_t l, Val from, Val to) {
  const auto replace = [&](Val& v) {
    if (v == from) v = to;
  };
  for_each_inst(k, l, [&](Val v, std::int32_t) {
    Inst& i = k.insts[v];
    for (Val& o : i.operands) replace(o);
    for_each_access(k, i, [&](std::int32_t a) {
      for (Term& t : k.accesses[a].terms) replace(t.var);
    });
    for_each_value_beside(k, i, replace);
    if (!opens_loop(i)) return;
    Loop& inner = k.loops[i.index];
    replace(inner.condition);
    replace(inner.begin);
    replace(inner.end);
    for (Reduction& r : inner.reductions) {
      replace(r.value);
      replace(r.init);
    }
  });
  for (Reduction& r : k.loops[l].reductions) replace(r.value);
}

void fuse(Kernel& k, std::int32_t outer, Val inner) {
  const std::int32_t b = k.insts[inner].index;
  Loop& into = k.loops[outer];
  const Loop& from = k.loops[b];
  std::vector<Val> body;
  std::copy_if(into.body.begin(), into.body.end(), std::back_inserter(body),
               [&](Val v) { return number_of_call(k.insts[v]); });
  body.insert(body.end(), from.body.begin(), from.body.end());
  if (!into.reductions.empty()) into.reductions = from.reductions;
  into.body = std::move(body);
  for_each_inst(k, outer, [&](Val v, std::int32_t) {
    if (k.insts[v].access >= 0)
      std::erase_if(k.accesses[k.insts[v].access].terms,
                    [&](const Term& t) { return t.var == into.var; });
  });
  replace_uses(k, outer, from.var, into.var);
  rehome(k, b, outer);
}

void join(Kernel& k, Val first, Val second) {
  const std::int32_t a = k.insts[first].index, b = k.insts[second].index;
  replace_uses(k, b, k.loops[b].var, k.loops[a].var);
  rehome(k, b, a);
  Loop& into = k.loops[a];
  const Loop& from = k.loops[b];
  const auto shift = static_cast<std::int32_t>(into.reductions.size());
  for (Val v : from.body)
    if (k.insts[v].op == Op::Running || k.insts[v].op == Op::Carried) k.insts[v].index += shift;
  into.body.insert(into.body.end(), from.body.begin(), from.body.end());
  into.reductions.insert(into.reductions.end(), from.reductions.begin(), from.reductions.end());
  for (Inst& i : k.insts)
    if (i.op == Op::Result && i.operands[0] == second) {
      i.operands[0] = first;
      i.index += shift;
    }
}

namespace {

// A loop that copies what the reader reads to the local.
Val copy_loop(Kernel& k, const RowReader& r, std::int32_t local, Val end) {
  const std::int32_t l = append_loop(k, end);
  if (k.loops[r.loop].scope == Scope::Unrolled) k.loops[l].scope = Scope::Unrolled;
  k.loops[l].unroll = k.loops[r.loop].unroll;
  Access from = k.accesses[k.insts[r.load].access];
  for (Term& t : from.terms)
    if (t.var == k.loops[r.loop].var) t.var = k.loops[l].var;
  Inst copy = k.insts[r.load];
  copy.access = append(k, std::move(from));
  const Val value = append(k, copy);
  k.loops[l].body = {value};
  store_element(k, l, value, local);
  return append(k, Inst{.op = Op::For, .index = l});
}

// A value as one that is visible in front of `at`, an instruction of loop `l`'s body.
Val visible(Kernel& k, std::int32_t l, Val at, Val v) {
  const auto& body = k.loops[l].body;
  const auto here = std::find(body.begin(), body.end(), at);
  bool inside = false;
  for_each_inst(k, l, [&](Val other, std::int32_t) { inside |= other == v; });
  if (!inside || std::find(body.begin(), here, v) != here) return v;
  const Val again = append(k, Inst(k.insts[v]));
  insert_before(k.loops[l], at, again);
  return again;
}

}  // namespace

std::int32_t stage(Kernel& k, const Row& row) {
  const RowReader& first = row.readers.front();
  std::int32_t local = row.local;
  if (local < 0) {
    local = static_cast<std::int32_t>(k.locals.size());
    k.locals.push_back({k.insts[first.load].type, row.count, row.home});
  }
  if (row.before == kNone) {
    store_element(k, first.loop, first.load, local);
  } else {
    const Val end = visible(k, row.home, row.before, k.loops[first.loop].end);
    const Val copy = copy_loop(k, first, local, end);  // adds a loop, so it comes first
    insert_before(k.loops[row.home], row.before, copy);
  }
  for (const RowReader& r : row.readers)
    if (row.before != kNone || &r != &first)
      k.insts[r.load] = {.op = Op::LoadLocal,
                         .type = k.insts[r.load].type,
                         .index = local,
                         .access = append(k, element(k, r.loop))};
  return local;
}

}  // namespace plait::ir
