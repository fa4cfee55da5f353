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
      if (!opens_loop(k_.insts[v])) continue;
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
      if (opens_loop(i)) {
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
      // In front of the nest it would have no value.
      for (std::int32_t p : path)
        if (std::find(k_.loops[p].body.begin(), k_.loops[p].body.end(), t.var) !=
            k_.loops[p].body.end())
          return;
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

    const std::string key = signature(k_.insts[load].index, a, r.var);
    auto [it, fresh] = packed_.try_emplace(key, static_cast<std::int32_t>(k_.locals.size()));
    if (fresh) copy(l, child, row, load);
    read_row(k_, it->second, row, load);
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
  void copy(std::int32_t l, Val child, std::int32_t row, Val load) {
    const ExprId extent = lk_.extents[row];
    const std::int32_t local = append_row(k_, k_.insts[load].type, coeff(extent), l);
    lk_.extents.push_back(extent);
    insert_before(k_.loops[l], child, copy_row(k_, local, row, load, k_.loops[row].end));
  }

  Coeff coeff(ExprId e) {
    if (in_.exprs.is_constant(e)) return {in_.exprs.value(e), kNoParam};
    for (std::size_t p = 0; p < lk_.params.size(); ++p)
      if (lk_.params[p] == e) return {0, static_cast<std::int32_t>(p)};
    lk_.params.push_back(e);
    k_.params = static_cast<std::int32_t>(lk_.params.size());
    return {0, k_.params - 1};
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
