#include <algorithm>
#include <cstdlib>
#include <map>

#include "passes.hpp"

namespace plait::fusion {
using namespace ir;

namespace {

// A packed row must stay in the first-level cache with the rest of the loop's data.
constexpr std::int64_t kMaxPackedRow = 1024;

class PackLoads {
 public:
  PackLoads(const LoweringInput& in, LoweredKernel& lk) : in_(in), lk_(lk), k_(lk.kernel) {}

  void run() {
    find(0);  // the grid may itself be the vector loop
    for (const Row& row : rows_) stage(k_, row);
  }

 private:
  void find(std::int32_t l) {
    for (Val v : k_.loops[l].body) {
      if (!opens_loop(k_.insts[v])) continue;
      const std::int32_t c = k_.insts[v].index;
      if (k_.loops[l].lanes())
        chain(l, v, {c});
      else
        find(c);
    }
  }

  // Loads under vector loop `l`, in the nest that starts with instruction `child`; `path` leads
  // down to them.
  void chain(std::int32_t l, Val child, std::vector<std::int32_t> path) {
    for (Val v : k_.loops[path.back()].body) {
      const Inst& i = k_.insts[v];
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
    if (r.begin != kNone || concrete(in_, lk_.extents[row]) > kMaxPackedRow) return;

    const auto [it, fresh] =
        packed_.try_emplace(signature(k_.insts[load].index, a, r.var), rows_.size());
    if (fresh) {
      const ExprId extent = lk_.extents[row];
      rows_.push_back({.home = l, .count = coeff(extent), .before = child});
      lk_.extents.push_back(extent);  // of the loop that copies
    }
    rows_[it->second].readers.push_back({row, load});
  }

  std::string signature(std::int32_t buffer, const Access& a, Val row) const {
    std::string s = std::to_string(buffer) + "/" + std::to_string(a.offset.value) + "/" +
                    std::to_string(a.offset.param);
    for (const Term& t : a.terms)
      s += "/" + (t.var == row ? std::string("row") : std::to_string(t.var)) + "," +
           std::to_string(t.stride.value) + "," + std::to_string(t.stride.param);
    return s;
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
  std::map<std::string, std::size_t> packed_;
  std::vector<Row> rows_;
};

}  // namespace

void pack_loads(const LoweringInput& in, LoweredKernel& k) { PackLoads(in, k).run(); }

}  // namespace plait::fusion
