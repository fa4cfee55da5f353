#include "sequential.hpp"

#include <algorithm>
#include <new>

#include "ir/checks.hpp"
#include "lower.hpp"
#include "plait/error.hpp"

namespace plait::interp {
namespace {

using ir::kNone;
using ir::Op;
using ir::Val;

class SequentialCompiler {
 public:
  SequentialCompiler(const ir::Kernel& k, CpuTier tier)
      : k_(k),
        tier_(tier),
        analysis_(ir::analyse(k)),
        slots_(k.insts.size()),
        uses_(k.insts.size()),
        extent_(k.insts.size(), kNone),
        leaving_(k.loops.size()),
        first_fold_(k.loops.size()) {
    p_.params = k.params;
    p_.arguments = static_cast<std::int32_t>(k.scalars.size());
    p_.buffers = static_cast<std::int32_t>(k.buffers.size());
    p_.slots = p_.params + p_.arguments;
    for (const ir::Local& l : k.locals)
      if (ir::is_variable(l)) {
        places_.push_back(new_slot());
        ++p_.variables;
      } else {
        places_.push_back(p_.buffers + static_cast<std::int32_t>(p_.work.size()));
        p_.work.push_back(l);
      }
    zero_ = constant(scalar_int(0));
    count_uses();
    find_indices();
    find_branches();
  }

  Sequential run() {
    slots_[k_.loops[0].var] = zero_;
    block(k_.loops[0].body);
    land(0);
    add({.run = steps::end});
    return std::move(p_);
  }

 private:
  const ir::Kernel& k_;
  const CpuTier tier_;
  const ir::Analysis analysis_;
  Sequential p_;
  std::vector<Slot> slots_;  // of values
  std::vector<std::int32_t> uses_;
  std::vector<Val> extent_;                        // of indices
  std::vector<std::int32_t> places_;               // of locals: a variable's slot, or a memory
  std::vector<std::vector<std::size_t>> leaving_;  // the breaks of each loop
  std::vector<std::int32_t> first_fold_;           // of each loop
  Slot zero_;

  Slot new_slot() { return p_.slots++; }
  Slot constant(const Scalar& s) {
    p_.constants.emplace_back(new_slot(), s);
    return p_.constants.back().first;
  }
  Slot number(const ir::Coeff& c) {
    if (c.param != ir::kNoParam) return c.param;
    return c.value == 0 ? zero_ : constant(scalar_int(c.value));
  }

  std::size_t add(const Step& s) {
    p_.steps.push_back(s);
    return p_.steps.size() - 1;
  }
  // A jump of a step that is there goes to the next one that comes.
  void land_here(std::size_t step) {
    p_.steps[step].jump = static_cast<std::int32_t>(p_.steps.size() - step);
  }
  void land(std::int32_t loop) {
    for (const std::size_t step : leaving_[static_cast<std::size_t>(loop)]) land_here(step);
  }
  std::int32_t back_to(std::size_t step) const {
    return static_cast<std::int32_t>(step) - static_cast<std::int32_t>(p_.steps.size());
  }

  Step operands(const ir::Inst& i) const {
    Step s{};
    for (int n = 0; n < 3; ++n)
      if (i.operands[n] != kNone) s.in[n] = slots_[i.operands[n]];
    return s;
  }
  void define(Val v, Step s) {
    s.out = slots_[v] = new_slot();
    add(s);
  }
  Slot call(loops::LoopFn fn, Slot in) {
    const Slot out = new_slot();
    add({.run = steps::loop(1), .out = out, .in = {in}, .loop = fn});
    return out;
  }

  // How often a value's slot is read. What no step reads is not computed.
  void count_uses() {
    const auto use = [&](Val v) {
      if (v != kNone) ++uses_[v];
    };
    for (const ir::Inst& i : k_.insts)
      for (const Val o : i.operands) use(o);
    for (const ir::Access& a : k_.accesses)
      for (const ir::Term& t : a.terms) use(t.var);
    for (const ir::Loop& l : k_.loops) {
      for (const Val v : {l.condition, l.begin, l.end}) use(v);
      for (const ir::Reduction& r : l.reductions) {
        use(r.value);
        use(r.init);
      }
    }
  }

  // An index that may count from the end is one step.
  void find_indices() {
    for (Val v = 0; v < k_.insts.size(); ++v)
      if (const auto c = ir::index_check(k_, v); c && extent_[c->index] == kNone) {
        extent_[c->index] = c->extent;
        for (const int n : {0, 1}) --uses_[k_.insts[c->index].operands[n]];
      }
  }

  // A comparison that only a jump reads is a part of it.
  void find_branches() {
    const auto read = [&](Val v) {
      if (v != kNone && uses_[v] == 1 && branch(v, true)) uses_[v] = 0;
    };
    for (const ir::Inst& i : k_.insts)
      if (i.op == Op::Break) read(i.operands[0]);
    for (const ir::Loop& l : k_.loops) read(l.condition);
  }
  StepFn branch(Val condition, bool when) const {
    const ir::Inst& i = k_.insts[condition];
    return i.op == Op::Apply ? steps::branch(i.fn, k_.insts[i.operands[0]].type, when) : nullptr;
  }
  // A jump where the condition is `when`.
  Step jump(Val condition, bool when) const {
    if (condition == kNone) return {.run = steps::jump};
    if (uses_[condition] > 0)
      return {.run = when ? steps::jump_if : steps::jump_if_not, .in = {slots_[condition]}};
    Step s = operands(k_.insts[condition]);
    s.run = branch(condition, when);
    return s;
  }

  void apply(Val v) {
    if (uses_[v] == 0) return;
    const ir::Inst& i = k_.insts[v];
    Step s = operands(i);
    if (extent_[v] != kNone)
      return define(v, {.run = steps::index, .in = {s.in[2], slots_[extent_[v]]}});
    const ir::Inst& first = k_.insts[i.operands[i.op == Op::Apply && i.fn == OpId::Where ? 1 : 0]];
    const DType in = first.type;
    // Where folds go on, their slots change.
    if (i.op == Op::Cast && steps::same_bits(in, i.type) && first.op != Op::Carried &&
        first.op != Op::Running) {
      slots_[v] = s.in[0];
      return;
    }
    s.run = i.op == Op::Cast ? steps::conversion(in, i.type) : steps::operation(i.fn, in);
    if (!s.run) {
      s.run = steps::loop(i.op == Op::Cast ? 1 : op_info(i.fn).arity);
      s.loop = i.op == Op::Cast ? cast_loop(in, i.type, tier_) : elementwise_loop(i.fn, in, tier_);
    }
    define(v, s);
  }

  // The sum that an access is.
  Slot sum(const ir::Inst& i) {
    const ir::Access& a = k_.accesses[static_cast<std::size_t>(i.access)];
    Slot at = number(a.offset);
    for (const ir::Term& t : a.terms) {
      const Slot out = new_slot();
      add({.run = steps::multiply_add, .out = out, .in = {at, slots_[t.var], number(t.stride)}});
      at = out;
    }
    return at;
  }
  // A step that reads or writes a memory; `value` is what is written.
  Step access(const ir::Inst& i, Val value) {
    Step s{.index = i.index};
    if (value != kNone) s.out = slots_[value];
    if (i.op == Op::LoadLocal || i.op == Op::StoreLocal) {
      s.index = places_[static_cast<std::size_t>(i.index)];
      s.in[1] = sum(i);
      s.in[2] = constant(scalar_int(static_cast<std::int64_t>(itemsize(i.type))));
      s.in[0] = zero_;
      return s;
    }
    const bool indexed = i.op == Op::Gather || i.op == Op::Scatter;
    s.in[0] = sum(i);
    s.in[1] = indexed ? slots_[i.operands[0]] : zero_;
    s.in[2] = indexed ? number(i.stride) : zero_;
    return s;
  }
  bool names_variable(const ir::Inst& i) const {
    return ir::is_variable(k_.locals[static_cast<std::size_t>(i.index)]);
  }

  void load(Val v) {
    const ir::Inst& i = k_.insts[v];
    if (i.op == Op::LoadLocal && names_variable(i))
      return define(
          v, {.run = steps::move(i.type), .in = {places_[static_cast<std::size_t>(i.index)]}});
    Step s = access(i, kNone);
    s.run = steps::load(i.type);
    define(v, s);
  }
  void store(const ir::Inst& i) {
    const Val value = i.operands[i.op == Op::Scatter ? 1 : 0];
    if (i.op == Op::StoreLocal && names_variable(i)) {
      add({.run = steps::move(i.type),
           .out = places_[static_cast<std::size_t>(i.index)],
           .in = {slots_[value]}});
      return;
    }
    Step s = access(i, value);
    s.run = steps::store(i.type);
    if (i.op == Op::Scatter && i.fn != OpId::Count_) {
      s.run = steps::scatter;
      s.scatter = interp::scatter(i.fn, i.type);
    }
    add(s);
  }

  void block(const std::vector<Val>& body) {
    for (const Val v : body) instruction(v);
  }

  void instruction(Val v) {
    const ir::Inst& i = k_.insts[v];
    switch (i.op) {
      case Op::Const:
        slots_[v] = constant(i.imm);
        return;
      case Op::Param:
        slots_[v] = i.index;
        return;
      case Op::Arg:
        slots_[v] = p_.params + i.index;
        return;
      case Op::Var:
        return;
      case Op::Apply:
      case Op::Cast:
        return apply(v);
      case Op::Load:
      case Op::Gather:
      case Op::LoadLocal:
        return load(v);
      case Op::Store:
      case Op::Scatter:
      case Op::StoreLocal:
        return store(i);
      case Op::For:
      case Op::Reduce:
        return loop(i.index);
      case Op::Result:
        return result(v);
      case Op::Running:
        return running(v);
      case Op::Carried:
        slots_[v] = fold_of(analysis_.block[v], i.index).acc;
        return;
      case Op::Break:
        leaving_[static_cast<std::size_t>(i.index)].push_back(add(jump(i.operands[0], true)));
        return;
      case Op::Overflows: {
        Step s = operands(i);
        s.run = steps::overflow(i.fn);
        return define(v, s);
      }
      case Op::External: {
        Step s = operands(i);
        s.run = steps::external;
        s.external = &ir::externals()[static_cast<std::size_t>(i.index)];
        return define(v, s);
      }
      case Op::Fragment:
      case Op::Barrier:
      case Op::AsyncCopy:
        throw InternalError("interpreter: what threads share, in a sequential kernel");
    }
  }

  void loop(std::int32_t index) {
    const ir::Loop& l = k_.loops[static_cast<std::size_t>(index)];
    if (l.kind == ir::LoopKind::Count)
      count(index);
    else if (l.kind == ir::LoopKind::If)
      choose(l);
    else
      repeat(l);
    land(index);
  }

  void choose(const ir::Loop& l) {
    if (l.condition == kNone) return block(l.body);
    const std::size_t test = add(jump(l.condition, false));
    block(l.body);
    if (l.otherwise.empty()) return land_here(test);
    const std::size_t done = add({.run = steps::jump});
    land_here(test);
    block(l.otherwise);
    land_here(done);
  }

  void repeat(const ir::Loop& l) {
    const std::size_t first = p_.steps.size();
    block(l.body);
    std::size_t done = 0;
    if (l.condition != kNone) done = add(jump(l.condition, false));
    add({.run = steps::again, .jump = back_to(first)});
    if (l.condition != kNone) land_here(done);
  }

  Fold& fold_of(std::int32_t loop, std::int32_t n) {
    return p_.folds[static_cast<std::size_t>(first_fold_[static_cast<std::size_t>(loop)] + n)];
  }

  void count(std::int32_t index) {
    const ir::Loop& l = k_.loops[static_cast<std::size_t>(index)];
    const Slot var = slots_[l.var] = new_slot();
    const Slot begin = l.begin == kNone ? zero_ : slots_[l.begin], end = slots_[l.end];
    const auto count = static_cast<std::int32_t>(l.reductions.size());
    const std::int32_t first_fold = first_fold_[static_cast<std::size_t>(index)] =
        static_cast<std::int32_t>(p_.folds.size());
    for (std::int32_t n = 0; n < count; ++n) p_.folds.push_back(accumulator(index, n));
    const auto fold_all = [&](StepFn run) {
      for (std::int32_t n = 0; n < count; ++n)
        add({.run = run, .out = var, .in = {begin, end}, .index = first_fold + n});
    };
    fold_all(steps::start_fold);
    const std::size_t enters = add({.run = steps::enter, .out = var, .in = {begin, end}});
    const std::size_t first = p_.steps.size();
    block(l.body);
    for (std::int32_t n = 0; n < count; ++n)
      complete(fold_of(index, n), l.reductions[static_cast<std::size_t>(n)]);
    fold_all(steps::fold);
    add({.run = steps::next, .out = var, .in = {begin, end}, .jump = back_to(first)});
    land_here(enters);
  }

  Fold accumulator(std::int32_t loop, std::int32_t n) {
    const ir::Reduction& r =
        k_.loops[static_cast<std::size_t>(loop)].reductions[static_cast<std::size_t>(n)];
    const DType t = accumulator_type(r.kind, k_.insts[r.value].type);
    Fold f{.kind = fold_kind(k_, loop, static_cast<std::size_t>(n))};
    f.itemsize = static_cast<std::uint8_t>(itemsize(t));
    f.shape.complex = is_complex(t);
    f.acc = new_slot();
    if (r.init != kNone) f.init = slots_[r.init];
    if (f.kind == FoldKind::Arg) f.index = new_slot();
    // Its steps stand in the body, in front of the end.
    if (f.kind == FoldKind::Running) f.identity = fold_identity(r.kind, t);
    if (f.kind == FoldKind::Tree) {
      f.tree = p_.trees++;
      p_.slots += f.shape.accumulators() - 1;  // behind acc
      f.sums = p_.slots;
      p_.slots += TreeWalk::kMaxSums;
    }
    return f;
  }

  // At the end of a body: what the reduction compares or adds, and how.
  void complete(Fold& f, const ir::Reduction& r) {
    DType t = k_.insts[r.value].type;
    f.value = slots_[r.value];
    if (f.kind == FoldKind::Last || f.kind == FoldKind::Running) return;
    const bool by_value = t != DType::Float16;
    if (r.guarded_sqrt && !by_value)
      f.value = call(elementwise_loop(OpId::Sqrt, t, tier_), f.value);
    if (const DType wide = accumulator_type(r.kind, t); wide != t) {
      f.value = call(cast_loop(t, wide, tier_), f.value);
      t = wide;
    }
    if (f.kind == FoldKind::Arg)
      f.arg_step = arg_tile(r.kind, t, r.guarded_sqrt && by_value, tier_);
    else
      join_values(f, r.kind, t, tier_);
  }

  void running(Val v) {
    const std::int32_t loop = analysis_.block[v], n = k_.insts[v].index;
    const ir::Reduction& r =
        k_.loops[static_cast<std::size_t>(loop)].reductions[static_cast<std::size_t>(n)];
    const Slot acc = slots_[v] = fold_of(loop, n).acc;
    Step s{.run = steps::loop(2), .out = acc, .in = {acc, slots_[r.value]}};
    // An extremum gives its first operand where they are equal.
    if (reduce_info(r.kind).has(kSelects)) std::swap(s.in[0], s.in[1]);
    s.loop = join_loop(r.kind, k_.insts[v].type, tier_);
    add(s);
  }

  void result(Val v) {
    const ir::Inst& i = k_.insts[v];
    const Fold& f = fold_of(k_.insts[i.operands[0]].index, i.index);
    slots_[v] = f.kind == FoldKind::Arg ? f.index : f.acc;
    if (i.type == DType::Float16 && f.itemsize != itemsize(i.type))
      slots_[v] = call(cast_loop(DType::Float32, DType::Float16, tier_), f.acc);
  }
};

// Where the parts of scratch memory begin.
struct Parts {
  std::size_t registers, trees, memory, work, bytes;
};

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

std::size_t bytes_of_work(const ir::Local& l, const std::int64_t* params) {
  return aligned(static_cast<std::size_t>(ir::local_count(l, params)) * itemsize(l.dtype));
}

Parts parts(const Sequential& p, const std::int64_t* params) {
  Parts at{};
  at.registers = aligned(static_cast<std::size_t>(p.slots) * kSlotBytes);
  // Only folds read registers.
  at.trees = at.registers +
             (p.folds.empty() ? 0 : aligned(static_cast<std::size_t>(p.slots) * sizeof(Reg)));
  at.memory = at.trees + aligned(static_cast<std::size_t>(p.trees) * sizeof(Tree));
  at.work =
      at.memory + aligned((static_cast<std::size_t>(p.buffers) + p.work.size()) * sizeof(char*));
  at.bytes = at.work;
  for (const ir::Local& l : p.work) at.bytes += bytes_of_work(l, params);
  return at;
}

}  // namespace

Sequential compile_sequential(const ir::Kernel& k, CpuTier tier) {
  return SequentialCompiler(k, tier).run();
}

std::size_t bytes_of(const Sequential& p) {
  return sizeof p + p.steps.size() * sizeof(Step) + p.folds.size() * sizeof(Fold) +
         p.constants.size() * sizeof(p.constants[0]) + p.work.size() * sizeof(ir::Local);
}

std::size_t scratch_bytes(const Sequential& p, const ir::CallArgs& args) {
  return parts(p, args.params).bytes;
}

void run(const Sequential& p, const ir::CallArgs& args, void* memory) {
  char* const slots = static_cast<char*>(memory);
  const Parts at = parts(p, args.params);
  auto* registers = reinterpret_cast<Reg*>(slots + at.registers);
  auto* trees = reinterpret_cast<Tree*>(slots + at.trees);
  auto* memories = reinterpret_cast<char**>(slots + at.memory);
  for (std::int32_t b = 0; b < p.buffers; ++b) memories[b] = static_cast<char*>(args.buffers[b]);
  char* work = slots + at.work;
  for (std::size_t w = 0; w < p.work.size(); ++w) {
    memories[static_cast<std::size_t>(p.buffers) + w] = work;
    work += bytes_of_work(p.work[w], args.params);
  }
  if (!p.folds.empty())
    for (Slot s = 0; s < p.slots; ++s)
      registers[s] = {slots + static_cast<std::size_t>(s) * kSlotBytes, 0};
  for (std::int32_t t = 0; t < p.trees; ++t) new (&trees[t]) Tree;

  static const Program kNothing;
  const Frame folds{kNothing, registers, nullptr, trees, *args.stop};
  const SequentialFrame f{slots, memories, args, p.folds.data(), folds};
  for (std::int32_t n = 0; n < p.params; ++n) f.set(n, args.params[n]);
  for (std::int32_t n = 0; n < p.arguments; ++n)
    std::memcpy(f.at(p.params + n), args.scalars[n].bytes, kSlotBytes);
  const auto variables = static_cast<std::size_t>(p.variables);
  std::memset(f.at(p.params + p.arguments), 0, variables * kSlotBytes);
  for (const auto& [slot, s] : p.constants) std::memcpy(f.at(slot), s.bytes, kSlotBytes);
  for (const Step* s = p.steps.data(); s;) s = s->run(f, s);
}

}  // namespace plait::interp
