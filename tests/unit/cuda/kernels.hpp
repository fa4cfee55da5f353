// Kernels that the generator is tested with.
#pragma once
#include <cstring>
#include <string>

#include "../interp/random_kernel.hpp"

namespace plait::test {

// One operation on operands of dtype `t`; the values cover signs, zero, and for floats NaN and
// infinity.
inline RandomKernel operation_kernel(OpId op, DType t) {
  const OpInfo& info = op_info(op);
  RandomKernel r;
  r.grid = 600;
  ir::Builder b(std::string(info.name));
  const auto item = [](DType d) { return static_cast<std::int64_t>(itemsize(d)); };
  std::vector<ir::Val> operands;
  for (int n = 0; n < info.arity; ++n) {
    const DType d = op == OpId::Where && n == 0 ? DType::Bool : t;
    std::vector<unsigned char> m;
    for (int i = 0; i < r.grid; ++i) {
      double v = (i * (7 + 6 * n) % 41 - 20) / 4.0;
      if (i % 53 == 7 * n && (is_float(d) || is_complex(d))) v = std::nan("");
      if (i % 47 == 5 * n && (is_float(d) || is_complex(d))) v = i % 2 ? INFINITY : -INFINITY;
      if (kind(d) == Kind::Unsigned || d == DType::Bool) v = std::abs(v);
      const Scalar s =
          is_complex(d)
              ? cast(Scalar::of(DType::Complex128, std::complex<double>(v, (i % 9) - 4.5)), d)
              : cast(Scalar::of(DType::Float64, v), d);
      m.insert(m.end(), s.bytes, s.bytes + itemsize(d));
    }
    r.buffers.push_back(m);
    operands.push_back(b.load(b.buffer(d, false), {{}, {{b.grid_var(), {item(d)}}}}));
  }
  DType out = t;
  if (info.out == OutRule::Bool) out = DType::Bool;
  if (info.out == OutRule::UInt8) out = DType::UInt8;
  if (info.out == OutRule::Real && t == DType::Complex64) out = DType::Float32;
  if (info.out == OutRule::Real && t == DType::Complex128) out = DType::Float64;
  if (op == OpId::Divide && !is_float(t) && !is_complex(t)) out = DType::Float64;
  ir::Val v;
  if (operands.size() == 1)
    v = b.apply(op, out, {operands[0]});
  else if (operands.size() == 2)
    v = b.apply(op, out, {operands[0], operands[1]});
  else
    v = b.apply(op, out, {operands[0], operands[1], operands[2]});
  b.store(b.buffer(out, true), {{}, {{b.grid_var(), {item(out)}}}}, v);
  r.buffers.emplace_back(static_cast<std::size_t>(r.grid * item(out)));
  r.kernel = b.finish();
  return r;
}

inline std::vector<std::pair<OpId, DType>> operations() {
  std::vector<std::pair<OpId, DType>> all;
  for (int op = 0; op < kOpCount; ++op)
    for (int t = 0; t < kDTypeCount; ++t)
      if (op_info(static_cast<OpId>(op)).loops.find(code(static_cast<DType>(t))) !=
          std::string_view::npos)
        all.emplace_back(static_cast<OpId>(op), static_cast<DType>(t));
  return all;
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
    std::string& all = prelude.find("typedef int Index") == 0 ? narrow_ : wide_;
    if (all.empty()) all = prelude;
    const std::string n = std::to_string(count_++);
    const std::size_t name = text.find(entry + "(");
    text.replace(name, entry.size(), "kernel" + n);
    if (!device) text.erase(text.find("extern \"C\" "), 11);
    all += "namespace k" + n + " {\n" + text + decorated(n) + "}\n";
  }
  std::string source() const {
    return "namespace narrow {\n" + narrow_ + "}\nnamespace wide {\n" + wide_ + "}\n";
  }
  int count() const { return count_; }

 private:
  std::string narrow_, wide_, decoration_;
  int count_ = 0;
  std::string decorated(const std::string& n) const {
    std::string s = decoration_;
    for (std::size_t at; (at = s.find('@')) != std::string::npos;) s.replace(at, 1, n);
    return s;
  }
};

}  // namespace plait::test
