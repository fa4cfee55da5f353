#include "ir/analysis.hpp"
#include "passes.hpp"

namespace plait::fusion {
using namespace ir;

namespace {

class Collapse {
 public:
  Collapse(const LoweringInput& in, LoweredKernel& lk) : in_(in), lk_(lk), k_(lk.kernel) {}

  void run() {
    block(0);
    while (merge_split()) {
    }
  }

 private:
  void block(std::int32_t l) {
    const std::vector<Val> body = k_.loops[l].body;  // number() adds to it
    for (Val v : body)
      if (opens_loop(k_.insts[v])) block(k_.insts[v].index);
    if (k_.loops[l].begin != kNone) {
      split_.push_back(l);
      return;
    }
    for (Val inner = mergeable(l); inner != kNone; inner = mergeable(l)) {
      const ExprId extent =
          in_.exprs.mul(l == 0 ? lk_.grid_extent : lk_.extents[l], extent_of(inner));
      fuse(k_, l, inner);
      if (l == 0) {
        lk_.grid_extent = extent;
      } else {
        lk_.extents[l] = extent;
        k_.loops[l].end = number(extent);
      }
    }
  }

  // The loops of a chunked region's reductions run over the same chunks of one range, so that all
  // of them become longer, or none.
  bool merge_split() {
    // Other ranges are those of a loop's zones.
    if (split_.empty() || !chunked()) return false;
    std::vector<Val> inner_loops;
    for (std::int32_t l : split_) {
      inner_loops.push_back(mergeable(l));
      if (inner_loops.back() == kNone) return false;
    }
    const ExprId inner = extent_of(inner_loops[0]);
    for (Val other : inner_loops) {
      const ExprId extent = extent_of(other);
      if (!in_.facts.equal(extent, inner)) return false;
    }
    for (std::size_t s = 0; s < split_.size(); ++s) {
      ExprId& extent = lk_.extents[split_[s]];
      extent = in_.exprs.mul(extent, extent_of(inner_loops[s]));
      fuse(k_, split_[s], inner_loops[s]);
    }
    lk_.grid_extent = in_.exprs.mul(lk_.grid_extent, inner);
    return true;
  }

  ExprId extent_of(Val loop) const { return lk_.extents[k_.insts[loop].index]; }

  // The loop in loop `a` that is the only varying content of it, if both can be one; else kNone.
  Val mergeable(std::int32_t a) {
    const Loop& la = k_.loops[a];
    Val inner = kNone;
    for (Val v : la.body) {
      const Inst& i = k_.insts[v];
      if (opens_loop(i)) {
        if (inner != kNone) return kNone;
        inner = v;
      } else if (!uniform(i) && i.op != Op::Result) {
        return kNone;
      }
    }
    if (inner == kNone) return kNone;
    const std::int32_t b = k_.insts[inner].index;
    const Loop& lb = k_.loops[b];
    if (lb.begin != kNone || lb.scope != Scope::Serial) return kNone;
    // The grid of a chunked region counts chunks, not elements.
    if (a == 0 && chunked()) return kNone;
    const bool reduce = k_.insts[inner].op == Op::Reduce;
    if (reduce != !la.reductions.empty()) return kNone;
    if (reduce && (scans(k_, b) || !same_fold(la, lb, inner))) return kNone;
    return contiguous(a, b) ? inner : kNone;
  }

  static bool uniform(const Inst& i) {
    return i.op == Op::Const || i.op == Op::Param || i.op == Op::Arg;
  }
  bool chunked() const { return !lk_.partials.empty(); }
  bool same_fold(const Loop& la, const Loop& lb, Val inner) const {
    if (la.reductions.size() != 1 || lb.reductions.size() != 1) return false;
    const Reduction &ra = la.reductions[0], &rb = lb.reductions[0];
    const Inst& r = k_.insts[ra.value];
    return ra.kind == rb.kind && !is_arg(ra.kind) && r.op == Op::Result && r.operands[0] == inner;
  }

  ExprId expr(const Coeff& c) {
    return c.param == kNoParam ? in_.exprs.constant(c.value) : lk_.params[c.param];
  }

  // Every access in b steps along a as far as the whole of b's range.
  bool contiguous(std::int32_t a, std::int32_t b) {
    const Val va = k_.loops[a].var, vb = k_.loops[b].var;
    const ExprId extent = lk_.extents[b];
    bool ok = true;
    for_each_inst(k_, b, [&](Val v, std::int32_t) {
      const Inst& i = k_.insts[v];
      for (Val o : i.operands) ok &= o != va && o != vb;
      if (i.access < 0) return;
      ExprId sa = in_.exprs.zero(), sb = in_.exprs.zero();
      for (const Term& t : k_.accesses[i.access].terms) {
        if (t.var == va) sa = expr(t.stride);
        if (t.var == vb) sb = expr(t.stride);
      }
      ExprId whole = in_.exprs.mul(sb, extent);
      ok = ok && in_.facts.equal(sa, whole);
    });
    return ok;
  }

  Val number(ExprId e) {
    Inst i{Op::Param};
    if (in_.exprs.is_constant(e)) {
      i.op = Op::Const;
      i.imm = scalar_int(in_.exprs.value(e));
    } else {
      std::size_t p = 0;
      while (p < lk_.params.size() && lk_.params[p] != e) ++p;
      if (p == lk_.params.size()) lk_.params.push_back(e);
      i.index = static_cast<std::int32_t>(p);
      k_.params = static_cast<std::int32_t>(lk_.params.size());
    }
    const Val v = append(k_, i);
    k_.loops[0].body.insert(k_.loops[0].body.begin(), v);
    return v;
  }

  const LoweringInput& in_;
  LoweredKernel& lk_;
  Kernel& k_;
  std::vector<std::int32_t> split_;
};

}  // namespace

void collapse(const LoweringInput& in, LoweredKernel& k) { Collapse(in, k).run(); }

}  // namespace plait::fusion
