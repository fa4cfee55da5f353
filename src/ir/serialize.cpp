#include <cstring>

#include "ir.hpp"
#include "plait/error.hpp"

namespace plait::ir {
namespace {

constexpr std::uint32_t kMagic = 0x38524950;  // "PIR8": raise the digit when the layout changes

std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (unsigned char c : bytes) h = (h ^ c) * 0x100000001b3u;
  return h;
}

// One list of fields for both directions, so that they cannot drift apart.
class Writer {
 public:
  static constexpr bool reading = false;
  std::string bytes;
  template <class T>
  void value(T& v) {
    bytes.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  void flag(bool& v) {
    auto b = static_cast<std::uint8_t>(v);
    value(b);
  }
  template <class E>
  void enumeration(E& v, int) {
    value(v);
  }
  template <class T, class F>
  void list(std::vector<T>& v, F each) {
    auto n = static_cast<std::uint32_t>(v.size());
    value(n);
    for (T& t : v) each(t);
  }
};

class Reader {
 public:
  static constexpr bool reading = true;
  explicit Reader(std::string_view b) : bytes_(b) {}
  template <class T>
  void value(T& v) {
    if (bytes_.size() < sizeof v) damaged();
    std::memcpy(&v, bytes_.data(), sizeof v);
    bytes_.remove_prefix(sizeof v);
  }
  void flag(bool& v) {
    std::uint8_t b;
    value(b);
    if (b > 1) damaged();
    v = b;
  }
  template <class E>
  void enumeration(E& v, int count) {
    std::uint8_t b;
    value(b);
    if (b >= count) damaged();
    v = static_cast<E>(b);
  }
  template <class T, class F>
  void list(std::vector<T>& v, F each) {
    std::uint32_t n;
    value(n);
    if (n > bytes_.size()) damaged();  // every element takes a byte at least
    v.resize(n);
    for (T& t : v) each(t);
  }
  bool at_end() const { return bytes_.empty(); }
  [[noreturn]] static void damaged() { throw InternalError("loop IR: damaged serialised kernel"); }

 private:
  std::string_view bytes_;
};

template <class S>
void coeff(S& s, Coeff& c) {
  s.value(c.param);
  // A parameter's Coeff has no value of its own: equal kernels must give equal bytes.
  if (c.param == kNoParam) s.value(c.value);
}

template <class S>
void inst(S& s, Inst& i) {
  s.enumeration(i.op, static_cast<int>(Op::External) + 1);
  s.enumeration(i.type, kDTypeCount);
  s.enumeration(i.fn, kOpCount + 1);
  s.value(i.index);
  for (Val& v : i.operands) s.value(v);
  s.value(i.access);
  s.flag(i.nontemporal);
  if (i.op == Op::Gather || i.op == Op::Scatter) coeff(s, i.stride);
  if (i.op == Op::Const) {
    s.enumeration(i.imm.dtype, kDTypeCount);
    for (std::size_t b = 0; b < itemsize(i.imm.dtype); ++b) s.value(i.imm.bytes[b]);
  }
}

template <class S>
void loop(S& s, Loop& l) {
  s.enumeration(l.kind, static_cast<int>(LoopKind::Repeat) + 1);
  s.value(l.condition);
  s.value(l.var);
  s.value(l.begin);
  s.value(l.end);
  s.enumeration(l.scope, static_cast<int>(Scope::Lanes) + 1);
  s.value(l.unroll);
  s.flag(l.prefetch);
  s.value(l.rows_ahead);
  s.flag(l.aligned);
  s.list(l.body, [&](Val& v) { s.value(v); });
  s.list(l.otherwise, [&](Val& v) { s.value(v); });
  s.list(l.reductions, [&](Reduction& r) {
    s.enumeration(r.kind, static_cast<int>(ReduceKind::Last) + 1);
    s.value(r.value);
    s.enumeration(r.order, static_cast<int>(Order::Grouped) + 1);
    s.flag(r.guarded_sqrt);
    s.value(r.init);
  });
}

template <class S>
void fragment(S& s, Fragment& p) {
  for (Panels* o : {&p.a, &p.b}) {
    s.value(o->local);
    s.value(o->access);
    s.value(o->width);
    coeff(s, o->stride);
    coeff(s, o->step);
    s.value(o->stage);
  }
  s.value(p.local);
  s.value(p.access);
  coeff(s, p.row);
  s.value(p.block);
  s.value(p.shape);
}

template <class S>
void kernel(S& s, Kernel& k) {
  std::uint32_t magic = kMagic;
  s.value(magic);
  if constexpr (S::reading)
    if (magic != kMagic) S::damaged();
  s.list(k.insts, [&](Inst& i) { inst(s, i); });
  s.list(k.accesses, [&](Access& a) {
    coeff(s, a.offset);
    s.list(a.terms, [&](Term& t) {
      s.value(t.var);
      coeff(s, t.stride);
    });
  });
  s.list(k.loops, [&](Loop& l) { loop(s, l); });
  s.list(k.buffers, [&](BufferParam& b) {
    s.enumeration(b.dtype, kDTypeCount);
    s.flag(b.written);
    s.flag(b.heap);
  });
  s.list(k.scalars, [&](DType& t) { s.enumeration(t, kDTypeCount); });
  s.list(k.locals, [&](Local& l) {
    s.enumeration(l.dtype, kDTypeCount);
    coeff(s, l.count);
    s.value(l.home);
    s.enumeration(l.space, static_cast<int>(Space::Global) + 1);
    s.value(l.layout.columns);
    s.value(l.layout.beside);
    s.value(l.layout.panel);
    s.value(l.layout.swizzle);
    s.value(l.stages);
  });
  s.list(k.fragments, [&](Fragment& p) { fragment(s, p); });
  s.list(k.copies, [&](Copy& c) {
    s.value(c.buffer);
    s.value(c.from);
    coeff(s, c.from_row);
    s.value(c.local);
    s.value(c.to);
    coeff(s, c.to_row);
  });
  s.value(k.params);
  s.flag(k.sequential);
}

}  // namespace

std::string serialize(const Kernel& k) {
  Writer w;
  kernel(w, const_cast<Kernel&>(k));  // a Writer only reads
  std::uint64_t sum = checksum(w.bytes);
  w.value(sum);
  return std::move(w.bytes);
}

Kernel deserialize(std::string_view bytes) {
  std::uint64_t sum;
  if (bytes.size() < sizeof sum) Reader::damaged();
  std::memcpy(&sum, bytes.data() + bytes.size() - sizeof sum, sizeof sum);
  bytes.remove_suffix(sizeof sum);
  if (checksum(bytes) != sum) Reader::damaged();
  Reader r(bytes);
  Kernel k;
  kernel(r, k);
  if (!r.at_end()) Reader::damaged();
  verify(k);
  return k;
}

}  // namespace plait::ir
