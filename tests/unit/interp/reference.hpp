// What a kernel means, as slowly and plainly as possible: the loop IR read one scalar iteration at
// a time, reductions over lists of all their values. Every backend is compared with it. Elementwise
// operations are the precompiled loops on one element.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "codegen/loops/loops.hpp"
#include "core/half.hpp"
#include "ir/analysis.hpp"

namespace plait::reference {

inline Scalar apply(loops::LoopFn fn, DType out, std::vector<Scalar> in) {
  if (!fn) throw std::runtime_error("reference: no loop");
  Scalar r;
  r.dtype = out;
  void* args[4];
  std::int64_t strides[4];
  for (std::size_t i = 0; i < in.size(); ++i) {
    args[i] = in[i].bytes;
    strides[i] = static_cast<std::int64_t>(itemsize(in[i].dtype));
  }
  args[in.size()] = r.bytes;
  strides[in.size()] = static_cast<std::int64_t>(itemsize(out));
  fn(args, strides, 1);
  return r;
}

class Executor {
 public:
  Executor(const ir::Kernel& k, const ir::CallArgs& args, CpuTier tier)
      : k_(k), args_(args), tier_(tier), env_(k.insts.size()), locals_(k.locals.size()) {}

  void run(std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) iteration(0, i);
  }

 private:
  const ir::Kernel& k_;
  const ir::CallArgs& args_;
  CpuTier tier_;
  std::vector<Scalar> env_;
  std::vector<std::vector<unsigned char>> locals_;
  std::vector<std::vector<Scalar>> results_{k_.insts.size()};
  std::vector<std::vector<Scalar>> states_{k_.loops.size()};  // of each loop's folds, so far

  std::int64_t resolve(const ir::Coeff& c) const {
    return c.param == ir::kNoParam ? c.value : args_.params[c.param];
  }
  std::int64_t integer(ir::Val v) const { return env_[v].as<std::int64_t>(); }
  std::int64_t address(const ir::Inst& i) const { return address(i.access); }
  std::int64_t address(std::int32_t index) const {
    const ir::Access& a = k_.accesses[index];
    std::int64_t at = resolve(a.offset);
    for (const ir::Term& t : a.terms) at += integer(t.var) * resolve(t.stride);
    return at;
  }
  // As ir::Layout says.
  static std::int64_t place(const ir::Local& l, std::int64_t at) {
    const ir::Layout& y = l.layout;
    if (y.columns == 0) return at;
    const std::int64_t row = at / y.columns, column = at % y.columns, pitch = y.columns + y.beside;
    if (y.panel > 1) return row / y.panel * y.panel * pitch + column * y.panel + row % y.panel;
    if (y.swizzle == 1) return row * pitch + column;
    const std::int64_t word = kFragmentWord / static_cast<std::int64_t>(itemsize(l.dtype));
    return row * pitch + (column / word ^ row % y.swizzle) * word + column % word;
  }
  // Elements of one stage in memory: whole rows, and whole panels of them.
  std::int64_t room(const ir::Local& l) const {
    const std::int64_t count = resolve(l.count), columns = l.layout.columns;
    if (columns == 0) return count;
    const std::int64_t rows = (count + columns - 1) / columns, panel = l.layout.panel;
    return (rows + panel - 1) / panel * panel * (columns + l.layout.beside);
  }
  unsigned char* local(std::int32_t index, std::int64_t address, ir::Val stage) {
    const ir::Local& l = k_.locals[index];
    if (address < 0 || address >= resolve(l.count))
      throw std::runtime_error("reference: local out of bounds");
    const std::int64_t copy = stage == ir::kNone ? 0 : integer(stage) % l.stages;
    const auto at = static_cast<std::size_t>(copy * room(l) + place(l, address));
    return locals_[index].data() + at * itemsize(l.dtype);
  }

  void iteration(std::int32_t loop, std::int64_t i) {
    env_[k_.loops[loop].var] = Scalar::of(DType::Int64, i);
    for (std::size_t l = 0; l < locals_.size(); ++l)
      if (k_.locals[l].home == loop)
        locals_[l].assign(k_.locals[l].stages * room(k_.locals[l]) * itemsize(k_.locals[l].dtype),
                          0xa5);
    for (ir::Val v : k_.loops[loop].body) execute(v);
  }

  void execute(ir::Val v) {
    const ir::Inst& i = k_.insts[v];
    Scalar& out = env_[v];
    out.dtype = i.type;
    switch (i.op) {
      case ir::Op::Const:
        out = i.imm;
        break;
      case ir::Op::Param:
        out = Scalar::of(DType::Int64, args_.params[i.index]);
        break;
      case ir::Op::Arg:
        out = args_.scalars[i.index];
        break;
      case ir::Op::Var:
        break;
      case ir::Op::Apply: {
        std::vector<Scalar> in;
        for (ir::Val o : i.operands)
          if (o != ir::kNone) in.push_back(env_[o]);
        DType t = in[i.fn == OpId::Where ? 1 : 0].dtype;
        out = apply(loops::elementwise(i.fn, t, tier_), i.type, in);
        break;
      }
      case ir::Op::Cast:
        out = cast(env_[i.operands[0]], i.type);
        break;
      case ir::Op::Load:
        std::memcpy(out.bytes, static_cast<char*>(args_.buffers[i.index]) + address(i),
                    itemsize(i.type));
        break;
      case ir::Op::Gather:
        std::memcpy(out.bytes,
                    static_cast<char*>(args_.buffers[i.index]) + address(i) +
                        integer(i.operands[0]) * resolve(i.stride),
                    itemsize(i.type));
        break;
      case ir::Op::Store:
        std::memcpy(static_cast<char*>(args_.buffers[i.index]) + address(i),
                    env_[i.operands[0]].bytes, itemsize(i.type));
        break;
      case ir::Op::Scatter: {
        auto* p = static_cast<char*>(args_.buffers[i.index]) + address(i) +
                  integer(i.operands[0]) * resolve(i.stride);
        std::vector<Scalar> in{env_[i.operands[1]], env_[i.operands[1]]};
        std::memcpy(in[0].bytes, p, itemsize(i.type));
        const Scalar sum = apply(loops::elementwise(i.fn, i.type, tier_), i.type, in);
        std::memcpy(p, sum.bytes, itemsize(i.type));
        break;
      }
      case ir::Op::LoadLocal:
        std::memcpy(out.bytes, local(i.index, address(i), i.operands[0]), itemsize(i.type));
        break;
      case ir::Op::StoreLocal:
        std::memcpy(local(i.index, address(i), i.operands[1]), env_[i.operands[0]].bytes,
                    itemsize(i.type));
        break;
      case ir::Op::For:
      case ir::Op::Reduce:
        loop(v, i.index);
        break;
      case ir::Op::Result:
        out = results_[i.operands[0]][i.index];
        break;
      case ir::Op::Running:
        out = run_on(v, i);
        break;
      case ir::Op::Carried:
        out = states_[loop_of(v)][i.index];
        break;
      case ir::Op::Fragment:
        product(i);
        break;
      case ir::Op::Barrier:
        break;
      case ir::Op::AsyncCopy:
        copy(i);
        break;
      case ir::Op::Break:
      case ir::Op::Overflows:
      case ir::Op::External:
        break;  // of sequential kernels
    }
  }

  void copy(const ir::Inst& i) {
    const ir::Copy& c = k_.copies[i.index];
    const auto* from = static_cast<char*>(args_.buffers[c.buffer]) + address(c.from);
    const auto item = static_cast<std::int64_t>(itemsize(i.type));
    for (std::int64_t row = 0; row < integer(i.operands[0]); ++row)
      for (std::int64_t column = 0; column < integer(i.operands[1]); ++column)
        std::memcpy(local(c.local, address(c.to) + row * resolve(c.to_row) + column, i.operands[2]),
                    from + row * resolve(c.from_row) + column * item, itemsize(i.type));
  }
  template <class T>
  T& element(std::int32_t in, std::int32_t access, std::int64_t at, ir::Val stage = ir::kNone) {
    return *reinterpret_cast<T*>(local(in, address(access) + at, stage));
  }
  void product(const ir::Inst& i) {
    const ir::Fragment& p = k_.fragments[i.index];
    const DType a = k_.locals[p.a.local].dtype, b = k_.locals[p.b.local].dtype;
    if (a == DType::Float64) return product<double, double, double>(i);
    if (a == DType::Float16)
      return b == a ? product<Half, Half, float>(i) : product<Half, float, float>(i);
    if (a == DType::Float32)
      return b == a ? product<float, float, float>(i) : product<float, Half, float>(i);
    if (a == DType::Int8) return product<std::int8_t, std::uint8_t, std::uint32_t>(i);
    product<std::int64_t, std::int64_t, std::uint64_t>(i);
  }
  template <class T, class From>
  static T widened(From v) {
    if constexpr (std::is_same_v<From, Half>)
      return half_to_float(v.bits);
    else
      return static_cast<T>(v);
  }
  template <class A, class B, class T>
  void product(const ir::Inst& inst) {
    const ir::Fragment& p = k_.fragments[inst.index];
    const std::int64_t m = integer(inst.operands[0]), n = integer(inst.operands[1]),
                       depth = integer(inst.operands[2]);
    const auto packed = [&]<class In>(In, const ir::Panels& o, std::int64_t i, std::int64_t q) {
      const std::int64_t at = i / o.width * resolve(o.stride) + q * resolve(o.step) + i % o.width;
      return widened<T>(element<In>(o.local, o.access, at, o.stage));
    };
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        T s = 0;
        for (std::int64_t q = 0; q < depth; ++q)
          if constexpr (std::is_integral_v<T>)
            s += packed(A{}, p.a, i, q) * packed(B{}, p.b, j, q);
          else
            s = std::fma(packed(A{}, p.a, i, q), packed(B{}, p.b, j, q), s);
        T& c = element<T>(p.local, p.access, i * resolve(p.row) + j);
        c = integer(p.block) == 0 ? s : c + s;
      }
  }

  std::size_t loop_of(ir::Val v) const {
    std::size_t loop = 0;
    while (std::find(k_.loops[loop].body.begin(), k_.loops[loop].body.end(), v) ==
           k_.loops[loop].body.end())
      ++loop;
    return loop;
  }
  Scalar run_on(ir::Val v, const ir::Inst& i) {
    const std::size_t loop = loop_of(v);
    const ir::Reduction& r = k_.loops[loop].reductions[i.index];
    Scalar &s = states_[loop][i.index], &x = env_[r.value];
    const bool extreme = r.kind == ReduceKind::Min || r.kind == ReduceKind::Max;
    return s = extreme ? combine(r.kind, i.type, x, s) : combine(r.kind, i.type, s, x);
  }

  void loop(ir::Val v, std::int32_t index) {
    const ir::Loop& l = k_.loops[index];
    std::int64_t begin = l.begin == ir::kNone ? 0 : integer(l.begin), end = integer(l.end);
    std::vector<std::vector<Scalar>> values(l.reductions.size());
    states_[index].clear();
    for (const ir::Reduction& r : l.reductions)
      states_[index].push_back(r.init == ir::kNone ? fold_identity(r.kind, k_.insts[r.value].type)
                                                   : env_[r.init]);
    for (std::int64_t i = begin; i < end; ++i) {
      iteration(index, i);
      for (std::size_t r = 0; r < values.size(); ++r)
        values[r].push_back(env_[l.reductions[r].value]);
      for (std::size_t r = 0; r < values.size(); ++r)
        if (l.reductions[r].kind == ReduceKind::Last)
          states_[index][r] = env_[l.reductions[r].value];
    }
    results_[v].clear();
    for (std::size_t r = 0; r < values.size(); ++r)
      results_[v].push_back(
          ir::running(k_, index, r) != ir::kNone || l.reductions[r].kind == ReduceKind::Last
              ? states_[index][r]
              : reduce(l.reductions[r], k_.insts[l.reductions[r].value].type, values[r], begin));
  }

  Scalar cast(const Scalar& s, DType to) const {
    return apply(loops::cast(s.dtype, to, tier_), to, {s});
  }
  Scalar reduce(const ir::Reduction& r, DType t, std::vector<Scalar> values,
                std::int64_t begin) const {
    if (r.guarded_sqrt)
      for (Scalar& v : values) v = apply(loops::elementwise(OpId::Sqrt, t, tier_), t, {v});
    if (is_arg(r.kind)) return Scalar::of(DType::Int64, begin + best(r.kind, t, values));
    bool half = t == DType::Float16 && (r.kind == ReduceKind::Sum || r.kind == ReduceKind::Prod);
    if (half)
      for (Scalar& v : values) v = cast(v, DType::Float32);
    DType acc = half ? DType::Float32 : t;
    bool inexact = is_float(t) || is_complex(t);
    Scalar s = r.order == ir::Order::Pairwise && inexact && !values.empty()
                   ? tree(acc, values.data(), static_cast<std::int64_t>(values.size()))
                   : fold(r.kind, acc, fold_identity(r.kind, acc), values.data(),
                          static_cast<std::int64_t>(values.size()));
    return half ? cast(s, t) : s;
  }
  Scalar combine(ReduceKind kind, DType t, const Scalar& a, const Scalar& b) const {
    return apply(loops::join(kind, t, tier_), t, {a, b});
  }
  Scalar add(DType t, const Scalar& a, const Scalar& b) const {
    return combine(ReduceKind::Sum, t, a, b);
  }
  Scalar fold(ReduceKind kind, DType t, Scalar acc, const Scalar* v, std::int64_t n) const {
    for (std::int64_t i = 0; i < n; ++i) acc = combine(kind, t, acc, v[i]);
    return acc;
  }
  // numpy/_core/src/umath/loops_utils.h.src: a complex element counts as two.
  Scalar tree(DType t, const Scalar* v, std::int64_t n) const {
    std::int64_t scale = is_complex(t) ? 2 : 1, ways = 8 / scale;
    if (n < ways) return fold(ReduceKind::Sum, t, fold_identity(ReduceKind::Sum, t), v, n);
    if (n <= 128 / scale) {
      std::vector<Scalar> r(v, v + ways);
      std::int64_t i = ways;
      for (; i < n - n % ways; ++i) r[i % ways] = add(t, r[i % ways], v[i]);
      for (; r.size() > 1; r.resize(r.size() / 2))
        for (std::size_t j = 0; j + 1 < r.size(); j += 2) r[j / 2] = add(t, r[j], r[j + 1]);
      return fold(ReduceKind::Sum, t, r[0], v + i, n - i);
    }
    std::int64_t left = n * scale / 2;
    left = (left - left % 8) / scale;
    return add(t, tree(t, v, left), tree(t, v + left, n - left));
  }
  std::int64_t best(ReduceKind kind, DType t, const std::vector<Scalar>& values) const {
    auto test = [&](OpId op, std::vector<Scalar> in) {
      return apply(loops::elementwise(op, t, tier_), DType::Bool, in).as<bool>();
    };
    bool inexact = is_float(t) || is_complex(t);
    std::size_t at = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (inexact && test(OpId::Isnan, {values[i]})) return static_cast<std::int64_t>(i);
      if (test(kind == ReduceKind::ArgMin ? OpId::Less : OpId::Greater, {values[i], values[at]}))
        at = i;
    }
    return static_cast<std::int64_t>(at);
  }
};

inline void run(const ir::Kernel& k, const ir::CallArgs& args, std::int64_t begin, std::int64_t end,
                CpuTier tier = detected_tier()) {
  Executor(k, args, tier).run(begin, end);
}

// Equal bits; any NaN equals any NaN, and zeros equal whatever their sign (the sign of the least of
// -0.0 and 0.0, and a NaN's payload, are nobody's promise).
inline bool same_value(DType t, const unsigned char* a, const unsigned char* b) {
  if (std::memcmp(a, b, itemsize(t)) == 0) return true;
  auto real = [&](auto zero) {
    using T = decltype(zero);
    bool same = true;
    for (std::size_t i = 0; i < itemsize(t); i += sizeof(T)) {
      T x, y;
      std::memcpy(&x, a + i, sizeof x);
      std::memcpy(&y, b + i, sizeof y);
      same = same && (x == y || (x != x && y != y));
    }
    return same;
  };
  switch (t) {
    case DType::Float16: {
      std::uint16_t x, y;
      std::memcpy(&x, a, 2);
      std::memcpy(&y, b, 2);
      bool nans = (x & 0x7fff) > 0x7c00 && (y & 0x7fff) > 0x7c00;
      return nans || ((x | y) & 0x7fff) == 0;
    }
    case DType::Float32:
    case DType::Complex64:
      return real(0.0f);
    case DType::Float64:
    case DType::Complex128:
      return real(0.0);
    default:
      return false;
  }
}

}  // namespace plait::reference
