#include "verify.hpp"

#include <algorithm>

#include "analysis.hpp"
#include "edit.hpp"
#include "externals.hpp"
#include "plait/error.hpp"

namespace plait::ir {
namespace {

// Then: visibility, types and the rules about vector loops and memory.
class Rules {
 public:
  explicit Rules(const Kernel& k) : k_(k), a_(analyse(k)), visible_(k.insts.size(), 0) {}
  void check() {
    walk(0);
    if (k_.sequential) return;
    for (Val v = 0; v < k_.insts.size(); ++v)
      if (k_.insts[v].op == Op::Load && k_.buffers[k_.insts[v].index].written) written_load(v);
  }

 private:
  const Kernel& k_;
  Analysis a_;
  std::vector<char> visible_;

  void walk(std::int32_t index) {
    const Loop& l = k_.loops[index];
    std::int32_t parent = a_.parent[index];
    scope(index);
    if (l.unroll < 0) fail_loop(k_, index, "has a negative unroll");
    if (parent < 0 && (l.begin != kNone || l.end != kNone))
      fail_loop(k_, index, "is the grid: its bounds come from the call");
    if (parent < 0 && !l.reductions.empty()) fail_loop(k_, index, "is the grid and reduces");
    if (l.kind == LoopKind::If && l.condition != kNone) condition(index, l.condition);
    if (parent >= 0 && l.kind == LoopKind::Count) {
      if (l.end == kNone) fail_loop(k_, index, "has no end");
      bound(index, l.end);
      if (l.begin != kNone) bound(index, l.begin);
      for (const Reduction& r : l.reductions)
        if (r.init != kNone) start(index, r);
    }
    visible_[l.var] = l.kind == LoopKind::Count;
    block(l.body);
    if (l.kind == LoopKind::Repeat && l.condition != kNone) condition(index, l.condition);
    for (std::size_t n = 0; n < l.reductions.size(); ++n) {
      reduction(index, l.reductions[n]);
      if (const Val v = running(k_, index, n); v != kNone)
        scan(index, v, l.reductions[n]);
      else if (l.reductions[n].kind == ReduceKind::Last)
        carry(index, l.reductions[n]);
      else if (l.reductions[n].init != kNone)
        fail_loop(k_, index, "only a running fold starts from a value");
    }
    leave(l.body);
    block(l.otherwise);
    leave(l.otherwise);
    visible_[l.var] = 0;
  }
  void scope(std::int32_t index) const {
    const Scope s = k_.loops[index].scope;
    if (index == 0 && s != Scope::Grid && s != Scope::Lanes)
      fail_loop(k_, index, "is the grid and of another scope");
    if (index > 0 && s == Scope::Grid) fail_loop(k_, index, "is of the grid inside the grid");
    if (index == 0 || s == Scope::Serial || s == Scope::Unrolled) return;
    for (std::int32_t l = a_.parent[index]; l >= 0; l = a_.parent[l]) {
      if (s == Scope::Lanes && k_.loops[l].lanes())
        fail_loop(k_, index, "is a vector loop inside a vector loop");
      if (s < k_.loops[l].scope) fail_loop(k_, index, "stands inside a loop of a nearer scope");
    }
  }
  // A copy of its own for each stage is addressed by the stage.
  void stage(Val v, Val number, std::int32_t local) const {
    if ((k_.locals[local].stages > 1) != (number != kNone))
      fail(k_, v, number == kNone ? "names no stage" : "names a stage of a local that has none");
    if (number == kNone) return;
    if (!visible_[number] || !defines(number) || k_.insts[number].type != DType::Int64 ||
        a_.varies[number])
      fail(k_, v, "its stage is no visible int64 that all lanes have");
  }
  // The innermost loop around that threads or warps take; -1: none.
  std::int32_t shared_loop(Val v) const {
    std::int32_t l = a_.block[v];
    while (l >= 0 && !shares(k_.loops[l].scope)) l = a_.parent[l];
    return l;
  }
  // What all threads of a block do together.
  void together(Val v) const {
    for (std::int32_t l = a_.block[v]; l >= 0; l = a_.parent[l])
      if (shares(k_.loops[l].scope) || k_.loops[l].lanes())
        fail(k_, v, "stands in a loop that threads or lanes share out");
    if (k_.sequential) fail(k_, v, "stands in a sequential kernel");
  }
  void barrier(Val v, const Inst& i) const {
    // The threads of a warp wait for each other where it takes an iteration.
    if (const std::int32_t l = shared_loop(v); l < 0 || !over_warps(k_, l)) together(v);
    if (i.operands[0] != kNone && operand(v, 0).type != DType::Int64)
      fail(k_, v, "its stage is not int64");
    arity(v, i.operands[0] == kNone ? 0 : 1);
  }
  void copy(Val v, const Inst& i) const {
    together(v);
    const Copy& c = k_.copies[i.index];
    for (int n = 0; n < 2; ++n)
      if (operand(v, n).type != DType::Int64) fail(k_, v, "an extent is not int64");
    local_visible(v, c.local);
    stage(v, i.operands[2], c.local);
    type(v, k_.locals[c.local].dtype);
    if (k_.locals[c.local].space != Space::Shared) fail(k_, v, "copies to what is not shared");
    if (k_.buffers[c.buffer].written) fail(k_, v, "copies a written buffer");
    type(v, k_.buffers[c.buffer].dtype, "its buffer");
    for (std::int32_t a : {c.from, c.to}) terms(v, k_.accesses[a]);
  }
  void block(const std::vector<Val>& values) {
    for (Val v : values) {
      inst(v, k_.insts[v]);
      visible_[v] = 1;
    }
  }
  void leave(const std::vector<Val>& values) {
    for (Val v : values) visible_[v] = 0;
  }
  void condition(std::int32_t loop, Val v) const {
    if (!visible_[v] || !defines(v)) fail_loop(k_, loop, "its condition is not visible");
    if (k_.insts[v].type != DType::Bool) fail_loop(k_, loop, "its condition is not bool");
  }
  // Called with the loop's own values not yet visible.
  void bound(std::int32_t loop, Val v) {
    if (v >= k_.insts.size() || !visible_[v]) fail_loop(k_, loop, "a bound is not visible");
    if (k_.insts[v].type != DType::Int64) fail_loop(k_, loop, "a bound is not int64");
    if (a_.varies[v]) fail_loop(k_, loop, "a bound differs from lane to lane");
  }
  // Called with the loop's own values not yet visible.
  void start(std::int32_t loop, const Reduction& r) {
    if (!visible_[r.init] || !defines(r.init))
      fail_loop(k_, loop, "a fold starts from " + describe(k_, r.init) + ", which is not visible");
    if (k_.insts[r.init].type != k_.insts[r.value].type)
      fail_loop(k_, loop, "a fold starts from another dtype");
    if (k_.loops[loop].lanes() && a_.varies[r.init])
      fail_loop(k_, loop, "a vector loop's fold starts from a value of each lane");
  }
  void scan(std::int32_t loop, Val v, const Reduction& r) {
    const DType t = k_.insts[r.value].type;
    if (!reduce_info(r.kind).has(kRuns) ||
        (r.order != Order::Sequential && r.order != Order::Grouped) || t == DType::Float16 ||
        t == DType::Bool)
      fail_loop(k_, loop, "has a fold that cannot run");
    type(v, t);
    // The body is in order: what is folded stands before what reads the fold.
    const auto& body = k_.loops[loop].body;
    if (std::find(body.begin(), body.end(), r.value) > std::find(body.begin(), body.end(), v))
      fail(k_, v, "reads a fold before its value is there");
    in_order(loop);
  }
  void carry(std::int32_t loop, const Reduction& r) {
    if (r.init == kNone) fail_loop(k_, loop, "carries a value from nothing");
    if (r.order != Order::Sequential) fail_loop(k_, loop, "carries a value in no order");
    if (k_.loops[loop].lanes()) fail_loop(k_, loop, "carries a value from lane to lane");
    if (shares(k_.loops[loop].scope)) fail_loop(k_, loop, "carries a value from thread to thread");
    if (k_.insts[r.value].op == Op::Carried)
      fail_loop(k_, loop, "carries on " + describe(k_, r.value) + ", which it carries");
    in_order(loop);
  }
  void in_order(std::int32_t loop) {
    for (const Reduction& other : k_.loops[loop].reductions)
      if (other.order == Order::Pairwise) fail_loop(k_, loop, "scans, and sums pairwise");
  }
  void carried(Val v, const Inst& i) {
    const std::int32_t loop = a_.block[v];
    const Reduction& r = k_.loops[loop].reductions[i.index];
    if (r.kind != ReduceKind::Last) fail(k_, v, "finds what its loop does not carry");
    arity(v, 0);
    type(v, k_.insts[r.value].type);
  }
  void reduction(std::int32_t loop, const Reduction& r) {
    if (a_.block[r.value] != loop || !defines(r.value))
      fail_loop(k_, loop, "reduces " + describe(k_, r.value) + ", which its body does not define");
    DType t = k_.insts[r.value].type;
    if (is_narrow(t) && r.kind != ReduceKind::Last)
      fail_loop(k_, loop, "folds " + std::string(name(t)) + ", which nothing is computed in");
    bool inexact = is_float(t) || is_complex(t);
    const ReduceInfo& info = reduce_info(r.kind);
    if (info.has(kOfTruth) && t != DType::Bool) fail_loop(k_, loop, "any and all reduce bool");
    if (info.has(kOfBits) && inexact) fail_loop(k_, loop, "reduces the bits of a float");
    if (info.has(kOrderShows) && inexact && r.order == Order::Any)
      fail_loop(k_, loop, "a float sum or product needs an order");
    if (r.order == Order::Pairwise && r.kind != ReduceKind::Sum)
      fail_loop(k_, loop, "only sums are pairwise");
    if (r.order == Order::Grouped && !scans(k_, loop))
      fail_loop(k_, loop, "only scans are grouped");
    if (r.guarded_sqrt && (!is_arg(r.kind) || !is_float(t)))
      fail_loop(k_, loop, "guarded_sqrt is for arg-reductions of floats");
  }
  bool defines(Val v) const {
    const Inst& i = k_.insts[v];
    return i.op != Op::Store && i.op != Op::StoreLocal && i.op != Op::Scatter &&
           i.op != Op::Fragment && i.op != Op::Barrier && i.op != Op::AsyncCopy &&
           i.op != Op::Break && !opens_loop(i);
  }
  const Inst& operand(Val user, int n) const {
    Val o = k_.insts[user].operands[n];
    if (o == kNone) fail(k_, user, "operand " + std::to_string(n) + " is missing");
    if (!visible_[o]) fail(k_, user, "operand " + describe(k_, o) + " is not visible here");
    if (!defines(o)) fail(k_, user, "operand " + describe(k_, o) + " is no value");
    return k_.insts[o];
  }
  void arity(Val v, int n) const {
    for (int i = n; i < 3; ++i)
      if (k_.insts[v].operands[i] != kNone) fail(k_, v, "has too many operands");
  }
  void type(Val v, DType wanted, const char* what = "its type") const {
    if (k_.insts[v].type != wanted)
      fail(k_, v,
           std::string(what) + " is " + std::string(name(k_.insts[v].type)) + ", not " +
               std::string(name(wanted)));
  }

  void inst(Val v, const Inst& i) {
    switch (i.op) {
      case Op::Const:
        arity(v, 0);
        return type(v, i.imm.dtype);
      case Op::Param:
        arity(v, 0);
        return type(v, DType::Int64);
      case Op::Arg:
        arity(v, 0);
        return type(v, k_.scalars[i.index]);
      case Op::Var:
        return;
      case Op::Apply:
        return apply(v, i);
      case Op::Cast: {
        const DType from = operand(v, 0).type;
        if (from != i.type && ((is_narrow(from) && i.type != computes_in(from)) ||
                               (is_narrow(i.type) && from != computes_in(i.type))))
          fail(k_, v,
               "casts between " + std::string(name(from)) + " and " + std::string(name(i.type)));
        return arity(v, 1);
      }
      case Op::Load:
        arity(v, 0);
        access(v, i);
        return type(v, k_.buffers[i.index].dtype);
      case Op::Gather:
        if (operand(v, 0).type != DType::Int64) fail(k_, v, "its index is not int64");
        if (k_.buffers[i.index].written && !k_.sequential)
          fail(k_, v, "gathers from a written buffer");
        arity(v, 1);
        access(v, i);
        return type(v, k_.buffers[i.index].dtype);
      case Op::Store:
        if (!k_.buffers[i.index].written) fail(k_, v, "stores to a buffer that is not written");
        arity(v, 1);
        return store(v, i, k_.buffers[i.index].dtype, false);
      case Op::Scatter:
        return scatter(v, i);
      case Op::LoadLocal:
        stage(v, i.operands[0], i.index);
        arity(v, 1);
        access(v, i);
        local_visible(v, i.index);
        return type(v, k_.locals[i.index].dtype);
      case Op::StoreLocal:
        local_visible(v, i.index);
        stage(v, i.operands[1], i.index);
        arity(v, 2);
        return store(v, i, k_.locals[i.index].dtype, a_.per_lane(k_.locals[i.index]));
      case Op::For:
        arity(v, 0);
        if (!k_.loops[i.index].reductions.empty()) fail(k_, v, "a For has reductions");
        return walk(i.index);
      case Op::Reduce:
        arity(v, 0);
        return walk(i.index);
      case Op::Result: {
        arity(v, 1);
        if (!visible_[i.operands[0]]) fail(k_, v, "its reduction is not visible here");
        const Reduction& r = k_.loops[k_.insts[i.operands[0]].index].reductions[i.index];
        return type(v, is_arg(r.kind) ? DType::Int64 : k_.insts[r.value].type);
      }
      case Op::Fragment:
        return fragment(v, i);
      case Op::Barrier:
        return barrier(v, i);
      case Op::AsyncCopy:
        return copy(v, i);
      case Op::Running:
        return arity(v, 0);
      case Op::Carried:
        return carried(v, i);
      case Op::Break:
        if (i.operands[0] != kNone && operand(v, 0).type != DType::Bool)
          fail(k_, v, "its condition is not bool");
        return arity(v, i.operands[0] == kNone ? 0 : 1);
      case Op::Overflows:
        operands(v, 2, kWords);
        return type(v, DType::Bool);
      case Op::External: {
        const ExternalFunction& f = externals()[static_cast<std::size_t>(i.index)];
        operands(v, f.arity, f.operands);
        return type(v, f.result);
      }
    }
  }
  static constexpr DType kWords[] = {DType::Int64, DType::Int64};
  void operands(Val v, int n, const DType* types) const {
    for (int o = 0; o < n; ++o)
      if (operand(v, o).type != types[o])
        fail(k_, v, "an operand is not " + std::string(name(types[o])));
    arity(v, n);
  }
  void scatter(Val v, const Inst& i) const {
    if (operand(v, 0).type != DType::Int64) fail(k_, v, "its index is not int64");
    if (operand(v, 1).type != i.type) fail(k_, v, "its value is of another dtype");
    arity(v, 2);
    type(v, k_.buffers[i.index].dtype);
    if (!combines(i.fn, i.type) && !(k_.sequential && i.fn == OpId::Count_))
      fail(k_, v, "has no way to combine " + std::string(name(i.type)));
    if (!k_.buffers[i.index].written) fail(k_, v, "scatters to a buffer that is not written");
    access(v, i);
    if (k_.sequential) return;
    for (const Inst& other : k_.insts)
      if (other.op != Op::Scatter && other.op != Op::Store && addresses_buffer(other) &&
          other.index == i.index)
        fail(k_, v, "another instruction names its buffer");
    const auto& terms = k_.accesses[i.access].terms;
    const auto apart = [&](std::int32_t l) {
      return std::any_of(terms.begin(), terms.end(),
                         [&](const Term& t) { return t.var == k_.loops[l].var; });
    };
    if (!apart(0)) fail(k_, v, "iterations of the grid may scatter to one element");
    for (std::int32_t l = a_.block[v]; a_.vector_loop[l] >= 0 && !k_.loops[l].lanes();
         l = a_.parent[l])
      if (!apart(l)) fail(k_, v, "a loop inside a vector loop may scatter to one element");
  }
  void fragment(Val v, const Inst& i) const {
    const Fragment& p = k_.fragments[i.index];
    if (a_.vector_loop[a_.block[v]] >= 0) fail(k_, v, "a fragment stands in a vector loop");
    for (int n = 0; n < 3; ++n)
      if (operand(v, n).type != DType::Int64) fail(k_, v, "an extent is not int64");
    if (!visible_[p.block] || !defines(p.block) || k_.insts[p.block].type != DType::Int64)
      fail(k_, v, "its block is no visible int64");
    const DType a = k_.locals[p.a.local].dtype, b = k_.locals[p.b.local].dtype;
    const int row = fragment_row(a, b);
    if (row < 0) fail(k_, v, "multiplies " + std::string(name(a)) + " by " + std::string(name(b)));
    type(v, kFragmentTypes[row].sums);
    type(v, k_.locals[p.local].dtype);
    if (p.local == p.a.local || p.local == p.b.local) fail(k_, v, "overwrites an operand");
    for (std::int32_t l : {p.a.local, p.b.local, p.local}) local_visible(v, l);
    stage(v, p.a.stage, p.a.local);
    stage(v, p.b.stage, p.b.local);
    stage(v, kNone, p.local);
    if (p.shape >= 0) shape(v, p);
    for (std::int32_t a : {p.a.access, p.b.access, p.access}) terms(v, k_.accesses[a]);
  }
  // The row's types, and operands where and as it loads them.
  void shape(Val v, const Fragment& p) const {
    const FragmentShape& s = kFragmentShapes[p.shape];
    const Local &a = k_.locals[p.a.local], &b = k_.locals[p.b.local];
    const auto wants = [&](const char* what) {
      fail(k_, v, std::string(s.instruction) + " wants " + what);
    };
    if (a.dtype != s.a || b.dtype != s.b) wants("operands of other dtypes");
    for (const Local* l : {&a, &b}) {
      const Layout& y = l->layout;
      if (y.panel != 1) wants("rows, not panels");
      if (s.load != FragmentLoad::Words) {
        if (y.swizzle != 1) wants("rows that are not swizzled");
        continue;
      }
      if (l->space != Space::Shared) wants("operands in shared memory");
      const auto bytes = (y.columns + y.beside) * static_cast<std::int64_t>(itemsize(l->dtype));
      if (y.columns == 0 || bytes % kFragmentWord != 0) wants("rows of whole words");
    }
  }
  void store(Val v, const Inst& i, DType t, bool per_lane) {
    DType value = operand(v, 0).type;
    type(v, t);
    if (value != t)
      fail(k_, v, "stores " + std::string(name(value)) + " as " + std::string(name(t)));
    access(v, i);
    std::int32_t vector = a_.vector_loop[a_.block[v]];
    if (vector < 0 || per_lane) return;
    const auto& terms = k_.accesses[i.access].terms;
    if (std::none_of(terms.begin(), terms.end(), [&](const Term& t) { return a_.varies[t.var]; }))
      fail(k_, v, "every lane stores to one address");
  }
  void access(Val v, const Inst& i) const {
    terms(v, k_.accesses[i.access]);
    for (const Term& t : k_.accesses[i.access].terms) {
      if (a_.varies[t.var] && k_.insts[t.var].op != Op::Var)
        fail(k_, v, "address " + describe(k_, t.var) + " is not affine in the vector loop");
      bool local = i.op == Op::LoadLocal || i.op == Op::StoreLocal;
      if (a_.varies[t.var] && local && a_.per_lane(k_.locals[i.index]))
        fail(k_, v, "a lane's own local is addressed by the lane");
    }
  }
  // Of an access with nothing that differs from lane to lane.
  void terms(Val v, const Access& a) const {
    for (const Term& t : a.terms) {
      if (!visible_[t.var]) fail(k_, v, "address " + describe(k_, t.var) + " is not visible here");
      if (k_.insts[t.var].type != DType::Int64 || !defines(t.var))
        fail(k_, v, "address " + describe(k_, t.var) + " is not int64");
    }
  }
  void local_visible(Val v, std::int32_t local) const {
    std::int32_t home = k_.locals[local].home, l = a_.block[v];
    while (l >= 0 && l != home) l = a_.parent[l];
    if (l != home) fail(k_, v, "uses a local outside the loop it belongs to");
  }
  void apply(Val v, const Inst& i) const {
    const OpInfo& info = op_info(i.fn);
    arity(v, info.arity);
    int first = 0;
    if (i.fn == OpId::Where) {
      if (operand(v, 0).type != DType::Bool) fail(k_, v, "its condition is not bool");
      first = 1;
    }
    DType in = operand(v, first).type;
    for (int n = first + 1; n < info.arity; ++n)
      if (operand(v, n).type != in) fail(k_, v, "operands differ in dtype");
    // A choice moves bits, of any dtype.
    if (i.fn != OpId::Where && info.loops.find(code(in)) == std::string_view::npos)
      fail(k_, v, "has no loop for " + std::string(name(in)));
    type(v, result_type(i.fn, in));
  }
  // A written buffer may be read only where the same iteration stores: as far as that shows, some
  // store has the load's very access.
  void written_load(Val v) const {
    const Inst& load = k_.insts[v];
    for (const Inst& i : k_.insts)
      if (i.op == Op::Store && i.index == load.index &&
          same(k_.accesses[i.access], k_.accesses[load.access]))
        return;
    fail(k_, v, "reads a written buffer at an address that is not stored");
  }
};

}  // namespace

void verify(const Kernel& k) {
  verify_structure(k);
  verify_sequential(k);
  Rules(k).check();
  verify_locals(k);
  verify_sharing(k);
}

}  // namespace plait::ir
