// Running folds along an axis, in order, as NumPy's ufunc.accumulate. Lanes, the folds along the
// axis, are apart from each other: where they lie side by side, a loop takes a step of many of them
// at once; where each lies in a piece, four go on together, as one alone waits for its additions.
#include "call.hpp"
#include "codegen/loops/loops.hpp"
#include "core/half.hpp"
#include "core/machine.hpp"
#include "engine/direct/direct_rows.hpp"
#include "plait/error.hpp"
#include "units.hpp"

namespace plait::engine {

namespace {

constexpr std::int64_t kTileBytes = 8192;  // of lanes side by side, whose last step stays in L1
constexpr int kLanesTogether = 4;          // lanes that lie in a piece each
constexpr std::int64_t kLook = 1 << 16;    // steps between two looks at interrupts

struct Along {
  std::int64_t steps, in, out;  // of the axis: its extent and strides
};

// Lanes that start at in[i] and out[i], whose first step is done.
using ScanFn = void (*)(const std::byte* const* in, std::byte* const* out, const Along& along,
                        std::int64_t first, std::int64_t last);

template <class T>
T get(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <class T, class F, int lanes>
void scan(const std::byte* const* in, std::byte* const* out, const Along& along, std::int64_t first,
          std::int64_t last) {
  const F f;
  T value[lanes];
  for (int l = 0; l < lanes; ++l) value[l] = get<T>(out[l] + (first - 1) * along.out);
  for (std::int64_t i = first; i < last; ++i)
    for (int l = 0; l < lanes; ++l) {
      value[l] = f(value[l], get<T>(in[l] + i * along.in));
      std::memcpy(out[l] + i * along.out, &value[l], sizeof(T));
    }
}

struct Complex64 {
  float re, im;
};
struct Complex128 {
  double re, im;
};

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (requires { a.re; })
      return {a.re + b.re, a.im + b.im};
    else if constexpr (std::is_same_v<T, Half>)
      return {float_to_half(half_to_float(a.bits) + half_to_float(b.bits))};
    else if constexpr (std::is_same_v<T, bool>)
      return a || b;
    else if constexpr (std::is_integral_v<T>)  // wraps around
      return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    else
      return a + b;
  }
};
struct Multiply {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (requires { a.re; })
      return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    else if constexpr (std::is_same_v<T, Half>)
      return {float_to_half(half_to_float(a.bits) * half_to_float(b.bits))};
    else if constexpr (std::is_same_v<T, bool>)
      return a && b;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    else
      return a * b;
  }
};
// NaN comes first, without a flag: the one that was met first stays. Of equal ones, zeros, the
// last.
template <bool kMax>
struct Extreme {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return (kMax ? __builtin_isgreater(a, b) : __builtin_isless(a, b)) || __builtin_isnan(a) ? a
                                                                                               : b;
    else
      return (kMax ? a > b : a < b) ? a : b;
  }
};

struct Scans {
  ScanFn one = nullptr, together = nullptr;
};

template <class T, class F>
constexpr Scans scans() {
  return {&scan<T, F, 1>, &scan<T, F, kLanesTogether>};
}

template <class T>
Scans real_scans(OpId fn) {
  switch (fn) {
    case OpId::Add:
      return scans<T, Add>();
    case OpId::Multiply:
      return scans<T, Multiply>();
    case OpId::Maximum:
      return scans<T, Extreme<true>>();
    case OpId::Minimum:
      return scans<T, Extreme<false>>();
    default:
      return {};
  }
}
template <class T>
Scans other_scans(OpId fn) {
  if (fn == OpId::Add) return scans<T, Add>();
  if (fn == OpId::Multiply) return scans<T, Multiply>();
  return {};
}

// What computes a lane step by step in registers; nothing for what is rare.
Scans scans_of(OpId fn, DType t) {
  switch (t) {
    case DType::Bool:
      if (fn == OpId::LogicalOr || fn == OpId::BitwiseOr) fn = OpId::Add;
      if (fn == OpId::LogicalAnd || fn == OpId::BitwiseAnd) fn = OpId::Multiply;
      return real_scans<bool>(fn);
    case DType::Int8:
      return real_scans<std::int8_t>(fn);
    case DType::UInt8:
      return real_scans<std::uint8_t>(fn);
    case DType::Int16:
      return real_scans<std::int16_t>(fn);
    case DType::UInt16:
      return real_scans<std::uint16_t>(fn);
    case DType::Int32:
      return real_scans<std::int32_t>(fn);
    case DType::UInt32:
      return real_scans<std::uint32_t>(fn);
    case DType::Int64:
      return real_scans<std::int64_t>(fn);
    case DType::UInt64:
      return real_scans<std::uint64_t>(fn);
    case DType::Float32:
      return real_scans<float>(fn);
    case DType::Float64:
      return real_scans<double>(fn);
    case DType::Float16:
      return other_scans<Half>(fn);
    case DType::Complex64:
      return other_scans<Complex64>(fn);
    case DType::Complex128:
      return other_scans<Complex128>(fn);
    default:
      return {};
  }
}

class Accumulation {
 public:
  Accumulation(const CallRun& r, OpId fn)
      : item_(itemsize(r.inputs[0].dtype)),
        loop_(loops::elementwise(fn, r.inputs[0].dtype, config().tier)),
        scans_(scans_of(fn, r.inputs[0].dtype)),
        last_first_((fn == OpId::Maximum || fn == OpId::Minimum) &&
                    r.inputs[0].dtype != DType::Float16) {
    const Operand &in = r.inputs[0], &out = r.results[0];
    if (!loop_)
      throw InternalError("no loop for " + std::string(op_info(fn).name) + " of " +
                          std::string(name(in.dtype)));
    const int axis = static_cast<int>(r.attributes.numbers[0]);
    along_ = {in.shape[axis], in.strides[axis], out.strides[axis]};
    Dims shape = in.shape;
    Memory lanes[] = {{out.data, out.strides}, {in.data, in.strides}};
    shape.erase(axis);
    for (Memory& m : lanes) m.strides.erase(axis);
    rows_ = make_rows(shape, lanes, 2);
    elements_ = element_count(in.shape);
  }

  void run() {
    if (elements_ == 0) return;
    // What one lane would do by calls of a loop for an element each is done for many at once.
    constexpr std::int64_t kFew = 4;
    const bool side_by_side = std::abs(rows_.row_strides[0]) < std::abs(along_.out);
    const bool row = rows_.length > 1 && (side_by_side || (!scans_.one && rows_.length > kFew));
    tile_ = row ? std::max<std::int64_t>(1, kTileBytes / static_cast<std::int64_t>(item_))
                : kLanesTogether;
    const std::int64_t tiles = (rows_.length + tile_ - 1) / tile_;
    const std::int64_t count = tiles * element_count(rows_.shape);
    const Machine& m = host_machine();
    const double seconds = static_cast<double>(elements_) * (row ? m.side_by_side : m.ordered);
    run_units(count, elements_, seconds, [&](std::int64_t i, auto&& goes_on) {
      const std::int64_t first = i % tiles * tile_;
      std::byte *out = rows_.start[0], *in = rows_.start[1];
      for (std::int64_t a = 0, at = i / tiles; a < rows_.shape.size(); ++a) {
        const std::int64_t k = at % rows_.shape[static_cast<int>(a)];
        at /= rows_.shape[static_cast<int>(a)];
        out += k * rows_.strides[0][static_cast<int>(a)];
        in += k * rows_.strides[1][static_cast<int>(a)];
      }
      out += first * rows_.row_strides[0];
      in += first * rows_.row_strides[1];
      const std::int64_t lanes = std::min(tile_, rows_.length - first);
      for (std::int64_t l = 0; l < lanes; ++l)
        std::memcpy(out + l * rows_.row_strides[0], in + l * rows_.row_strides[1], item_);
      if (row)
        step_lanes(in, out, lanes, goes_on);
      else
        scan_lanes(in, out, lanes, goes_on);
    });
  }

 private:
  // A step of all lanes, then the next.
  template <class GoesOn>
  void step_lanes(std::byte* in, std::byte* out, std::int64_t lanes, GoesOn&& goes_on) const {
    std::int64_t strides[] = {rows_.row_strides[0], rows_.row_strides[1], rows_.row_strides[0]};
    if (last_first_) std::swap(strides[0], strides[1]);
    const std::int64_t between = std::max<std::int64_t>(1, kLook / lanes);
    for (std::int64_t i = 1; i < along_.steps; ++i) {
      if (i % between == 0 && !goes_on()) return;
      void* args[] = {out, in + along_.in, out + along_.out};
      if (last_first_) std::swap(args[0], args[1]);
      loop_(args, strides, lanes);
      out += along_.out;
      in += along_.in;
    }
  }

  // All steps of a few lanes.
  template <class GoesOn>
  void scan_lanes(const std::byte* in, std::byte* out, std::int64_t lanes, GoesOn&& goes_on) const {
    const std::byte* from[kLanesTogether];
    std::byte* to[kLanesTogether];
    for (std::int64_t l = 0; l < lanes; ++l) {
      from[l] = in + l * rows_.row_strides[1];
      to[l] = out + l * rows_.row_strides[0];
    }
    for (std::int64_t i = 1; i < along_.steps; i += kLook) {
      if (i > 1 && !goes_on()) return;
      const std::int64_t last = std::min(along_.steps, i + kLook);
      if (scans_.one && lanes == kLanesTogether)
        scans_.together(from, to, along_, i, last);
      else
        for (std::int64_t l = 0; l < lanes; ++l) scan_lane(from + l, to + l, i, last);
    }
  }

  void scan_lane(const std::byte* const* in, std::byte* const* out, std::int64_t first,
                 std::int64_t last) const {
    if (scans_.one) return scans_.one(in, out, along_, first, last);
    const std::int64_t strides[] = {0, 0, static_cast<std::int64_t>(item_)};
    for (std::int64_t i = first; i < last; ++i) {
      std::byte* const to = *out + i * along_.out;
      void* args[] = {to - along_.out, const_cast<std::byte*>(*in + i * along_.in), to};
      loop_(args, strides, 1);
    }
  }

  const std::size_t item_;
  const loops::LoopFn loop_;
  const Scans scans_;
  // Of equal zeros the loop gives its first operand, NumPy the last, but in float16.
  const bool last_first_;
  Along along_{};
  Rows rows_;  // of lanes: results, then operands
  std::int64_t elements_ = 0, tile_ = 1;
};

}  // namespace

void run_accumulate(const CallRun& r) { Accumulation(r, r.attributes.fn).run(); }

}  // namespace plait::engine
