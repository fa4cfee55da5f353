#include "barriers.hpp"

#include <algorithm>

#include "facts.hpp"

namespace plait::mapping {

namespace {

void add(std::vector<bool>& to, const std::vector<bool>& from) {
  if (to.size() < from.size()) to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = to[i] || from[i];
}
bool meet(const std::vector<bool>& a, const std::vector<bool>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (a[i] && b[i]) return true;
  return false;
}

// What instructions read and write that threads share: each local; each buffer that the kernel
// reads and writes; the memory that folds are joined in.
struct Touched {
  std::vector<bool> reads, writes;
  Touched& operator+=(const Touched& o) {
    add(reads, o.reads);
    add(writes, o.writes);
    return *this;
  }
  bool conflicts(const Touched& o) const {
    return meet(writes, o.writes) || meet(writes, o.reads) || meet(reads, o.writes);
  }
};

class Placing {
 public:
  explicit Placing(ir::Kernel& k) : k_(k), overwritten_(k.buffers.size()) {
    for (const ir::Loop& l : k.loops) warps_ |= l.scope == ir::Scope::Warp;
    for (const Inst& i : k.insts)
      if (i.op == Op::Load || i.op == Op::Scatter)
        overwritten_[i.index] = k.buffers[i.index].written;
  }
  void run() {
    Touched since = loop(0);
    block(0, since);
  }

 private:
  ir::Kernel& k_;
  std::vector<bool> overwritten_;  // of each buffer: what is stored is read, too
  bool warps_ = false;             // some loops are taken by warps

  // `since`: what was touched after the last barrier.
  void block(std::int32_t l, Touched& since) {
    std::vector<Val> body;
    for (const Val v : k_.loops[l].body) {
      const Inst i = k_.insts[v];
      if (opens_loop(i) && !ir::shares(k_.loops[i.index].scope)) {
        // What is there may stand before anything in it, and the loop may be empty.
        const Touched before = since;
        since += loop(i.index);
        block(i.index, since);
        since += before;
      } else {
        if (i.op == Op::Barrier) since = {};
        const Touched next = inst(v);
        if (since.conflicts(next)) {
          body.push_back(ir::append(k_, {.op = Op::Barrier}));
          since = {};
        }
        since += next;
        // Rows that warps take lie apart.
        if (Touched none; opens_loop(i) && ir::over_warps(k_, i.index)) block(i.index, none);
      }
      body.push_back(v);
    }
    k_.loops[l].body = std::move(body);
  }

  Touched loop(std::int32_t l) const {
    Touched t;
    for (const Val v : k_.loops[l].body) t += inst(v);
    return t;
  }
  Touched inst(Val v) const {
    const Inst& i = k_.insts[v];
    const std::size_t locals = k_.locals.size(), exchange = locals + k_.buffers.size();
    Touched t{std::vector<bool>(exchange + 1), std::vector<bool>(exchange + 1)};
    switch (i.op) {
      case Op::LoadLocal:
        t.reads[i.index] = ir::shares(k_.locals[i.index].space);
        break;
      case Op::StoreLocal:
        t.writes[i.index] = ir::shares(k_.locals[i.index].space);
        break;
      case Op::Load:
        t.reads[locals + i.index] = overwritten_[i.index];
        break;
      case Op::Store:
      case Op::Scatter:
        t.writes[locals + i.index] = overwritten_[i.index];
        break;
      case Op::Fragment: {
        const ir::Fragment& p = k_.fragments[i.index];
        t.reads[p.a.local] = t.reads[p.b.local] = t.writes[p.local] = true;
        break;
      }
      case Op::Reduce:
        // Those of a block are joined where each of its warps has a part.
        t.reads[exchange] = k_.loops[i.index].scope == ir::Scope::Warp;
        t.writes[exchange] = warps_ && k_.loops[i.index].scope == ir::Scope::Block;
        return t += loop(i.index);
      case Op::For:
        return loop(i.index);
      default:
        break;
    }
    return t;
  }
};

}  // namespace

void place_barriers(ir::Kernel& k) { Placing(k).run(); }

}  // namespace plait::mapping
