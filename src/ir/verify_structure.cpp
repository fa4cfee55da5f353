#include "analysis.hpp"
#include "externals.hpp"
#include "plait/error.hpp"
#include "verify.hpp"

namespace plait::ir {

std::string describe(const Kernel& k, Val v) {
  std::string s = "value %" + std::to_string(v);
  if (v < k.insts.size() && k.insts[v].op == Op::Apply && k.insts[v].fn != OpId::Count_)
    s += " (" + std::string(op_info(k.insts[v].fn).name) + ")";
  return s;
}

void fail(const Kernel& k, Val v, const std::string& what) {
  throw InternalError("loop IR " + k.name + ": " + describe(k, v) + ": " + what);
}
void fail_loop(const Kernel& k, std::int32_t l, const std::string& what) {
  throw InternalError("loop IR " + k.name + ": loop " + std::to_string(l) + ": " + what);
}

namespace {

template <class T>
bool in_range(std::int32_t i, const std::vector<T>& v) {
  return i >= 0 && static_cast<std::size_t>(i) < v.size();
}

class Structure {
 public:
  explicit Structure(const Kernel& k)
      : k_(k), placed_(k.insts.size(), 0), entered_(k.loops.size(), 0) {}
  void check() {
    if (k_.loops.empty()) throw InternalError("loop IR " + k_.name + ": no grid loop");
    if (k_.params < 0) throw InternalError("loop IR " + k_.name + ": params are negative");
    for (const Access& a : k_.accesses) {
      coeff(a.offset, "an access");
      for (const Term& t : a.terms) {
        if (t.var >= k_.insts.size())
          throw InternalError("loop IR " + k_.name + ": an access names no value");
        coeff(t.stride, "an access");
      }
    }
    for (const Local& l : k_.locals) {
      coeff(l.count, "a local");
      if (!in_range(l.home, k_.loops))
        throw InternalError("loop IR " + k_.name + ": a local has no home");
    }
    for (const Fragment& p : k_.fragments) {
      for (const Panels* o : {&p.a, &p.b}) {
        operand(o->local, o->access);
        coeff(o->stride, "a fragment");
        coeff(o->step, "a fragment");
        if (o->width < 1) throw InternalError("loop IR " + k_.name + ": panels have no width");
      }
      operand(p.local, p.access);
      coeff(p.row, "a fragment");
      if (p.block >= k_.insts.size())
        throw InternalError("loop IR " + k_.name + ": a fragment is of no block");
      for (const Val v : {p.a.stage, p.b.stage})
        if (v != kNone && v >= k_.insts.size())
          throw InternalError("loop IR " + k_.name + ": a fragment's stage does not exist");
      if (p.shape < -1 || p.shape >= std::ssize(kFragmentShapes))
        throw InternalError("loop IR " + k_.name + ": a fragment has no such shape");
    }
    for (const Copy& c : k_.copies) {
      operand(c.local, c.to);
      if (!in_range(c.buffer, k_.buffers) || !in_range(c.from, k_.accesses))
        throw InternalError("loop IR " + k_.name + ": a copy names no buffer or no access");
      coeff(c.from_row, "a copy");
      coeff(c.to_row, "a copy");
    }
    walk(0);
    for (Val v = 0; v < placed_.size(); ++v)
      if (!placed_[v]) fail(k_, v, "stands in no block");
    for (std::size_t l = 0; l < entered_.size(); ++l)
      if (!entered_[l]) fail_loop(k_, static_cast<std::int32_t>(l), "is not part of the nest");
  }

 private:
  const Kernel& k_;
  std::vector<char> placed_, entered_;

  void coeff(const Coeff& c, const char* where) {
    if (c.param != kNoParam && (c.param < 0 || c.param >= k_.params))
      throw InternalError("loop IR " + k_.name + ": " + where + " names parameter " +
                          std::to_string(c.param) + " of " + std::to_string(k_.params));
  }
  void operand(std::int32_t local, std::int32_t access) const {
    if (!in_range(local, k_.locals) || !in_range(access, k_.accesses))
      throw InternalError("loop IR " + k_.name +
                          ": a fragment or copy names no local or no access");
  }
  void place(Val v) {
    if (v >= placed_.size()) fail(k_, v, "does not exist");
    if (placed_[v]) fail(k_, v, "stands in two places");
    placed_[v] = 1;
  }
  void walk(std::int32_t index) {
    if (entered_[index]) fail_loop(k_, index, "is entered twice");
    entered_[index] = 1;
    const Loop& l = k_.loops[index];
    if (l.var == kNone) fail_loop(k_, index, "has no variable");
    place(l.var);
    const Inst& var = k_.insts[l.var];
    if (var.op != Op::Var || var.index != index || var.type != DType::Int64)
      fail(k_, l.var, "is not the variable of loop " + std::to_string(index));
    for (const Reduction& r : l.reductions)
      if (r.value >= k_.insts.size() || (r.init != kNone && r.init >= k_.insts.size()))
        fail_loop(k_, index, "reduces no value");
    if (l.condition != kNone && l.condition >= k_.insts.size())
      fail_loop(k_, index, "its condition does not exist");
    for (const std::vector<Val>* block : {&l.body, &l.otherwise})
      for (Val v : *block) {
        place(v);
        const Inst& i = k_.insts[v];
        for (Val o : i.operands)
          if (o != kNone && o >= k_.insts.size()) fail(k_, v, "an operand does not exist");
        indices(v, i);
        coeff(i.stride, "a gather");
        if ((i.op == Op::Running || i.op == Op::Carried) && !in_range(i.index, l.reductions))
          fail(k_, v, "is the fold of no reduction of its loop");
        if (opens_loop(i)) walk(i.index);
      }
  }
  void indices(Val v, const Inst& i) {
    bool ok = true;
    switch (i.op) {
      case Op::Param:
        ok = i.index >= 0 && i.index < k_.params;
        break;
      case Op::Arg:
        ok = in_range(i.index, k_.scalars);
        break;
      case Op::Load:
      case Op::Gather:
      case Op::Store:
      case Op::Scatter:
        ok = in_range(i.index, k_.buffers);
        break;
      case Op::LoadLocal:
      case Op::StoreLocal:
        ok = in_range(i.index, k_.locals);
        break;
      case Op::For:
      case Op::Reduce:
      case Op::Break:
        ok = in_range(i.index, k_.loops);
        break;
      case Op::Var:
        fail(k_, v, "a variable is listed in a body");
      case Op::Apply:
        if (static_cast<int>(i.fn) >= kOpCount) fail(k_, v, "applies no operation");
        break;
      case Op::Result: {
        if (i.operands[0] == kNone || k_.insts[i.operands[0]].op != Op::Reduce)
          fail(k_, v, "is the result of no reduction");
        const Inst& r = k_.insts[i.operands[0]];
        ok = in_range(r.index, k_.loops) && in_range(i.index, k_.loops[r.index].reductions);
        break;
      }
      case Op::Fragment:
        ok = in_range(i.index, k_.fragments);
        break;
      case Op::AsyncCopy:
        ok = in_range(i.index, k_.copies);
        break;
      case Op::External:
        ok = i.index >= 0 && i.index < std::ssize(externals());
        break;
      case Op::Const:
      case Op::Barrier:
      case Op::Overflows:
      case Op::Cast:
      case Op::Running:
      case Op::Carried:
        break;
    }
    if (!ok) fail(k_, v, "its index " + std::to_string(i.index) + " is out of range");
    bool accesses = addresses_buffer(i) || i.op == Op::LoadLocal || i.op == Op::StoreLocal;
    if (accesses != (i.access != -1) || (accesses && !in_range(i.access, k_.accesses)))
      fail(k_, v, "its access is missing or not wanted");
  }
};

}  // namespace

void verify_structure(const Kernel& k) { Structure(k).check(); }

}  // namespace plait::ir
