// Kernels that the generator is tested with.
#pragma once
#include <cstring>
#include <map>
#include <string>

#include "../interp/random_kernel.hpp"
#include "codegen/cuda/emit.hpp"

namespace plait::test {

// n values of f(element), as `t`.
template <class F>
std::vector<unsigned char> numbers(DType t, std::int64_t n, F&& f) {
  std::vector<unsigned char> bytes;
  for (std::int64_t i = 0; i < n; ++i) {
    const Scalar s = cast(Scalar::of(DType::Float64, static_cast<double>(f(i))), t);
    bytes.insert(bytes.end(), s.bytes, s.bytes + itemsize(t));
  }
  return bytes;
}

// Several operations on the same operands of dtype `t`, an output each; the values cover signs,
// zero, and for floats NaN and infinity.
struct OperationKernel : RandomKernel {
  DType dtype;
  std::vector<std::pair<OpId, std::int32_t>> outputs;  // each operation's buffer
};
inline OperationKernel operation_kernel(const std::vector<OpId>& ops, DType t) {
  OperationKernel r;
  r.dtype = t;
  r.grid = 600;
  ir::Builder b("operations");
  const auto item = [](DType d) { return static_cast<std::int64_t>(itemsize(d)); };
  std::map<std::pair<int, DType>, ir::Val> loaded;
  const auto operand = [&](int n, DType d) {
    ir::Val& v = loaded.try_emplace({n, d}, ir::kNone).first->second;
    if (v != ir::kNone) return v;
    std::vector<unsigned char> m;
    for (int i = 0; i < r.grid; ++i) {
      double x = (i * (7 + 6 * n) % 41 - 20) / 4.0;
      if (i % 53 == 7 * n && (is_float(d) || is_complex(d))) x = std::nan("");
      if (i % 47 == 5 * n && (is_float(d) || is_complex(d))) x = i % 2 ? INFINITY : -INFINITY;
      if (kind(d) == Kind::Unsigned || d == DType::Bool) x = std::abs(x);
      const Scalar s =
          is_complex(d)
              ? cast(Scalar::of(DType::Complex128, std::complex<double>(x, (i % 9) - 4.5)), d)
              : cast(Scalar::of(DType::Float64, x), d);
      m.insert(m.end(), s.bytes, s.bytes + itemsize(d));
    }
    r.buffers.push_back(std::move(m));
    return v = b.load(b.buffer(d, false), {{}, {{b.grid_var(), {item(d)}}}});
  };
  for (OpId op : ops) {
    const OpInfo& info = op_info(op);
    const ir::Val x = operand(0, op == OpId::Where ? DType::Bool : t);
    const ir::Val y = info.arity > 1 ? operand(1, t) : ir::kNone;
    const ir::Val z = info.arity > 2 ? operand(2, t) : ir::kNone;
    DType out = t;
    if (info.out == OutRule::Bool) out = DType::Bool;
    if (info.out == OutRule::UInt8) out = DType::UInt8;
    if (info.out == OutRule::Real && t == DType::Complex64) out = DType::Float32;
    if (info.out == OutRule::Real && t == DType::Complex128) out = DType::Float64;
    if (op == OpId::Divide && !is_float(t) && !is_complex(t)) out = DType::Float64;
    const ir::Val v = info.arity == 1   ? b.apply(op, out, {x})
                      : info.arity == 2 ? b.apply(op, out, {x, y})
                                        : b.apply(op, out, {x, y, z});
    const std::int32_t buffer = b.buffer(out, true);
    b.store(buffer, {{}, {{b.grid_var(), {item(out)}}}}, v);
    r.buffers.emplace_back(static_cast<std::size_t>(r.grid * item(out)));
    r.outputs.emplace_back(op, buffer);
  }
  r.kernel = b.finish();
  return r;
}

// Every operation of every dtype that has it, `together` a kernel.
inline std::vector<OperationKernel> operation_kernels(std::size_t together = 20) {
  std::vector<OperationKernel> all;
  for (int t = 0; t < kNumPyDTypes; ++t) {
    std::vector<OpId> ops;
    const auto add = [&] {
      if (!ops.empty()) all.push_back(operation_kernel(ops, static_cast<DType>(t)));
      ops.clear();
    };
    for (int op = 0; op < kOpCount; ++op) {
      if (op_info(static_cast<OpId>(op)).loops.find(code(static_cast<DType>(t))) ==
          std::string_view::npos)
        continue;
      ops.push_back(static_cast<OpId>(op));
      if (ops.size() == together) add();
    }
    add();
  }
  return all;
}

// y[r, c + to] = where(mask[r, c + 1], x[r, c + from] * z[r], y[r, c + to]) for rows of `columns`
// float32 that begin every `stride` elements; in double precision when z is, and `flat` without
// rows.
inline RandomKernel shifted_kernel(std::int64_t rows, std::int64_t columns, std::int64_t stride,
                                   std::int64_t from, std::int64_t to, DType t, bool flat) {
  RandomKernel r;
  r.grid = flat ? columns : rows;
  ir::Builder b("shifted");
  const auto item = static_cast<std::int64_t>(itemsize(t));
  const auto add = [&](DType d, std::int64_t n) {
    r.buffers.push_back(numbers(d, n, [&](std::int64_t i) {
      return static_cast<double>(i * 7919 % 1009) / 8 -
             static_cast<double>(50 * (d == DType::Bool ? i % 3 : 1));
    }));
  };
  const std::int64_t elements = flat ? columns + 16 : rows * stride + 16;
  const std::int32_t mask = b.buffer(DType::Bool, false), x = b.buffer(DType::Float32, false),
                     z = b.buffer(t, false), y = b.buffer(t, true);
  add(DType::Bool, elements);
  add(DType::Float32, elements);
  add(t, rows);
  add(t, elements);
  const std::int32_t offset = b.new_param(), row = b.new_param();
  r.params = {from * 4, stride * item, columns};
  const ir::Val end = b.param(b.new_param());
  const std::int32_t loop = flat ? 0 : b.open_for(ir::kNone, end);
  const auto at = [&](std::int64_t size, ir::Coeff start, ir::Coeff rows_apart) {
    ir::Access a{start, {{b.var(loop), {size}}}};
    if (!flat) a.terms.push_back({b.grid_var(), rows_apart});
    return a;
  };
  const ir::Val old = b.load(y, at(item, {to * item}, {0, row}));
  const ir::Val factor = b.load(
      z, {{}, flat ? std::vector<ir::Term>{} : std::vector<ir::Term>{{b.grid_var(), {item}}}});
  const ir::Val product =
      b.apply(OpId::Multiply, t, {b.cast(b.load(x, at(4, {0, offset}, {stride * 4})), t), factor});
  const ir::Val wanted = b.load(mask, at(1, {1}, {stride}));
  b.store(y, at(item, {to * item}, {0, row}), b.apply(OpId::Where, t, {wanted, product, old}));
  if (!flat) b.close();
  r.kernel = b.finish();
  return r;
}

// The nearest of `means` rows of x to each of its points, by the root of the sum of squares; of its
// columns where the means are `turned`.
inline RandomKernel nearest_kernel(std::int64_t points, std::int64_t means, std::int64_t columns,
                                   DType t, bool turned = false) {
  RandomKernel r;
  r.grid = points;
  ir::Builder b("nearest");
  const auto item = static_cast<std::int64_t>(itemsize(t));
  const std::int32_t p = b.buffer(t, false), m = b.buffer(t, false),
                     y = b.buffer(DType::Int64, true);
  for (const std::int64_t rows : {points, means})
    r.buffers.push_back(numbers(t, rows * columns, [&](std::int64_t i) {
      return static_cast<double>((i * 48271 + rows) % 17) / 4;
    }));
  r.buffers.emplace_back(static_cast<std::size_t>(points) * 8);
  const ir::Val k = b.param(b.new_param()), d = b.param(b.new_param());
  const std::int32_t stride = b.new_param(), pitch = b.new_param();
  r.params = {means, columns, columns * item, (turned ? means : columns) * item};
  const std::int32_t outer = b.open_reduce(ir::kNone, k), inner = b.open_reduce(ir::kNone, d);
  const ir::Val x = b.load(p, {{}, {{b.grid_var(), {0, stride}}, {b.var(inner), {item}}}});
  const std::int32_t row = turned ? inner : outer, along = turned ? outer : inner;
  const ir::Val c = b.load(m, {{}, {{b.var(row), {0, pitch}}, {b.var(along), {item}}}});
  const ir::Val square = b.apply(OpId::Square, t, {b.apply(OpId::Subtract, t, {x, c})});
  const ir::Val sum = b.close({{ReduceKind::Sum, square, ir::Order::Pairwise}})[0];
  const ir::Val best = b.close({{ReduceKind::ArgMin, sum, ir::Order::Any, true}})[0];
  b.store(y, {{}, {{b.grid_var(), {8}}}}, best);
  r.kernel = b.finish();
  return r;
}

// The same of so few columns that the planner writes their sum out: a load of the means for each.
inline RandomKernel nearest_short_kernel(std::int64_t points, std::int64_t means,
                                         std::int64_t columns, DType t, bool turned) {
  RandomKernel r;
  r.grid = points;
  ir::Builder b("nearest_short");
  const auto item = static_cast<std::int64_t>(itemsize(t));
  const std::int32_t p = b.buffer(t, false), m = b.buffer(t, false),
                     y = b.buffer(DType::Int64, true);
  for (const std::int64_t rows : {points, means})
    r.buffers.push_back(numbers(t, rows * columns, [&](std::int64_t i) {
      return static_cast<double>((i * 48271 + rows) % 1017) / 4;
    }));
  r.buffers.emplace_back(static_cast<std::size_t>(points) * 8);
  const ir::Val k = b.param(b.new_param());
  r.params = {means};
  std::vector<ir::Val> x;
  for (std::int64_t d = 0; d < columns; ++d)
    x.push_back(b.load(p, {{d * item}, {{b.grid_var(), {columns * item}}}}));
  const std::int32_t loop = b.open_reduce(ir::kNone, k);
  ir::Val sum = ir::kNone;
  for (std::int64_t d = 0; d < columns; ++d) {
    r.params.push_back(d * (turned ? means : 1) * item);
    const ir::Val c =
        b.load(m, {{0, b.new_param()}, {{b.var(loop), {turned ? item : columns * item}}}});
    const ir::Val square =
        b.apply(OpId::Square, t, {b.apply(OpId::Subtract, t, {x[static_cast<std::size_t>(d)], c})});
    sum = d == 0 ? square : b.apply(OpId::Add, t, {sum, square});
  }
  const ir::Val best = b.close({{ReduceKind::ArgMin, sum, ir::Order::Any, true}})[0];
  b.store(y, {{}, {{b.grid_var(), {8}}}}, best);
  r.kernel = b.finish();
  return r;
}

// y[l, r, c] = x[l, c, r] + z[c] for layers of `rows` by `columns`.
inline RandomKernel transposed_kernel(std::int64_t layers, std::int64_t rows, std::int64_t columns,
                                      DType t) {
  RandomKernel r;
  r.grid = rows;
  ir::Builder b("transposed");
  const auto item = static_cast<std::int64_t>(itemsize(t));
  const std::int32_t x = b.buffer(t, false), z = b.buffer(t, false), y = b.buffer(t, true);
  for (const std::int64_t count : {layers * rows * columns, columns})
    r.buffers.push_back(
        numbers(t, count, [](std::int64_t i) { return static_cast<double>(i % 30011) / 8; }));
  r.buffers.emplace_back(r.buffers[0].size());
  const ir::Val layer_count = b.param(b.new_param()), column_count = b.param(b.new_param());
  const std::int32_t column = b.new_param(), layer = b.new_param(), row = b.new_param();
  r.params = {layers, columns, rows * item, rows * columns * item, columns * item};
  const std::int32_t l = b.open_for(ir::kNone, layer_count),
                     c = b.open_for(ir::kNone, column_count);
  const ir::Val v =
      b.load(x, {{}, {{b.var(l), {0, layer}}, {b.grid_var(), {item}}, {b.var(c), {0, column}}}});
  const ir::Val w = b.load(z, {{}, {{b.var(c), {item}}}});
  b.store(y, {{}, {{b.var(l), {0, layer}}, {b.grid_var(), {0, row}}, {b.var(c), {item}}}},
          b.apply(OpId::Add, t, {v, w}));
  b.close();
  b.close();
  r.kernel = b.finish();
  return r;
}

// y = f(x) for `rows` rows of `columns` float32 (or the kind's dtype), as the planner lowers it:
// extents and row strides are parameters.
enum class RowWork {
  Softmax,      // max, then exp into a row buffer and its sum, then the quotients
  Standardise,  // mean, variance, quotients; x is read three times
  ArgMax,
  Sums,  // a sum in NumPy's order beside a count
};
inline RandomKernel row_kernel(RowWork work, std::int64_t rows, std::int64_t columns,
                               DType t = DType::Float32) {
  RandomKernel r;
  r.grid = rows;
  ir::Builder b("rows");
  const auto item = static_cast<std::int64_t>(itemsize(t));
  const std::int32_t x = b.buffer(t, false);
  const std::int32_t columns_param = b.new_param(), stride = b.new_param();
  const ir::Val end = b.param(columns_param), count = b.cast(end, t);
  r.params = {columns, columns * item};
  const std::vector<unsigned char> m = numbers(t, rows * columns, [&](std::int64_t i) {
    const double v = static_cast<double>(i * 2654435761u % 1000003) / 250000 - 2;
    return work == RowWork::ArgMax ? std::floor(v * 200) : v;
  });
  r.buffers.push_back(m);
  auto at = [&](std::int32_t loop) {
    return ir::Access{{}, {{b.grid_var(), {0, stride}}, {b.var(loop), {item}}}};
  };
  auto reduced = [&](ReduceKind kind, ir::Order order, auto value) {
    const std::int32_t loop = b.open_reduce(ir::kNone, end);
    return b.close({{kind, value(loop), order}})[0];
  };
  auto sum = [&](auto value) { return reduced(ReduceKind::Sum, ir::Order::Pairwise, value); };
  auto store_rows = [&](auto value) {
    const std::int32_t y = b.buffer(t, true);
    r.buffers.emplace_back(m.size());
    const std::int32_t loop = b.open_for(ir::kNone, end);
    b.store(y, at(loop), value(loop));
    b.close();
  };
  auto store_one = [&](DType d, ir::Val v) {
    b.store(b.buffer(d, true), {{}, {{b.grid_var(), {static_cast<std::int64_t>(itemsize(d))}}}}, v);
    r.buffers.emplace_back(static_cast<std::size_t>(rows) * itemsize(d));
  };
  switch (work) {
    case RowWork::Softmax: {
      const std::int32_t row = b.local(t, {0, columns_param});
      const ir::Val most = reduced(ReduceKind::Max, ir::Order::Any,
                                   [&](std::int32_t l) { return b.load(x, at(l)); });
      const ir::Val total = sum([&](std::int32_t l) {
        const ir::Val e =
            b.apply(OpId::Square, t, {b.apply(OpId::Subtract, t, {b.load(x, at(l)), most})});
        b.store_local(row, {{}, {{b.var(l), {1}}}}, e);
        return e;
      });
      store_rows([&](std::int32_t l) {
        return b.apply(OpId::Divide, t, {b.load_local(row, {{}, {{b.var(l), {1}}}}), total});
      });
      break;
    }
    case RowWork::Standardise: {
      const ir::Val mean =
          b.apply(OpId::Divide, t, {sum([&](std::int32_t l) { return b.load(x, at(l)); }), count});
      auto centred = [&](std::int32_t l) {
        return b.apply(OpId::Subtract, t, {b.load(x, at(l)), mean});
      };
      const ir::Val squares =
          sum([&](std::int32_t l) { return b.apply(OpId::Square, t, {centred(l)}); });
      const ir::Val deviation =
          b.apply(OpId::Sqrt, t, {b.apply(OpId::Divide, t, {squares, count})});
      store_rows([&](std::int32_t l) { return b.apply(OpId::Divide, t, {centred(l), deviation}); });
      break;
    }
    case RowWork::ArgMax:
      store_one(DType::Int64, reduced(ReduceKind::ArgMax, ir::Order::Any,
                                      [&](std::int32_t l) { return b.load(x, at(l)); }));
      break;
    case RowWork::Sums: {
      const std::int32_t l = b.open_reduce(ir::kNone, end);
      const ir::Val v = b.load(x, at(l)),
                    n = b.cast(b.apply(OpId::Less, DType::Bool,
                                       {v, b.constant(cast(Scalar::of(DType::Float64, 0.5), t))}),
                               DType::Int64);
      const std::vector<ir::Val> results = b.close(
          {{ReduceKind::Sum, v, ir::Order::Pairwise}, {ReduceKind::Sum, n, ir::Order::Any}});
      store_one(t, results[0]);
      store_one(DType::Int64, results[1]);
      break;
    }
  }
  r.kernel = b.finish();
  return r;
}

// One program of many: the prelude once for each width of indices, each kernel in a namespace of
// its own, its entry under the name entry_of(n).
class Batch {
 public:
  explicit Batch(std::string decoration) : decoration_(std::move(decoration)) {}
  void add(const std::string& source, const std::string& entry, bool device) {
    const std::size_t cut = source.find("struct Arguments");
    const std::string prelude = source.substr(0, cut);
    std::string text = source.substr(cut);
    std::string& kernels = prelude.find("typedef int Index") == 0 ? narrow_ : wide_;
    const std::string n = std::to_string(count_++);
    const std::size_t name = text.find(entry + "(");
    text.replace(name, entry.size(), "kernel" + n);
    if (!device) text.erase(text.find("extern \"C\" "), 11);
    kernels += "namespace k" + n + " {\n" + text + decorated(n) + "}\n";
  }
  std::string source() const {
    // All parts of the prelude: each program has those that it needs.
    const auto prelude = [](bool wide) {
      return cuda::program_head({.wide = wide, .team = 8, .pack = 2, .whole_tiles = true});
    };
    return "namespace narrow {\n" + prelude(false) + narrow_ + "}\nnamespace wide {\n" +
           prelude(true) + wide_ + "}\n";
  }
  int count() const { return count_; }

 private:
  std::string narrow_, wide_;
  std::string decoration_;
  int count_ = 0;
  std::string decorated(const std::string& n) const {
    std::string s = decoration_;
    for (std::size_t at; (at = s.find('@')) != std::string::npos;) s.replace(at, 1, n);
    return s;
  }
};

}  // namespace plait::test
