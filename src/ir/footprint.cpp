#include "footprint.hpp"

#include <algorithm>
#include <optional>

#include "analysis.hpp"

namespace plait::ir {

namespace {

struct Reach {
  std::int64_t first, last;  // both belong to it
};
constexpr Reach kUnknown{-kAnywhere, kAnywhere};

bool known(const Reach& i) { return i.first > -kAnywhere && i.last < kAnywhere; }

Reach plus(const Reach& a, const Reach& b) {
  return known(a) && known(b) ? Reach{a.first + b.first, a.last + b.last} : kUnknown;
}
Reach minus(const Reach& a, const Reach& b) {
  return known(a) && known(b) ? Reach{a.first - b.last, a.last - b.first} : kUnknown;
}
Reach times(const Reach& a, const Reach& b) {
  if (!known(a) || !known(b)) return kUnknown;
  std::int64_t p[4];
  if (__builtin_mul_overflow(a.first, b.first, &p[0]) ||
      __builtin_mul_overflow(a.first, b.last, &p[1]) ||
      __builtin_mul_overflow(a.last, b.first, &p[2]) ||
      __builtin_mul_overflow(a.last, b.last, &p[3]))
    return kUnknown;
  const Reach r{*std::min_element(p, p + 4), *std::max_element(p, p + 4)};
  return known(r) ? r : kUnknown;
}
std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
Reach join(const Reach& a, const Reach& b) {
  return {std::min(a.first, b.first), std::max(a.last, b.last)};
}

class Bounds {
 public:
  Bounds(const Kernel& k, const std::int64_t* params, Reach grid)
      : k_(k), params_(params), of_(k.insts.size()) {
    of_[k.loops[0].var] = grid;
  }

  // nullopt: a loop around it has no iteration.
  std::optional<Reach> address(const Inst& i) {
    const Access& a = k_.accesses[static_cast<std::size_t>(i.access)];
    Reach sum{number(a.offset), number(a.offset)};
    for (const Term& t : a.terms) {
      const Reach at = value(t.var);
      if (at.last < at.first) return std::nullopt;
      const std::int64_t stride = number(t.stride);
      sum = plus(sum, times(at, {stride, stride}));
    }
    return i.op == Op::Gather || i.op == Op::Scatter ? kUnknown : sum;
  }

 private:
  std::int64_t number(const Coeff& c) const {
    return c.param == kNoParam ? c.value : params_[c.param];
  }

  Reach value(Val v) {
    if (!of_[v]) of_[v] = infer(k_.insts[v]);
    return *of_[v];
  }

  Reach infer(const Inst& i) {
    switch (i.op) {
      case Op::Const: {
        if (i.type != DType::Int64) return kUnknown;
        const auto n = i.imm.as<std::int64_t>();
        return {n, n};
      }
      case Op::Param:
        return {params_[i.index], params_[i.index]};
      case Op::Var: {
        const Loop& l = k_.loops[static_cast<std::size_t>(i.index)];
        const Reach begin = l.begin == kNone ? Reach{0, 0} : value(l.begin);
        const Reach end = value(l.end);
        return known(begin) && known(end) ? Reach{begin.first, end.last - 1} : kUnknown;
      }
      case Op::Apply:
        return i.type == DType::Int64 ? apply(i) : kUnknown;
      default:
        return kUnknown;
    }
  }

  // A comparison that has one answer, as where an index starts again: at the end of a period alone.
  std::optional<bool> decided(const Inst& i) {
    const bool equal = i.fn == OpId::Equal;
    if (i.op != Op::Apply || (!equal && i.fn != OpId::Less)) return std::nullopt;
    for (const Val v : {i.operands[0], i.operands[1]})
      if (k_.insts[v].type != DType::Int64) return std::nullopt;
    const Reach a = value(i.operands[0]), b = value(i.operands[1]);
    if (!known(a) || !known(b) || a.last < a.first || b.last < b.first) return std::nullopt;
    if (equal) {
      if (a.last < b.first || b.last < a.first) return false;
      if (a.first == a.last && b.first == b.last) return true;
      return std::nullopt;
    }
    if (a.last < b.first) return true;
    if (a.first >= b.last) return false;
    return std::nullopt;
  }

  Reach apply(const Inst& i) {
    if (i.fn == OpId::Where) {
      if (const auto holds = decided(k_.insts[i.operands[0]]))
        return value(i.operands[*holds ? 1 : 2]);
      return join(value(i.operands[1]), value(i.operands[2]));
    }
    if (i.operands[1] == kNone) return kUnknown;
    const Reach a = value(i.operands[0]), b = value(i.operands[1]);
    switch (i.fn) {
      case OpId::Add:
        return plus(a, b);
      case OpId::Subtract:
        return minus(a, b);
      case OpId::Multiply:
        return times(a, b);
      case OpId::Minimum:
        return {std::min(a.first, b.first), std::min(a.last, b.last)};
      case OpId::Maximum:
        return {std::max(a.first, b.first), std::max(a.last, b.last)};
      case OpId::FloorDivide:
        if (!known(a) || !known(b) || b.first <= 0) return kUnknown;
        return join({floor_divide(a.first, b.last), floor_divide(a.last, b.first)},
                    {floor_divide(a.first, b.first), floor_divide(a.last, b.last)});
      case OpId::Remainder: {
        if (!known(b) || b.first <= 0) return kUnknown;
        // A stretch that meets no multiple of one divisor keeps its order.
        if (known(a) && b.first == b.last &&
            floor_divide(a.first, b.first) == floor_divide(a.last, b.first)) {
          const std::int64_t base = floor_divide(a.first, b.first) * b.first;
          return {a.first - base, a.last - base};
        }
        return {0, b.last - 1};
      }
      default:
        return kUnknown;
    }
  }

  const Kernel& k_;
  const std::int64_t* params_;
  std::vector<std::optional<Reach>> of_;  // each value, once asked for
};

}  // namespace

std::vector<Touched> footprint(const Kernel& k, const std::int64_t* params, std::int64_t begin,
                               std::int64_t end) {
  std::vector<Touched> all;
  Bounds bounds(k, params, {begin, end - 1});
  for (const Inst& i : k.insts) {
    if (!addresses_buffer(i)) continue;
    const std::optional<Reach> at = bounds.address(i);
    const auto item =
        static_cast<std::int64_t>(itemsize(k.buffers[static_cast<std::size_t>(i.index)].dtype));
    all.push_back({i.index, i.op == Op::Store || i.op == Op::Scatter, at ? at->first : 0,
                   at ? at->last + item : 0});
  }
  return all;
}

}  // namespace plait::ir
