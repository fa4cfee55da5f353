#include <algorithm>
#include <cstdlib>
#include <map>

#include "passes.hpp"

namespace plait::fusion {
using namespace ir;

namespace {

// A packed row must stay in the first-level cache with the rest of the loop's data.
constexpr std::int64_t kMaxRow = 1024;

class PackLoads {
 public:
  PackLoads(const LoweringInput& in, LoweredKernel& lk) : in_(in), lk_(lk), k_(lk.kernel) {}

  void find(std::int32_t l) {
    const std::vector<Val> body = k_.loops[l].body;
    for (Val v : body) {
      if (k_.insts[v].op != Op::For && k_.insts[v].op != Op::Reduce) continue;
      const std::int32_t c = k_.insts[v].index;
      if (k_.loops[l].vector)
        chain(l, v, {c});
      else
        find(c);
    }
  }

 private:
  // Loads under vector loop `l`, in the nest that starts with instruction `child`; `path` leads
  // down to them.
  void chain(std::int32_t l, Val child, std::vector<std::int32_t> path) {
    const std::vector<Val> body = k_.loops[path.back()].body;
    for (Val v : body) {
      const Inst i = k_.insts[v];
      if (i.op == Op::For || i.op == Op::Reduce) {
        path.push_back(i.index);
        chain(l, child, path);
        path.pop_back();
      } else if (i.op == Op::Load && !k_.buffers[i.index].written) {
        pack(l, child, path, v);
      }
    }
  }

  void pack(std::int32_t l, Val child, const std::vector<std::int32_t>& path, Val load) {
    const Access a = k_.accesses[k_.insts[load].access];
    std::int64_t lane = 0;
    std::int32_t row = -1;
    bool repeated = false;
    int bound = 0;
    for (const Term& t : a.terms) {
      if (t.var == k_.loops[l].var)
        lane =
            t.stride.param == kNoParam ? t.stride.value : concrete(in_, lk_.params[t.stride.param]);
      for (std::int32_t p : path)
        if (t.var == k_.loops[p].var) {
          row = p;
          ++bound;
        }
    }
    if (bound != 1) return;
    for (std::int32_t p : path) repeated |= p != row && concrete(in_, lk_.extents[p]) > 1;
    const auto item = static_cast<std::int64_t>(itemsize(k_.insts[load].type));
    if (!repeated || std::abs(lane) <= item) return;
    const Loop& r = k_.loops[row];
    if (r.begin != kNone || concrete(in_, lk_.extents[row]) > kMaxRow) return;

    const DType type = k_.insts[load].type;
    Access at;
    at.terms.push_back({r.var, {1, kNoParam}});
    const std::string key = signature(k_.insts[load].index, a, r.var);
    auto [it, fresh] = packed_.try_emplace(key, static_cast<std::int32_t>(k_.locals.size()));
    if (fresh) copy_loop(l, child, row, load, type);
    k_.accesses.push_back(at);
    Inst& i = k_.insts[load];
    i.op = Op::LoadLocal;
    i.index = it->second;
    i.access = static_cast<std::int32_t>(k_.accesses.size() - 1);
  }

  std::string signature(std::int32_t buffer, const Access& a, Val row) const {
    std::string s = std::to_string(buffer) + "/" + std::to_string(a.offset.value) + "/" +
                    std::to_string(a.offset.param);
    for (const Term& t : a.terms)
      s += "/" + (t.var == row ? std::string("row") : std::to_string(t.var)) + "," +
           std::to_string(t.stride.value) + "," + std::to_string(t.stride.param);
    return s;
  }

  // for d: local[d] = load, in front of the nest.
  void copy_loop(std::int32_t l, Val child, std::int32_t row, Val load, DType type) {
    const auto n = static_cast<std::int32_t>(k_.loops.size());
    const ExprId extent = lk_.extents[row];
    k_.locals.push_back({type, coeff(extent), l});
    k_.loops.emplace_back();
    lk_.extents.push_back(extent);
    Inst var{Op::Var};
    var.index = n;
    k_.loops[n].var = push(var);
    k_.loops[n].end = k_.loops[row].end;
    k_.loops[n].unroll = k_.loops[row].unroll;
    Inst copy = k_.insts[load];
    Access a = k_.accesses[copy.access];
    for (Term& t : a.terms)
      if (t.var == k_.loops[row].var) t.var = k_.loops[n].var;
    k_.accesses.push_back(a);
    copy.access = static_cast<std::int32_t>(k_.accesses.size() - 1);
    const Val value = push(copy);
    Access at;
    at.terms.push_back({k_.loops[n].var, {1, kNoParam}});
    k_.accesses.push_back(at);
    Inst store{Op::StoreLocal, type};
    store.index = static_cast<std::int32_t>(k_.locals.size() - 1);
    store.operands[0] = value;
    store.access = static_cast<std::int32_t>(k_.accesses.size() - 1);
    k_.loops[n].body = {value, push(store)};
    Inst loop{Op::For};
    loop.index = n;
    const Val f = push(loop);
    auto& body = k_.loops[l].body;
    body.insert(std::find(body.begin(), body.end(), child), f);
  }

  Coeff coeff(ExprId e) {
    if (in_.exprs.is_constant(e)) return {in_.exprs.value(e), kNoParam};
    for (std::size_t p = 0; p < lk_.params.size(); ++p)
      if (lk_.params[p] == e) return {0, static_cast<std::int32_t>(p)};
    lk_.params.push_back(e);
    k_.params = static_cast<std::int32_t>(lk_.params.size());
    return {0, k_.params - 1};
  }
  Val push(const Inst& i) {
    k_.insts.push_back(i);
    return static_cast<Val>(k_.insts.size() - 1);
  }

  const LoweringInput& in_;
  LoweredKernel& lk_;
  Kernel& k_;
  std::map<std::string, std::int32_t> packed_;
};

}  // namespace

void pack_loads(const LoweringInput& in, LoweredKernel& k) {
  PackLoads p(in, k);
  // The grid may itself be the vector loop.
  p.find(0);
}

}  // namespace plait::fusion
