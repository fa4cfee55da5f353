// Random kernels with the memory they run on: nests of vector and serial loops, reductions of every
// kind, row buffers, read-modify-write, every dtype. The same seed gives the same kernel. Written
// buffers are stored at distinct addresses, so that any backend gives what the reference gives.
#pragma once
#include <algorithm>
#include <random>

#include "codegen/loops/loops.hpp"
#include "ir/builder.hpp"

namespace plait::test {

struct RandomKernel {
  ir::Kernel kernel;
  std::vector<std::vector<unsigned char>> buffers;
  std::vector<std::int64_t> params;
  std::vector<Scalar> scalars;
  std::int64_t grid = 0;

  // Calls f(args) with pointers to `memory`, a copy of `buffers`.
  template <class F>
  void call(std::vector<std::vector<unsigned char>>& memory, F f) const {
    std::vector<void*> pointers;
    for (auto& b : memory) pointers.push_back(b.data());
    f(ir::CallArgs{pointers.data(), params.data(), scalars.data()});
  }
};

class KernelGenerator {
 public:
  // float_only: Float32 and Float64 values, which every backend supports.
  // real_only: neither complex nor Float16 values.
  explicit KernelGenerator(std::uint32_t seed, bool float_only = false, bool real_only = false)
      : rng_(seed),
        float_only_(float_only),
        real_only_(real_only),
        scans_(seed % 4 == 3),
        scatters_(seed % 4 == 1),
        carries_(seed % 8 == 6),
        b_("random_" + std::to_string(seed)) {}

  RandomKernel make() {
    r_.grid = pick({1, 2, 3, 7, 8, 37, 130, 600, 1100});
    vector_level_ = below(5);  // 0: the grid, 4: none
    if (vector_level_ == 0) b_.loop(0).scope = ir::Scope::Lanes;
    open_.push_back({0, b_.grid_var(), r_.grid, r_.grid});
    work_ = r_.grid;
    block(0);
    r_.kernel = b_.finish();
    return std::move(r_);
  }

 private:
  struct Open {
    std::int32_t loop;
    ir::Val var;
    std::int64_t extent;  // at most
    std::int64_t space;
  };
  std::mt19937 rng_;
  bool float_only_, real_only_;
  // Some kernels, as a thread of CUDA takes them by itself: of the named set, enough have teams.
  bool scans_, scatters_, carries_;
  ir::Builder b_;
  RandomKernel r_;
  std::vector<Open> open_;
  std::vector<ir::Val> values_;  // visible
  int vector_level_ = 4;
  bool in_vector_ = false;
  std::int64_t work_ = 1;

  std::uint32_t below(std::uint32_t n) { return rng_() % n; }
  bool chance(int percent) { return static_cast<int>(below(100)) < percent; }
  std::int64_t pick(std::vector<std::int64_t> v) {
    return v[below(static_cast<std::uint32_t>(v.size()))];
  }
  DType dtype() {
    if (float_only_) return chance(50) ? DType::Float64 : DType::Float32;
    DType t = chance(50) ? DType::Float64 : static_cast<DType>(below(kNumPyDTypes));
    return real_only_ && (is_complex(t) || t == DType::Float16) ? DType::Float32 : t;
  }
  ir::Coeff coeff(std::int64_t v) {
    if (chance(60)) return {v};
    r_.params.push_back(v);
    return {0, b_.new_param()};
  }

  static Scalar number(DType t, int v, std::uint32_t noise) {
    double d = v;
    if (is_float(t) || is_complex(t)) d = v / 8.0 + noise / 4294967296.0;
    if (kind(t) == Kind::Unsigned) d = v < 0 ? -v : v;
    if (t == DType::Bool) d = v & 1;
    auto c = std::complex<double>(d, is_complex(t) ? d * 0.7 - 1 : 0);
    Scalar from = is_complex(t) ? Scalar::of(DType::Complex128, c) : Scalar::of(DType::Float64, d);
    return cast(from, t);
  }
  Scalar random_number(DType t) {
    return number(t, static_cast<int>(below(100)) - 50, below(0xffffffffu));
  }
  std::vector<unsigned char> memory(DType t, std::int64_t count) {
    std::vector<unsigned char> m;
    bool coarse = chance(30);  // ties for arg-reductions
    bool nans = (is_float(t) || is_complex(t)) && chance(10);
    for (std::int64_t i = 0; i < count; ++i) {
      Scalar s = coarse ? number(t, static_cast<int>(below(5)), 0) : random_number(t);
      if (nans && below(50) == 0) s = cast(Scalar::of(DType::Float64, std::nan("")), t);
      m.insert(m.end(), s.bytes, s.bytes + itemsize(t));
    }
    return m;
  }

  // A buffer indexed by these loops, in a random axis order, sometimes padded or reversed.
  ir::Access layout(std::vector<Open> axes, std::int64_t unit, bool local, std::int64_t* count) {
    std::shuffle(axes.begin(), axes.end(), rng_);
    std::int64_t stride = unit, offset = 0;
    if (!local && chance(15)) stride *= 2;
    ir::Access a;
    for (const Open& o : axes) {
      if (!local && chance(10)) {
        offset += (o.extent - 1) * stride;
        a.terms.push_back({o.var, coeff(-stride)});
      } else {
        a.terms.push_back({o.var, coeff(stride)});
      }
      stride *= std::max<std::int64_t>(1, o.extent);
    }
    *count = stride / unit;
    a.offset = coeff(std::max<std::int64_t>(0, offset));
    return a;
  }

  ir::Val load_new(DType t) {
    std::vector<Open> axes;
    for (const Open& o : open_)
      if (chance(70)) axes.push_back(o);
    std::int64_t count;
    ir::Access a = layout(axes, static_cast<std::int64_t>(itemsize(t)), false, &count);
    std::int32_t buffer = b_.buffer(t, false);
    r_.buffers.push_back(memory(t, count));
    return b_.load(buffer, a);
  }
  // An element of a table beyond what an affine access reads, at an index that is computed.
  ir::Val gather_new(DType t) {
    const auto item = static_cast<std::int64_t>(itemsize(t));
    const std::int64_t rows = pick({1, 3, 50});
    std::int64_t count = 1;
    ir::Access a;
    if (chance(40)) a = layout({open_.back()}, item, false, &count);
    const ir::Val least = b_.constant_index(0), last = b_.constant_index(rows - 1);
    ir::Val index = value(DType::Int64);
    index = b_.apply(OpId::Minimum, DType::Int64, {index, last});
    index = b_.apply(OpId::Maximum, DType::Int64, {index, least});
    const std::int32_t buffer = b_.buffer(t, false);
    r_.buffers.push_back(memory(t, count * rows));
    const bool reversed = chance(15);
    if (reversed) {
      index = b_.apply(OpId::Negative, DType::Int64, {index});
      // Beyond what the access adds.
      const std::int64_t end = (rows - 1) * count * item;
      if (a.offset.param == ir::kNoParam)
        a.offset.value += end;
      else
        r_.params[static_cast<std::size_t>(a.offset.param)] += end;
    }
    return b_.gather(buffer, a, index, coeff(count * item));
  }
  ir::Val leaf(DType t) {
    if (chance(12)) return gather_new(t);
    switch (below(6)) {
      case 0:
        return b_.constant(random_number(t));
      case 1:
        r_.scalars.push_back(random_number(t));
        return b_.arg(t);
      default:
        return load_new(t);
    }
  }
  ir::Val value(DType t) {
    std::vector<ir::Val> fit;
    for (ir::Val v : values_)
      if (b_.type(v) == t) fit.push_back(v);
    if (!fit.empty() && chance(75)) return fit[below(static_cast<std::uint32_t>(fit.size()))];
    ir::Val v = leaf(t);
    values_.push_back(v);
    return v;
  }

  void operation() {
    static constexpr OpId ops[] = {
        OpId::Add,     OpId::Subtract,   OpId::Multiply, OpId::Multiply, OpId::Add,
        OpId::Maximum, OpId::Minimum,    OpId::Negative, OpId::Absolute, OpId::Square,
        OpId::Less,    OpId::Greater,    OpId::Equal,    OpId::Where,    OpId::LogicalAnd,
        OpId::Sqrt,    OpId::BitwiseXor, OpId::Floor,    OpId::Isnan,    OpId::Divide};
    if (chance(12)) {
      DType from = dtype(), to = dtype();
      if (chance(30)) {
        values_.push_back(b_.cast(open_[below(static_cast<std::uint32_t>(open_.size()))].var, to));
        return;
      }
      // Floats to integers are left out: what does not fit is the CPU's choice.
      bool widens = to == DType::Bool || is_complex(to) || (is_float(to) && !is_complex(from)) ||
                    (!is_float(from) && !is_complex(from));
      if (widens) values_.push_back(b_.cast(value(from), to));
      return;
    }
    OpId op = ops[below(std::size(ops))];
    const OpInfo& info = op_info(op);
    DType t = dtype();
    if (info.loops.find(code(t)) == std::string_view::npos) return;
    if (op == OpId::Divide && !is_float(t)) return;
    DType out = t;
    if (info.out == OutRule::Bool) out = DType::Bool;
    if (info.out == OutRule::Real && t == DType::Complex64) out = DType::Float32;
    if (info.out == OutRule::Real && t == DType::Complex128) out = DType::Float64;
    ir::Val x = value(t);
    ir::Val v;
    if (op == OpId::Where)
      v = b_.apply(op, out, {value(DType::Bool), x, value(t)});
    else if (info.arity == 1)
      v = b_.apply(op, out, {x});
    else
      v = b_.apply(op, out, {x, value(t)});
    values_.push_back(v);
  }

  void store() {
    ir::Val v = values_[below(static_cast<std::uint32_t>(values_.size()))];
    DType t = b_.type(v);
    std::int64_t count;
    ir::Access a = layout(open_, static_cast<std::int64_t>(itemsize(t)), false, &count);
    std::int32_t buffer = b_.buffer(t, true);
    r_.buffers.push_back(memory(t, count));
    if (chance(40) && info_has(OpId::Add, t)) {
      ir::Val old = b_.load(buffer, a);
      values_.push_back(old);
      if (chance(50)) operation();
      v = b_.apply(OpId::Add, t, {old, v});
    }
    b_.store(buffer, a, v);
  }
  // Into a table of its own for iterations of the grid and of loops inside the vector loop, and by
  // chance of others.
  void scatter() {
    static constexpr OpId ops[] = {OpId::Add, OpId::Multiply, OpId::Minimum, OpId::Maximum};
    const DType types[] = {DType::Float64, DType::Float32, DType::Int64, DType::Int16,
                           DType::UInt8};
    const DType t = types[below(float_only_ ? 2 : 5)];
    std::vector<Open> axes;
    for (std::size_t n = 0; n < open_.size(); ++n)
      if (n == 0 || (in_vector_ && static_cast<int>(n) > vector_level_) || chance(30))
        axes.push_back(open_[n]);
    const auto item = static_cast<std::int64_t>(itemsize(t));
    std::int64_t count;
    const ir::Access a = layout(axes, item, false, &count);
    const std::int64_t rows = pick({1, 2, 5});
    const ir::Val last = b_.constant_index(rows - 1), least = b_.constant_index(0);
    ir::Val index = value(DType::Int64);
    index = b_.apply(OpId::Minimum, DType::Int64, {index, last});
    index = b_.apply(OpId::Maximum, DType::Int64, {index, least});
    const std::int32_t buffer = b_.buffer(t, true);
    r_.buffers.push_back(memory(t, count * rows));
    b_.scatter(ops[below(std::size(ops))], buffer, a, index, coeff(count * item), value(t));
  }
  static bool info_has(OpId op, DType t) {
    return op_info(op).loops.find(code(t)) != std::string_view::npos;
  }

  ir::Val bound(std::int64_t extent) {
    switch (below(in_vector_ ? 2 : 3)) {
      case 0:
        return b_.constant_index(extent);
      case 1:
        r_.params.push_back(extent);
        return b_.param(b_.new_param());
      default: {
        // A length read from memory, clipped.
        std::int32_t buffer = b_.buffer(DType::Int64, false);
        std::vector<unsigned char> m;
        for (std::int64_t i = 0; i < r_.grid; ++i) {
          Scalar s = Scalar::of(DType::Int64, static_cast<std::int64_t>(below(2 * extent + 2)));
          m.insert(m.end(), s.bytes, s.bytes + 8);
        }
        r_.buffers.push_back(m);
        ir::Val n = b_.load(buffer, {{}, {{b_.grid_var(), {8}}}});
        return b_.apply(OpId::Minimum, DType::Int64, {n, b_.constant_index(extent)});
      }
    }
  }

  std::int64_t extent() {
    std::int64_t e =
        pick({0, 1, 2, 3, 5, 7, 8, 9, 16, 17, 40, 64, 100, 129, 140, 200, 260, 530, 1030});
    while (e > 1 && work_ * e > 4000) e /= 2;
    return e;
  }

  void enter(std::int32_t loop, std::int64_t e, int depth) {
    bool vector = depth == vector_level_ && !in_vector_;
    if (vector) b_.loop(loop).scope = ir::Scope::Lanes;
    in_vector_ |= vector;
    open_.push_back({loop, b_.var(loop), e, e});
    std::size_t visible = values_.size();
    std::int64_t work = work_;
    work_ *= std::max<std::int64_t>(1, e);
    block(depth);
    work_ = work;
    leave_ = {visible, vector};
  }
  struct Leave {
    std::size_t visible;
    bool vector;
  } leave_{};
  void leave(const Leave& l) {
    values_.resize(l.visible);
    open_.pop_back();
    if (l.vector) in_vector_ = false;
  }

  std::vector<ir::Reduction> reductions() {
    std::vector<ir::Reduction> out;
    for (int n = 1 + static_cast<int>(below(3)); n > 0; --n) {
      DType t = dtype();
      auto kind = static_cast<ReduceKind>(below(kReduceKindCount));
      if (float_only_ && kind >= ReduceKind::Any) kind = ReduceKind::Sum;
      if (kind == ReduceKind::Any || kind == ReduceKind::All) t = DType::Bool;
      bool inexact = is_float(t) || is_complex(t);
      bool arg = is_arg(kind);
      if (kind >= ReduceKind::BitAnd && inexact) kind = ReduceKind::Sum;
      // Their folds have no agreed start for floats, see numpy.fmin.reduce of NaNs.
      if ((kind == ReduceKind::FMin || kind == ReduceKind::FMax) && inexact) kind = ReduceKind::Max;
      if (t == DType::Bool && (kind == ReduceKind::Sum || kind == ReduceKind::Prod))
        kind = ReduceKind::Max;
      if (is_complex(t) && (kind == ReduceKind::Min || kind == ReduceKind::Max))
        kind = ReduceKind::Sum;
      ir::Reduction r{kind, b_.apply(OpId::Where, t, {value(DType::Bool), value(t), value(t)})};
      if (arg && is_float(t) && chance(40)) {
        r.value = b_.apply(OpId::Absolute, t, {r.value});
        r.guarded_sqrt = true;
      }
      if (inexact && kind == ReduceKind::Sum)
        r.order = chance(70) ? ir::Order::Pairwise : ir::Order::Sequential;
      if (inexact && kind == ReduceKind::Prod) r.order = ir::Order::Sequential;
      out.push_back(r);
    }
    return out;
  }

  void nested_for(int depth) {
    std::int64_t e = extent();
    std::int32_t loop = b_.open_for(ir::kNone, bound(e));
    enter(loop, e, depth + 1);
    Leave l = leave_;
    store();
    b_.close();
    leave(l);
  }
  void nested_reduce(int depth) {
    std::int64_t e = extent();
    std::int32_t loop =
        b_.open_reduce(e > 3 && chance(20) ? b_.constant_index(2) : ir::kNone, bound(e));
    enter(loop, e, depth + 1);
    Leave l = leave_;
    std::vector<ir::Reduction> r = reductions();
    std::vector<ir::Val> results = b_.close(r);
    leave(l);
    values_.insert(values_.end(), results.begin(), results.end());
  }
  // Running folds of which each goes into what the loop stores.
  void nested_scan(int depth) {
    std::int64_t e = extent();
    std::vector<ir::Reduction> folds;
    std::vector<DType> types;
    for (int n = 1 + static_cast<int>(below(2)); n > 0; --n) {
      DType t = dtype();
      if (t == DType::Bool || t == DType::Float16) t = DType::Float64;
      std::vector<ReduceKind> kinds = {ReduceKind::Sum, ReduceKind::Prod};
      if (!is_complex(t))
        kinds = {ReduceKind::Sum, ReduceKind::Prod, ReduceKind::Min, ReduceKind::Max};
      const ReduceKind kind = kinds[below(static_cast<std::uint32_t>(kinds.size()))];
      const bool started = chance(40) && !(depth + 1 == vector_level_ && in_vector_);
      folds.push_back({.kind = kind,
                       .value = ir::kNone,
                       .order = ir::Order::Sequential,
                       .init = started ? value(t) : ir::kNone});
      types.push_back(t);
    }
    std::int32_t loop =
        b_.open_reduce(e > 3 && chance(20) ? b_.constant_index(2) : ir::kNone, bound(e));
    enter(loop, e, depth + 1);
    Leave l = leave_;
    for (std::size_t n = 0; n < folds.size(); ++n) {
      const DType t = types[n];
      folds[n].value = b_.apply(OpId::Where, t, {value(DType::Bool), value(t), value(t)});
      values_.push_back(b_.running(t, static_cast<std::int32_t>(n)));
    }
    operation();
    store();
    std::vector<ir::Val> results = b_.close(folds);
    leave(l);
    values_.insert(values_.end(), results.begin(), results.end());
  }
  // Values that go from one iteration to the next, of which each makes all.
  void nested_carry(int depth) {
    if (depth + 1 == vector_level_ && !in_vector_) return nested_for(depth);
    std::int64_t e = extent();
    std::vector<ir::Reduction> folds;
    std::vector<DType> types;
    for (int n = 1 + static_cast<int>(below(3)); n > 0; --n) {
      types.push_back(dtype());
      folds.push_back({.kind = ReduceKind::Last,
                       .value = ir::kNone,
                       .order = ir::Order::Sequential,
                       .init = value(types.back())});
    }
    std::int32_t loop =
        b_.open_reduce(e > 3 && chance(20) ? b_.constant_index(2) : ir::kNone, bound(e));
    enter(loop, e, depth + 1);
    Leave l = leave_;
    for (std::size_t n = 0; n < folds.size(); ++n)
      values_.push_back(b_.carried(types[n], static_cast<std::int32_t>(n)));
    operation();
    operation();
    for (std::size_t n = 0; n < folds.size(); ++n)
      folds[n].value =
          b_.apply(OpId::Where, types[n], {value(DType::Bool), value(types[n]), value(types[n])});
    if (chance(50)) store();
    if (chance(30)) {
      const ir::Val any = value(DType::Bool);
      folds.push_back(
          {ReduceKind::Any, b_.apply(OpId::LogicalNot, DType::Bool, {any}), ir::Order::Any});
    }
    std::vector<ir::Val> results = b_.close(folds);
    leave(l);
    values_.insert(values_.end(), results.begin(), results.end());
  }
  // One loop fills a row buffer, a second reduces it.
  void row_buffer(int depth) {
    std::int64_t e = std::max<std::int64_t>(1, extent());
    DType t = dtype();
    std::int32_t local = b_.local(t, coeff(e));
    ir::Val end = b_.constant_index(e);
    std::int32_t fill = b_.open_for(ir::kNone, end);
    enter(fill, e, depth + 1);
    Leave l = leave_;
    b_.store_local(local, {{}, {{b_.var(fill), {1}}}}, value(t));
    b_.close();
    leave(l);
    std::int32_t read = b_.open_reduce(ir::kNone, end);
    bool vector = depth + 1 == vector_level_ && !in_vector_;
    if (vector) b_.loop(read).scope = ir::Scope::Lanes;
    in_vector_ |= vector;
    open_.push_back({read, b_.var(read), e, e});
    std::size_t visible = values_.size();
    values_.push_back(b_.load_local(local, {{}, {{b_.var(read), {1}}}}));
    operation();
    std::vector<ir::Reduction> r = reductions();
    std::vector<ir::Val> results = b_.close(r);
    leave({visible, vector});
    values_.insert(values_.end(), results.begin(), results.end());
  }

  void block(int depth) {
    if (depth == 0 && vector_level_ == 0) in_vector_ = true;
    values_.push_back(leaf(dtype()));
    int steps = 2 + static_cast<int>(below(6));
    for (int n = 0; n < steps; ++n) {
      std::uint32_t what = below(scans_ || scatters_ || carries_ ? 13 : 12);
      if (depth < 3 && what == 0)
        nested_for(depth);
      else if (depth < 3 && what <= 2)
        nested_reduce(depth);
      else if (depth < 3 && what == 3)
        row_buffer(depth);
      else if (depth < 3 && what == 12 && scans_)
        nested_scan(depth);
      else if (depth < 3 && what == 12 && carries_)
        nested_carry(depth);
      else if (what == 12 && scatters_)
        scatter();
      else if (what == 4)
        store();
      else
        operation();
    }
    if (depth == 0) {
      nested_reduce(depth);
      store();
      store();
    }
  }
};

}  // namespace plait::test
