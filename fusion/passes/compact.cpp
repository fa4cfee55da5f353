#include <algorithm>

#include "ir/analysis.hpp"
#include "passes.hpp"

namespace plait::fusion {
using namespace ir;

namespace {

class Compact {
 public:
  explicit Compact(const Kernel& k)
      : k_(k), used_(k.insts.size()), number_(k.insts.size(), kNone), loop_(k.loops.size(), -1) {}

  Kernel run() {
    mark_block(0);
    out_.buffers = k_.buffers;
    out_.scalars = k_.scalars;
    out_.params = k_.params;
    out_.locals = k_.locals;
    copy_loop(0);
    for (Local& l : out_.locals) l.home = loop_[l.home];
    out_.name = name();
    return std::move(out_);
  }

 private:
  // What the kernel computes, for messages and dumps: "subtract, multiply, sum, argmin".
  std::string name() const {
    std::vector<std::string_view> words;
    for (const Inst& i : out_.insts) {
      if (i.op == Op::Apply) words.push_back(op_info(i.fn).name);
      if (i.op == Op::Fragment) words.push_back("matmul");
      if (i.op == Op::Scatter) words.push_back("scatter");
    }
    for (const Loop& l : out_.loops)
      for (const Reduction& r : l.reductions) words.push_back(reduce_info(r.kind).name);
    std::string text;
    constexpr std::size_t kMost = 8;
    for (std::size_t w = 0; w < words.size() && w < kMost; ++w)
      if (std::find(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(w), words[w]) ==
          words.begin() + static_cast<std::ptrdiff_t>(w))
        (text += text.empty() ? "" : ", ") += words[w];
    return text.empty() ? "copy" : text;
  }

  void use(Val v) {
    if (v == kNone || used_[v]) return;
    used_[v] = true;
    const Inst& i = k_.insts[v];
    for (Val o : i.operands) use(o);
    ir::for_each_access(k_, i, [&](std::int32_t a) {
      for (const Term& t : k_.accesses[a].terms) use(t.var);
    });
    ir::for_each_value_beside(k_, i, [&](Val o) { use(o); });
    if (i.op == Op::Reduce || i.op == Op::For) mark_block(i.index);
  }
  bool effect(Val v) const {
    const Inst& i = k_.insts[v];
    if (i.op == Op::Store || i.op == Op::StoreLocal || i.op == Op::Scatter ||
        i.op == Op::Fragment || i.op == Op::Barrier || i.op == Op::AsyncCopy)
      return true;
    if (i.op != Op::For && i.op != Op::Reduce) return false;
    for (Val w : k_.loops[i.index].body)
      if (effect(w)) return true;
    return false;
  }
  void mark_block(std::int32_t l) {
    const Loop& loop = k_.loops[l];
    use(loop.begin);
    use(loop.end);
    for (const Reduction& r : loop.reductions) {
      use(r.value);
      use(r.init);
    }
    for (Val v : loop.body)
      if (effect(v)) use(v);
  }
  Val push(Inst i) {
    out_.insts.push_back(i);
    return static_cast<Val>(out_.insts.size() - 1);
  }
  Val renamed(Val v) const { return v == kNone ? kNone : number_[v]; }

  std::int32_t copy_access(std::int32_t index) {
    Access a = k_.accesses[index];
    for (Term& t : a.terms) t.var = renamed(t.var);
    out_.accesses.push_back(std::move(a));
    return static_cast<std::int32_t>(out_.accesses.size() - 1);
  }
  std::int32_t copy_fragment(std::int32_t index) {
    Fragment p = k_.fragments[index];
    for (std::int32_t* a : {&p.a.access, &p.b.access, &p.access}) *a = copy_access(*a);
    for (Val* v : {&p.block, &p.a.stage, &p.b.stage}) *v = renamed(*v);
    out_.fragments.push_back(p);
    return static_cast<std::int32_t>(out_.fragments.size() - 1);
  }
  std::int32_t copy_copy(std::int32_t index) {
    ir::Copy c = k_.copies[index];
    for (std::int32_t* a : {&c.from, &c.to}) *a = copy_access(*a);
    out_.copies.push_back(c);
    return static_cast<std::int32_t>(out_.copies.size() - 1);
  }

  std::int32_t copy_loop(std::int32_t l) {
    const auto n = static_cast<std::int32_t>(out_.loops.size());
    loop_[l] = n;
    out_.loops.push_back(k_.loops[l]);
    const Val var = k_.loops[l].var;
    Inst vi = k_.insts[var];
    vi.index = n;
    number_[var] = push(vi);
    out_.loops[n].var = number_[var];
    out_.loops[n].begin = renamed(k_.loops[l].begin);
    out_.loops[n].end = renamed(k_.loops[l].end);
    std::vector<Val> body;
    for (Val v : k_.loops[l].body) {
      if (!used_[v]) continue;
      Inst i = k_.insts[v];
      for (Val& o : i.operands) o = renamed(o);
      if (i.access >= 0) i.access = copy_access(i.access);
      if (i.op == Op::Fragment) i.index = copy_fragment(i.index);
      if (i.op == Op::AsyncCopy) i.index = copy_copy(i.index);
      if (opens_loop(i)) i.index = copy_loop(i.index);
      number_[v] = push(i);
      body.push_back(number_[v]);
    }
    out_.loops[n].body = std::move(body);
    for (Reduction& r : out_.loops[n].reductions) {
      r.value = renamed(r.value);
      r.init = renamed(r.init);
    }
    return n;
  }

  const Kernel& k_;
  Kernel out_;
  std::vector<bool> used_;
  std::vector<Val> number_;
  std::vector<std::int32_t> loop_;
};

}  // namespace

void compact(Kernel& k) { k = Compact(k).run(); }

}  // namespace plait::fusion
