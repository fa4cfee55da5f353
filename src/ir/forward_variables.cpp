#include "forward_variables.hpp"

#include "copier.hpp"
#include "edit.hpp"

namespace plait::ir {

bool sets(const Kernel& k, std::int32_t loop, std::int32_t local) {
  bool found = false;
  for_each_inst(k, loop, [&](Val v, std::int32_t) {
    found |= k.insts[v].op == Op::StoreLocal && k.insts[v].index == local;
  });
  return found;
}

namespace {

class Forwarding final : public Copier {
 public:
  explicit Forwarding(const Kernel& k) : Copier(k), known_(k.locals.size(), kNone) {}

 private:
  using Known = std::vector<Val>;  // of each variable: its value here, of the copy

  void copy(Val v) override {
    const Inst& i = k_.insts[v];
    if (opens_loop(i)) return loop(v);
    if ((i.op != Op::LoadLocal && i.op != Op::StoreLocal) ||
        !is_variable(k_.locals[static_cast<std::size_t>(i.index)]))
      return Copier::copy(v);
    Val& known = known_[static_cast<std::size_t>(i.index)];
    if (i.op == Op::StoreLocal) {
      Copier::copy(v);
      known = mapped(i.operands[0]);
    } else {
      if (known == kNone) known = push(i);
      map(v, known);
    }
  }
  // A block begins with what is known in front of it, where no earlier iteration may have set it.
  // Behind it nothing is known of what it sets, wherever it was left.
  void loop(Val v) {
    const std::int32_t l = k_.insts[v].index;
    const Known before = known_;
    Known after = before;
    for (std::size_t n = 0; n < after.size(); ++n)
      if (after[n] != kNone && sets(k_, l, static_cast<std::int32_t>(n))) after[n] = kNone;
    known_ = k_.loops[static_cast<std::size_t>(l)].kind == LoopKind::If ? before : after;
    Copier::copy(v);
    known_ = after;
  }
  void copy_block(const std::vector<Val>& block) override {
    const Known entry = known_;
    Copier::copy_block(block);
    known_ = entry;
  }

  Known known_;
};

}  // namespace

Kernel forward_variables(const Kernel& k) { return Forwarding(k).run(); }

}  // namespace plait::ir
