#include "one_thread.hpp"

#include <algorithm>

#include "analysis.hpp"
#include "edit.hpp"

namespace plait::ir {
namespace {

class OneThread {
 public:
  explicit OneThread(const Kernel& k) : k_(k), from_(k) {}

  Kernel run() {
    for (Loop& l : k_.loops)
      if (shares(l.scope)) l.scope = Scope::Serial;
    for (Local& l : k_.locals) {
      l.space = Space::Cache;
      l.layout = {};
      l.count.value *= l.stages;
      l.stages = 1;
    }
    for (Fragment& p : k_.fragments) p.shape = -1;
    for (std::size_t l = 0; l < from_.loops.size(); ++l) block(l);
    k_.copies.clear();
    return std::move(k_);
  }

 private:
  void block(std::size_t loop) {
    std::vector<Val> body;
    for (const Val v : from_.loops[loop].body) {
      const Inst& i = from_.insts[v];
      if (i.op == Op::LoadLocal || i.op == Op::StoreLocal) {
        const int operand = i.op == Op::LoadLocal ? 0 : 1;
        k_.insts[v].access = in_stage(body, i.index, i.access, i.operands[operand]);
        k_.insts[v].operands[operand] = kNone;
      } else if (i.op == Op::Fragment) {
        for (Panels Fragment::* o : {&Fragment::a, &Fragment::b}) {
          Panels& p = k_.fragments[i.index].*o;
          p.access = in_stage(body, p.local, p.access, p.stage);
          p.stage = kNone;
        }
      } else if (i.op == Op::AsyncCopy) {
        copy(body, v);
      } else if (i.op == Op::Barrier) {
        continue;
      }
      body.push_back(v);
    }
    k_.loops[loop].body = std::move(body);
  }

  Val add(std::vector<Val>& body, const Inst& i) {
    body.push_back(append(k_, i));
    return body.back();
  }
  // The access in the copy that the stage's number names.
  std::int32_t in_stage(std::vector<Val>& body, std::int32_t local, std::int32_t access,
                        Val stage) {
    if (stage == kNone) return access;
    const Local& l = from_.locals[local];
    const Val stages = add(body, {.op = Op::Const, .imm = scalar_int(l.stages)});
    const Val copy =
        add(body, {.op = Op::Apply, .fn = OpId::Remainder, .operands = {stage, stages, kNone}});
    Access a = k_.accesses[access];
    a.terms.push_back({copy, l.count});
    return append(k_, std::move(a));
  }
  // The instruction becomes a loop over rows, around a vector loop along each.
  void copy(std::vector<Val>& body, Val v) {
    const Inst& i = from_.insts[v];
    const Copy& c = from_.copies[i.index];
    const std::int32_t to = in_stage(body, c.local, c.to, i.operands[2]);
    const std::int32_t rows = append_loop(k_, i.operands[0]),
                       columns = append_loop(k_, i.operands[1]);
    const auto element = [&](std::int32_t access, Coeff row, std::int64_t column) {
      Access a = k_.accesses[access];
      a.terms.push_back({k_.loops[rows].var, row});
      a.terms.push_back({k_.loops[columns].var, {column}});
      return append(k_, std::move(a));
    };
    const DType t = from_.locals[c.local].dtype;
    const auto item = static_cast<std::int64_t>(itemsize(t));
    std::vector<Val> inner;
    const Val load = add(inner, {.op = Op::Load,
                                 .type = t,
                                 .index = c.buffer,
                                 .access = element(c.from, c.from_row, item)});
    add(inner, {.op = Op::StoreLocal,
                .type = t,
                .index = c.local,
                .operands = {load, kNone, kNone},
                .access = element(to, c.to_row, 1)});
    k_.loops[columns].scope = Scope::Lanes;
    k_.loops[columns].body = std::move(inner);
    k_.loops[rows].body = {append(k_, {.op = Op::For, .index = columns})};
    k_.insts[v] = {.op = Op::For, .index = rows};
  }

  Kernel k_;
  const Kernel& from_;
};

// Values that stand in no body: what barriers have left. Numbers of the others close the gaps.
void close_gaps(Kernel& k) {
  std::vector<Val> number(k.insts.size(), kNone);
  std::vector<Inst> kept;
  for (Val v = 0; v < k.insts.size(); ++v)
    if (k.insts[v].op != Op::Barrier) {
      number[v] = static_cast<Val>(kept.size());
      kept.push_back(k.insts[v]);
    }
  k.insts = std::move(kept);
  const auto rename = [&](Val& v) {
    if (v != kNone) v = number[v];
  };
  for (Inst& i : k.insts)
    for (Val& o : i.operands) rename(o);
  for (Access& a : k.accesses)
    for (Term& t : a.terms) rename(t.var);
  for (Fragment& p : k.fragments) rename(p.block);
  for (Loop& l : k.loops) {
    for (Val* v : {&l.condition, &l.var, &l.begin, &l.end}) rename(*v);
    for (Val& v : l.body) rename(v);
    for (Reduction& r : l.reductions) {
      rename(r.value);
      rename(r.init);
    }
  }
}

}  // namespace

bool is_placed(const Kernel& k) {
  return std::any_of(k.loops.begin(), k.loops.end(),
                     [](const Loop& l) { return shares(l.scope); }) ||
         std::any_of(k.locals.begin(), k.locals.end(),
                     [](const Local& l) { return l.space != Space::Cache; }) ||
         std::any_of(k.insts.begin(), k.insts.end(),
                     [](const Inst& i) { return i.op == Op::Barrier; });
}

Kernel on_one_thread(const Kernel& k) {
  if (!is_placed(k)) return k;
  Kernel made = OneThread(k).run();
  close_gaps(made);
  return made;
}

}  // namespace plait::ir
